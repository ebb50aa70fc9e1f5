// SPDX-License-Identifier: Apache-2.0
//
// What do jobs like this one take of their GPUs? Known of the jobs of its project, name, user and
// GPUs that were measured before it: the memory of the most hungry of them, and the rest from the
// last that had iterations. A job without a name is like no other.
#pragma once

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "model/job/gpu_profile.h"
#include "model/record.h"

namespace berth::lifecycle {

class Profiles {
  public:
    static constexpr std::size_t kMost = 4096;  // then the one measured longest ago is forgotten

    void learn(const model::JobRecord& job, const model::GpuProfile& profile,
               model::TimePoint measured);
    // They are not packed with others from now on.
    void part(const model::JobRecord& job);
    bool is_parted(const model::JobRecord& job) const;
    static bool are_alike(const model::JobRecord& job, const model::JobRecord& other);
    // Null when nothing is known. Valid until something is learned.
    const model::GpuProfile* of(const model::JobRecord& job) const;

    // All of it, and back.
    std::vector<model::ProfileLedger> ledgers() const;
    void restore(const std::vector<model::ProfileLedger>& ledgers);

  private:
    using Key = std::tuple<std::string, std::string, std::string, int>;
    struct Known {
        model::GpuProfile profile;
        model::TimePoint measured;
        bool is_parted = false;
    };
    static Key key_of(const model::JobRecord& job);

    std::map<Key, Known> known_;
};

}  // namespace berth::lifecycle
