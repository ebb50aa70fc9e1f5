// SPDX-License-Identifier: Apache-2.0
//
// What does Berth keep of a Job (batch/v1)? How many pods it has at once and what they will ask,
// whether it is suspended, and how far it is.
#pragma once

#include <cstdint>
#include <optional>

#include "kube/objects/pod.h"

namespace berth::kube::objects {

struct Job {
    Meta meta;
    std::int32_t parallelism = 1;
    std::optional<std::int32_t> completions;  // none: until one pod has succeeded
    std::int32_t succeeded = 0;
    std::int32_t failed_indexes = 0;  // that are not tried again
    bool is_suspended = false;  // it is to be
    bool is_managed_elsewhere = false;  // by a controller of somebody's own
    enum class End { None, Complete, Failed };
    End end = End::None;
    std::optional<base::TimePoint> suspended_since;
    Interned<PodAsk> ask;

    // How many pods it has at once from now on.
    std::int32_t pods_wanted() const;
};

Job read_job(codec::JsonReader& reader, PodPools& pools);

}  // namespace berth::kube::objects
