// SPDX-License-Identifier: Apache-2.0
//
// What is taken of every GPU, and what is left? Compute and memory are counted apart, in each of
// the three ways in which something can be taken (node_state.h). GPUs that are one task's own take
// no memory here: few GPUs are shared, and only those pay for a second count.
#pragma once

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "base/check.h"
#include "model/job/job.h"

namespace berth::cluster {

using model::GpuPart;

enum class View { Idle, Coming };
enum class Use { Used, Releasing, Held };

// Thousandths of compute and of memory, added, that so much of a GPU with such memory is. Where
// memory is not counted, it is taken to be left as compute is.
std::int32_t both_parts(const GpuPart& part, base::Bytes memory);

class GpuTable {
  public:
    void add(int gpus);
    std::uint32_t size() const { return static_cast<std::uint32_t>(compute_.size()); }

    // What is left of a GPU, and of the memory it has.
    base::MilliGpu compute(View view, std::uint32_t gpu) const {
        const Compute& gpu_use = compute_[gpu];
        const std::int16_t promised =
            view == View::Idle ? std::max(gpu_use.releasing, gpu_use.reserved) : gpu_use.reserved;
        return {1000 - gpu_use.used - promised};
    }
    base::Bytes memory(View view, std::uint32_t gpu, base::Bytes memory) const;
    // What is unused now, reservations left aside.
    GpuPart unused(std::uint32_t gpu, base::Bytes memory) const;
    // Takes so much more, or less where it is negative; of a GPU with so much memory. Aborts when
    // anything is promised twice: that is a bug.
    void change_compute(std::uint32_t gpu, Use use, base::MilliGpu amount) {
        Compute& gpu_use = compute_[gpu];
        std::int16_t& field = use == Use::Used        ? gpu_use.used
                              : use == Use::Releasing ? gpu_use.releasing
                                                      : gpu_use.reserved;
        field = static_cast<std::int16_t>(field + amount.value);
        BERTH_CHECK(field >= 0 && gpu_use.used + gpu_use.reserved <= 1000 &&
                        gpu_use.used + gpu_use.releasing <= 1000,
                    "a GPU is never promised twice");
    }
    void change_memory(std::uint32_t gpu, Use use, base::Bytes amount, base::Bytes memory);

  private:
    // In thousandths.
    struct Compute {
        std::int16_t used = 0;
        std::int16_t releasing = 0;
        std::int16_t reserved = 0;
    };
    struct MemoryUse {
        base::Bytes used{0};
        base::Bytes releasing{0};
        base::Bytes reserved{0};
        base::Bytes largest{0};  // that the GPU has had since it was shared: it may lose some
    };

    const MemoryUse& memory_of(std::uint32_t gpu) const;

    std::vector<Compute> compute_;
    std::unordered_map<std::uint32_t, MemoryUse> memory_;  // of shared GPUs
};

}  // namespace berth::cluster
