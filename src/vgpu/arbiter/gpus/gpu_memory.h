// SPDX-License-Identifier: Apache-2.0
//
// What do processes hold of a GPU's memory, as the management library says? Also the dead: the
// kernel frees it some time after a process has ended; who counted it as free at once would let the
// next tenant run into a full GPU.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "vgpu/abi/nvml.h"

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
    // Bytes of each process. Nothing where it cannot be known, of one process as well.
    using Holders = std::map<pid_t, std::uint64_t>;
    std::optional<Holders> holders(const std::string& uuid) const;
    bool can_be_asked() const { return library_ != nullptr; }

  private:
    std::optional<std::vector<nvmlProcessInfo_v2_t>> processes(const std::string& uuid) const;
    template <class Function>
    Function* function(const char* name) const;

    void* library_ = nullptr;
};

}  // namespace berth::vgpu::arbiter
