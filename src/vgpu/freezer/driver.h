// SPDX-License-Identifier: Apache-2.0
//
// What does the driver do to another process? Its checkpoint calls, found in the library that is
// there when this program runs: CUDA 12.8 has them, 13.0 can bring a process back on other GPUs.
#pragma once

#include <sys/types.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "supervision/freezing.h"
#include "vgpu/abi/cuda.h"
#include "vgpu/freezing/course.h"

namespace berth::vgpu::freezer {

class Driver {
  public:
    // Errors: Unavailable, with the reason for people: no driver, no GPU, too old.
    static base::Result<std::unique_ptr<Driver>> open(const std::string& library);

    // Nothing when the process does not use a GPU.
    std::optional<freezing::ProcessState> state(pid_t pid) const;
    // Each answers CUDA_SUCCESS or what the driver says. Any number of threads at once.
    CUresult lock(pid_t pid, std::int64_t timeout_ms) const;
    CUresult checkpoint(pid_t pid) const { return checkpoint_(pid, nullptr); }
    CUresult restore(pid_t pid, const std::vector<supervision::GpuMove>& moves) const;
    CUresult unlock(pid_t pid) const { return unlock_(pid, nullptr); }

    // Whether it can put a process on other GPUs than it came from.
    bool can_move() const { return version_ >= 13000; }
    std::string name(CUresult result) const;

  private:
    Driver() = default;
    template <class Function>
    bool find(Function*& function, const char* name) const;

    void* library_ = nullptr;
    int version_ = 0;
    decltype(cuGetErrorName)* error_name_ = nullptr;
    decltype(cuDeviceGetUuid_v2)* uuid_ = nullptr;
    decltype(cuCheckpointProcessGetState)* get_state_ = nullptr;
    decltype(cuCheckpointProcessLock)* lock_ = nullptr;
    decltype(cuCheckpointProcessCheckpoint)* checkpoint_ = nullptr;
    decltype(cuCheckpointProcessRestore)* restore_ = nullptr;
    decltype(cuCheckpointProcessUnlock)* unlock_ = nullptr;
};

}  // namespace berth::vgpu::freezer
