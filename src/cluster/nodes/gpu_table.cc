// SPDX-License-Identifier: Apache-2.0
#include "cluster/nodes/gpu_table.h"

#include <algorithm>

namespace berth::cluster {

using base::Bytes;

std::int32_t both_parts(const GpuPart& part, Bytes memory) {
    const base::MilliGpu of_memory =
        memory == Bytes{0} ? part.compute : model::part_rounded_down(part.memory, memory);
    return static_cast<std::int32_t>((part.compute + of_memory).value);
}

// A vector left to itself doubles, and there are many GPUs.
void GpuTable::add(int gpus) {
    const std::size_t size = compute_.size() + static_cast<std::size_t>(gpus);
    if (size > compute_.capacity()) compute_.reserve(size + size / 32);
    compute_.resize(size);
}

const GpuTable::MemoryUse& GpuTable::memory_of(std::uint32_t gpu) const {
    static constexpr MemoryUse kNone;
    if (memory_.empty()) return kNone;
    const auto shared = memory_.find(gpu);
    return shared == memory_.end() ? kNone : shared->second;
}

Bytes GpuTable::memory(View view, std::uint32_t gpu, Bytes memory) const {
    const MemoryUse& gpu_use = memory_of(gpu);
    const Bytes promised =
        view == View::Idle ? std::max(gpu_use.releasing, gpu_use.reserved) : gpu_use.reserved;
    return std::max(memory - gpu_use.used - promised, Bytes{0});
}

GpuPart GpuTable::unused(std::uint32_t gpu, Bytes memory) const {
    const Compute& compute = compute_[gpu];
    const MemoryUse& gpu_use = memory_of(gpu);
    return {{1000 - compute.used - compute.releasing},
            std::max(memory - gpu_use.used - gpu_use.releasing, Bytes{0})};
}

void GpuTable::change_memory(std::uint32_t gpu, Use use, Bytes amount, Bytes memory) {
    MemoryUse& gpu_use = memory_[gpu];
    gpu_use.largest = std::max(gpu_use.largest, memory);
    Bytes& field = use == Use::Used        ? gpu_use.used
                   : use == Use::Releasing ? gpu_use.releasing
                                           : gpu_use.reserved;
    field += amount;
    BERTH_CHECK(field >= Bytes{0} && gpu_use.used + gpu_use.reserved <= gpu_use.largest &&
                    gpu_use.used + gpu_use.releasing <= gpu_use.largest,
                "the memory of a GPU is never promised twice");
    // What it once had counts as long as it has less: on the way from one use to another nothing is
    // taken for a moment.
    const bool is_unused = gpu_use.used + gpu_use.releasing + gpu_use.reserved == Bytes{0};
    if (is_unused && gpu_use.largest <= memory) memory_.erase(gpu);
}

}  // namespace berth::cluster
