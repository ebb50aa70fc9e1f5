// SPDX-License-Identifier: Apache-2.0
//
// Checkpoints of processes, this one or another. These calls are not held up by a lock.
#include <cstring>

#include "vgpu/device/checkpoint.h"
#include "vgpu/device/processes.h"
#include "vgpu/software_driver/driver.h"

using namespace berth::vgpu::software_driver;
namespace device = berth::vgpu::device;

namespace {

constexpr std::uint32_t kSince = 12080;
constexpr std::uint32_t kPairsSince = 13000;

CUresult result_of(device::Outcome outcome) {
    switch (outcome) {
        case device::Outcome::Done: return CUDA_SUCCESS;
        case device::Outcome::NoProcess: return CUDA_ERROR_INVALID_VALUE;
        case device::Outcome::WrongState: return CUDA_ERROR_ILLEGAL_STATE;
        case device::Outcome::TimedOut: return CUDA_ERROR_NOT_READY;
        case device::Outcome::Unsupported: return CUDA_ERROR_NOT_SUPPORTED;
        case device::Outcome::OutOfMemory: return CUDA_ERROR_OUT_OF_MEMORY;
        case device::Outcome::Failed: return CUDA_ERROR_UNKNOWN;
    }
    return CUDA_ERROR_UNKNOWN;
}

// Without gate and lock: the process that asks may be the one that is locked.
template <class Body>
CUresult ask(Body body) noexcept {
    Driver* driver = current_driver();
    if (driver == nullptr) return CUDA_ERROR_NOT_INITIALIZED;
    if (driver->description().driver_version < kSince) return CUDA_ERROR_NOT_SUPPORTED;
    try {
        return body(*driver);
    } catch (...) {
        return CUDA_ERROR_UNKNOWN;
    }
}

// The GPU of the machine with that UUID, or kNobody.
std::uint32_t gpu_with(const device::Description& description, const CUuuid& uuid) {
    for (std::uint32_t gpu = 0; gpu < description.gpus; ++gpu)
        if (std::memcmp(description.uuids[gpu], uuid.bytes, sizeof(uuid.bytes)) == 0) return gpu;
    return device::kNobody;
}

// Where each GPU's memory goes; as documented, all GPUs of the process must be named.
CUresult placement_after(Driver& driver, std::uint64_t before, const CUcheckpointRestoreArgs* args,
                         std::uint64_t& placement) {
    placement = before;
    if (args == nullptr || args->gpuPairsCount == 0) return CUDA_SUCCESS;
    if (driver.description().driver_version < kPairsSince || args->gpuPairs == nullptr)
        return CUDA_ERROR_INVALID_VALUE;
    for (std::uint32_t gpu = 0; gpu < driver.description().gpus; ++gpu) {
        for (unsigned int i = 0; i < args->gpuPairsCount; ++i) {
            const std::uint32_t from = gpu_with(driver.description(), args->gpuPairs[i].oldUuid);
            const std::uint32_t to = gpu_with(driver.description(), args->gpuPairs[i].newUuid);
            if (from == device::kNobody || to == device::kNobody) return CUDA_ERROR_INVALID_VALUE;
            if ((before >> gpu * 4U & 15U) != from) continue;
            placement &= ~(15ULL << gpu * 4U);
            placement |= std::uint64_t{to} << gpu * 4U;
        }
    }
    return CUDA_SUCCESS;
}

}  // namespace

CUresult cuCheckpointProcessGetState(int pid, CUprocessState* state) {
    return ask([&](Driver& driver) {
        const std::uint32_t number = device::find_process(*driver.state, pid);
        if (state == nullptr || number == device::kNobody) return CUDA_ERROR_INVALID_VALUE;
        *state = static_cast<CUprocessState>((*driver.state)->processes[number].state.load());
        return CUDA_SUCCESS;
    });
}

// The process's first thread: here, restoring needs none of its own.
CUresult cuCheckpointProcessGetRestoreThreadId(int pid, int* tid) {
    return ask([&](Driver& driver) {
        if (tid == nullptr || device::find_process(*driver.state, pid) == device::kNobody)
            return CUDA_ERROR_INVALID_VALUE;
        *tid = pid;
        return CUDA_SUCCESS;
    });
}

CUresult cuCheckpointProcessLock(int pid, CUcheckpointLockArgs* args) {
    return ask([&](Driver& driver) {
        return result_of(
            device::lock_process(*driver.state, pid, args == nullptr ? 0 : args->timeoutMs));
    });
}

CUresult cuCheckpointProcessCheckpoint(int pid, CUcheckpointCheckpointArgs*) {
    return ask(
        [&](Driver& driver) { return result_of(device::checkpoint_process(*driver.state, pid)); });
}

CUresult cuCheckpointProcessRestore(int pid, CUcheckpointRestoreArgs* args) {
    return ask([&](Driver& driver) {
        const std::uint32_t number = device::find_process(*driver.state, pid);
        if (number == device::kNobody) return CUDA_ERROR_INVALID_VALUE;
        const std::uint64_t before = (*driver.state)->processes[number].placement.load();
        std::uint64_t placement = 0;
        if (const CUresult result = placement_after(driver, before, args, placement);
            result != CUDA_SUCCESS)
            return result;
        return result_of(device::restore_process(*driver.state, pid, placement));
    });
}

CUresult cuCheckpointProcessUnlock(int pid, CUcheckpointUnlockArgs*) {
    return ask(
        [&](Driver& driver) { return result_of(device::unlock_process(*driver.state, pid)); });
}
