// SPDX-License-Identifier: Apache-2.0
//
// How GPUs reach one another: by the host's bus, where they read and write each other's memory.
#include "vgpu/software_nvml/library.h"

using namespace berth::vgpu::software_nvml;

// All GPUs hang on one host bridge.
nvmlReturn_t nvmlDeviceGetTopologyCommonAncestor(nvmlDevice_t one, nvmlDevice_t other,
                                                 nvmlGpuTopologyLevel_t* level) {
    unsigned int other_index = 0;
    const nvmlReturn_t result = nvmlDeviceGetIndex(other, &other_index);
    if (result != NVML_SUCCESS) return result;
    return enter_gpu(one, level, [&](Library&, std::uint32_t gpu) {
        *level = gpu == other_index ? NVML_TOPOLOGY_INTERNAL : NVML_TOPOLOGY_HOSTBRIDGE;
        return NVML_SUCCESS;
    });
}

nvmlReturn_t nvmlDeviceGetP2PStatus(nvmlDevice_t one, nvmlDevice_t other,
                                    nvmlGpuP2PCapsIndex_t what, nvmlGpuP2PStatus_t* status) {
    unsigned int other_index = 0;
    const nvmlReturn_t result = nvmlDeviceGetIndex(other, &other_index);
    if (result != NVML_SUCCESS) return result;
    return enter_gpu(one, status, [&](Library&, std::uint32_t) {
        *status = what == NVML_P2P_CAPS_INDEX_READ || what == NVML_P2P_CAPS_INDEX_WRITE
                      ? NVML_P2P_STATUS_OK
                      : NVML_P2P_STATUS_NOT_SUPPORTED;
        return NVML_SUCCESS;
    });
}

nvmlReturn_t nvmlDeviceGetNvLinkRemoteDeviceType(nvmlDevice_t handle, unsigned int,
                                                 nvmlIntNvLinkDeviceType_t* type) {
    return enter_gpu(handle, type,
                     [](Library&, std::uint32_t) { return NVML_ERROR_NOT_SUPPORTED; });
}

nvmlReturn_t nvmlDeviceGetNvLinkRemotePciInfo_v2(nvmlDevice_t handle, unsigned int,
                                                 nvmlPciInfo_t* info) {
    return enter_gpu(handle, info,
                     [](Library&, std::uint32_t) { return NVML_ERROR_NOT_SUPPORTED; });
}

nvmlReturn_t nvmlDeviceGetGpuFabricInfoV(nvmlDevice_t handle, nvmlGpuFabricInfoV_t* info) {
    return enter_gpu(handle, info,
                     [](Library&, std::uint32_t) { return NVML_ERROR_NOT_SUPPORTED; });
}
