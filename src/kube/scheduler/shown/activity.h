// SPDX-License-Identifier: Apache-2.0
//
// What has a scheduler done so far?
#pragma once

#include <cstdint>

#include "kube/client/caches/reflector.h"
#include "kube/scheduler/binds/binder.h"
#include "kube/scheduler/shown/histogram.h"

namespace berth::kube::scheduler {

struct Activity {
    Histogram decisions;
    Binder::Counts binds;
    std::uint64_t pauses = 0;  // of gangs, that are over
    client::Reflector::Counts watches;  // of all caches

    void add(const Activity& other);
};

}  // namespace berth::kube::scheduler
