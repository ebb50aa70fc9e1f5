// SPDX-License-Identifier: Apache-2.0
//
// What a user hands in: a job file, the flags of `berth submit`, or the body of a request.
#pragma once

#include <string>

#include "model/job/job.h"
#include "model/job/launch.h"

namespace berth::model {

struct Submission {
    JobSpec spec;        // an empty name is made up by the server
    LaunchSpec launch;
    std::string key;     // a repeated key answers with the first job's id; empty = none
};

}  // namespace berth::model
