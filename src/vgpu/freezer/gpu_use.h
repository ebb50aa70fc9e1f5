// SPDX-License-Identifier: Apache-2.0
//
// How much memory of the node's GPUs do these processes hold, as the management library sees it
// from outside? This, and not the answer of a call, says that a GPU is free.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace berth::vgpu::freezer {

class GpuUse {
  public:
    // Without the library nothing is known.
    explicit GpuUse(const std::string& library);
    GpuUse(const GpuUse&) = delete;
    GpuUse& operator=(const GpuUse&) = delete;
    ~GpuUse();

    // Bytes on all GPUs together; none when that cannot be known.
    std::optional<std::int64_t> of(std::span<const pid_t> pids) const;
    // Whether any GPU is divided into slices (MIG): the driver checkpoints nothing there.
    bool is_any_sliced() const;

  private:
    template <class Function>
    Function* find(const char* name) const;

    void* library_ = nullptr;
    unsigned int gpus_ = 0;
};

}  // namespace berth::vgpu::freezer
