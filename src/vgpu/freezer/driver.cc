// SPDX-License-Identifier: Apache-2.0
#include "vgpu/freezer/driver.h"

#include <dlfcn.h>

namespace berth::vgpu::freezer {
namespace {

using base::ErrorCode;
using freezing::ProcessState;

constexpr int kSince = 12080;

std::string as_text(int version) {
    return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

}  // namespace

template <class Function>
bool Driver::find(Function*& function, const char* name) const {
    function = reinterpret_cast<Function*>(::dlsym(library_, name));
    return function != nullptr;
}

base::Result<std::unique_ptr<Driver>> Driver::open(const std::string& library) {
    std::unique_ptr<Driver> driver(new Driver);
    driver->library_ = ::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (driver->library_ == nullptr)
        return base::fail(ErrorCode::Unavailable, "there is no driver (" + library + ")");
    decltype(cuInit)* init = nullptr;
    decltype(cuDriverGetVersion)* get_version = nullptr;
    const bool is_driver = driver->find(init, "cuInit") &&
                           driver->find(get_version, "cuDriverGetVersion") &&
                           driver->find(driver->error_name_, "cuGetErrorName") &&
                           driver->find(driver->uuid_, "cuDeviceGetUuid_v2");
    if (!is_driver) return base::fail(ErrorCode::Unavailable, library + " is not a driver");
    if (const CUresult result = init(0); result != CUDA_SUCCESS)
        return base::fail(ErrorCode::Unavailable,
                          "the driver does not start: " + driver->name(result));
    get_version(&driver->version_);
    const bool has_calls = driver->find(driver->get_state_, "cuCheckpointProcessGetState") &&
                           driver->find(driver->lock_, "cuCheckpointProcessLock") &&
                           driver->find(driver->checkpoint_, "cuCheckpointProcessCheckpoint") &&
                           driver->find(driver->restore_, "cuCheckpointProcessRestore") &&
                           driver->find(driver->unlock_, "cuCheckpointProcessUnlock");
    if (driver->version_ < kSince || !has_calls)
        return base::fail(
            ErrorCode::Unavailable,
            "the driver is of CUDA " + as_text(driver->version_) + "; checkpoints came with 12.8");
    return driver;
}

std::optional<ProcessState> Driver::state(pid_t pid) const {
    auto state = CU_PROCESS_STATE_RUNNING;
    if (get_state_(pid, &state) != CUDA_SUCCESS) return {};
    switch (state) {
        case CU_PROCESS_STATE_RUNNING: return ProcessState::Running;
        case CU_PROCESS_STATE_LOCKED: return ProcessState::Locked;
        case CU_PROCESS_STATE_CHECKPOINTED: return ProcessState::Checkpointed;
        case CU_PROCESS_STATE_FAILED: return ProcessState::Failed;
    }
    return ProcessState::Failed;
}

CUresult Driver::lock(pid_t pid, std::int64_t timeout_ms) const {
    CUcheckpointLockArgs args = {};
    args.timeoutMs = static_cast<unsigned int>(timeout_ms);
    return lock_(pid, &args);
}

CUresult Driver::restore(pid_t pid, const std::vector<supervision::GpuMove>& moves) const {
    std::vector<CUcheckpointGpuPair> pairs(moves.size());
    for (std::size_t i = 0; i < moves.size(); ++i) {
        for (const auto& [uuid, gpu] : {std::pair{&pairs[i].oldUuid, moves[i].from},
                                        std::pair{&pairs[i].newUuid, moves[i].to}}) {
            if (const CUresult result = uuid_(uuid, gpu); result != CUDA_SUCCESS) return result;
        }
    }
    CUcheckpointRestoreArgs args = {};
    args.gpuPairs = pairs.data();
    args.gpuPairsCount = static_cast<unsigned int>(pairs.size());
    return restore_(pid, pairs.empty() ? nullptr : &args);
}

std::string Driver::name(CUresult result) const {
    const char* name = nullptr;
    if (error_name_(result, &name) == CUDA_SUCCESS && name != nullptr) return name;
    return "error " + std::to_string(result);
}

}  // namespace berth::vgpu::freezer
