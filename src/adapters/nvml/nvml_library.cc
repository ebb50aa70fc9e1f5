// SPDX-License-Identifier: Apache-2.0
#include "adapters/nvml/nvml_library.h"

#include <dlfcn.h>

namespace berth::nvml {
namespace {

tl::unexpected<base::Error> unavailable(const std::string& why) {
    return base::fail(base::ErrorCode::Unavailable,
                      "no NVIDIA GPUs to be found: " + why +
                          "; install the driver, or simulate GPUs with \"sim:8x80G\"");
}

// Notes the name in `missing` when the library does not have it.
template <typename Function>
void find(void* handle, const char* name, Function& function, std::string& missing) {
    function = reinterpret_cast<Function>(::dlsym(handle, name));
    if (function == nullptr && missing.empty()) missing = name;
}

// The name of the first function that is missing; empty when there is none.
std::string find_all(void* handle, Functions& found) {
    std::string missing;
    find(handle, "nvmlInit_v2", found.nvmlInit_v2, missing);
    find(handle, "nvmlShutdown", found.nvmlShutdown, missing);
    find(handle, "nvmlErrorString", found.nvmlErrorString, missing);
    find(handle, "nvmlDeviceGetCount_v2", found.nvmlDeviceGetCount_v2, missing);
    find(handle, "nvmlDeviceGetHandleByIndex_v2", found.nvmlDeviceGetHandleByIndex_v2, missing);
    find(handle, "nvmlDeviceGetName", found.nvmlDeviceGetName, missing);
    find(handle, "nvmlDeviceGetUUID", found.nvmlDeviceGetUUID, missing);
    find(handle, "nvmlDeviceGetMemoryInfo", found.nvmlDeviceGetMemoryInfo, missing);
    find(handle, "nvmlDeviceGetUtilizationRates", found.nvmlDeviceGetUtilizationRates, missing);
    find(handle, "nvmlDeviceGetPowerUsage", found.nvmlDeviceGetPowerUsage, missing);
    std::string not_needed;
    find(handle, "nvmlDeviceGetMemoryInfo_v2", found.nvmlDeviceGetMemoryInfo_v2, not_needed);
    find(handle, "nvmlDeviceGetTopologyCommonAncestor", found.nvmlDeviceGetTopologyCommonAncestor,
         not_needed);
    find(handle, "nvmlDeviceGetP2PStatus", found.nvmlDeviceGetP2PStatus, not_needed);
    find(handle, "nvmlDeviceGetPciInfo_v3", found.nvmlDeviceGetPciInfo_v3, not_needed);
    find(handle, "nvmlSystemGetDriverVersion", found.nvmlSystemGetDriverVersion, not_needed);
    find(handle, "nvmlDeviceGetComputeMode", found.nvmlDeviceGetComputeMode, not_needed);
    find(handle, "nvmlDeviceGetMigMode", found.nvmlDeviceGetMigMode, not_needed);
    find(handle, "nvmlDeviceGetMaxMigDeviceCount", found.nvmlDeviceGetMaxMigDeviceCount,
         not_needed);
    find(handle, "nvmlDeviceGetMigDeviceHandleByIndex", found.nvmlDeviceGetMigDeviceHandleByIndex,
         not_needed);
    find(handle, "nvmlDeviceGetAttributes_v2", found.nvmlDeviceGetAttributes_v2, not_needed);
    return missing;
}

}  // namespace

base::Result<std::unique_ptr<Library>> Library::open(const std::string& path) {
    std::unique_ptr<Library> library(new Library);
    library->handle_ = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library->handle_ == nullptr) return unavailable(::dlerror());
    const std::string missing = find_all(library->handle_, library->functions_);
    if (!missing.empty()) return unavailable("\"" + path + "\" has no " + missing);
    const int result = library->call().nvmlInit_v2();
    if (result != kSuccess) return unavailable("the driver says " + library->describe(result));
    library->is_initialised_ = true;
    return library;
}

Library::~Library() {
    if (is_initialised_) functions_.nvmlShutdown();
    if (handle_ != nullptr) ::dlclose(handle_);
}

std::string Library::describe(int result) const {
    const char* text = functions_.nvmlErrorString(result);
    return text != nullptr ? text : "error " + std::to_string(result);
}

}  // namespace berth::nvml
