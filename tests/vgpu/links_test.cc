// SPDX-License-Identifier: Apache-2.0
//
// How GPUs reach one another, as the management library says it.
#include <doctest/doctest.h>

#include "vgpu/api.h"

using namespace berth::test_vgpu;

TEST_CASE("software GPUs read and write each other's memory, and have no links of their own") {
    if (!is_software()) return;
    const nvmlDevice_t device = nvml_device();
    nvmlDevice_t other = nullptr;
    const auto by_index =
        nvml<decltype(nvmlDeviceGetHandleByIndex_v2)>("nvmlDeviceGetHandleByIndex_v2");
    REQUIRE(by_index(1, &other) == NVML_SUCCESS);

    const auto peer = nvml<decltype(nvmlDeviceGetP2PStatus)>("nvmlDeviceGetP2PStatus");
    nvmlGpuP2PStatus_t status{};
    for (const auto what : {NVML_P2P_CAPS_INDEX_READ, NVML_P2P_CAPS_INDEX_WRITE}) {
        status = NVML_P2P_STATUS_NOT_SUPPORTED;
        CHECK(peer(device, other, what, &status) == NVML_SUCCESS);
        CHECK(status == NVML_P2P_STATUS_OK);
    }
    CHECK(peer(device, other, NVML_P2P_CAPS_INDEX_NVLINK, &status) == NVML_SUCCESS);
    CHECK(status == NVML_P2P_STATUS_NOT_SUPPORTED);
    CHECK(peer(device, nullptr, NVML_P2P_CAPS_INDEX_READ, &status) == NVML_ERROR_INVALID_ARGUMENT);

    const auto type =
        nvml<decltype(nvmlDeviceGetNvLinkRemoteDeviceType)>("nvmlDeviceGetNvLinkRemoteDeviceType");
    nvmlIntNvLinkDeviceType_t kind{};
    CHECK(type(device, 0, &kind) == NVML_ERROR_NOT_SUPPORTED);
    const auto remote =
        nvml<decltype(nvmlDeviceGetNvLinkRemotePciInfo_v2)>("nvmlDeviceGetNvLinkRemotePciInfo_v2");
    nvmlPciInfo_t info{};
    CHECK(remote(device, 0, &info) == NVML_ERROR_NOT_SUPPORTED);
    CHECK(remote(nullptr, 0, &info) == NVML_ERROR_INVALID_ARGUMENT);
    const auto fabric = nvml<decltype(nvmlDeviceGetGpuFabricInfoV)>("nvmlDeviceGetGpuFabricInfoV");
    CHECK(fabric(device, nullptr) == NVML_ERROR_INVALID_ARGUMENT);
}
