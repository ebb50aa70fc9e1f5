// SPDX-License-Identifier: Apache-2.0
//
// What is changed of a job that was submitted: `{"gpus": "2x0.5", "cap": 0.8, "requeue": true}`?
#pragma once

#include <string_view>

#include "base/result.h"
#include "model/job/request_change.h"

namespace berth::codec {

struct JobChange {
    model::RequestChange request;
    bool may_requeue = false;
};

// `gpus` as in a job file; `share` and `cap` of each GPU, a cap of null is none; `gpu_memory` as
// 12G or 12G..20G, null for none; `requeue`. Errors: Invalid, with the field.
base::Result<JobChange> parse_job_change(std::string_view body);

}  // namespace berth::codec
