// SPDX-License-Identifier: Apache-2.0
//
// What does Berth keep of a Job (batch/v1)? How many pods it has at once, whether it is suspended,
// and how far it is. Its pods say what they ask.
#pragma once

#include <cstdint>
#include <optional>

#include "kube/objects/meta.h"

namespace berth::kube::objects {

struct Job {
    Meta meta;
    std::int32_t parallelism = 1;
    std::optional<std::int32_t> completions;  // none: until one pod has succeeded
    std::int32_t succeeded = 0;
    bool is_suspended = false;  // it is to be
    bool is_managed_elsewhere = false;  // by a controller of somebody's own
    enum class End { None, Complete, Failed };
    End end = End::None;
    std::optional<base::TimePoint> suspended_since;

    // How many pods it has at once from now on.
    std::int32_t pods_wanted() const;
};

struct JobPools {
    MetaPools meta;
};

Job read_job(codec::JsonReader& reader, JobPools& pools);

}  // namespace berth::kube::objects
