// SPDX-License-Identifier: Apache-2.0
//
// Does a dead process still hold memory of a GPU? The kernel frees it some time after the process
// has ended; who counted it as free at once would let the next tenant run into a full GPU.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

namespace berth::vgpu::arbiter {

class GpuMemory {
  public:
    // Asks the management library at `path`; an empty path: there is none to ask.
    explicit GpuMemory(const std::string& path);
    GpuMemory(const GpuMemory&) = delete;
    GpuMemory& operator=(const GpuMemory&) = delete;
    ~GpuMemory();

    // Nothing where it cannot be known.
    std::optional<bool> is_held(const std::string& uuid, pid_t pid) const;

  private:
    template <class Function>
    Function* function(const char* name) const;

    void* library_ = nullptr;
};

}  // namespace berth::vgpu::arbiter
