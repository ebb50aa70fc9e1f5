// SPDX-License-Identifier: Apache-2.0
//
// How GPUs reach one another, as the management library says it.
#include <doctest/doctest.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "vgpu/api.h"

using namespace berth::test_vgpu;

namespace {

unsigned int gpus_after_a_new_begin() {
    CHECK(nvml<decltype(nvmlShutdown)>("nvmlShutdown")() == NVML_SUCCESS);
    CHECK(nvml<decltype(nvmlInit_v2)>("nvmlInit_v2")() == NVML_SUCCESS);
    unsigned int count = 0;
    CHECK(nvml<decltype(nvmlDeviceGetCount_v2)>("nvmlDeviceGetCount_v2")(&count) == NVML_SUCCESS);
    return count;
}

}  // namespace

TEST_CASE("the management library that is begun anew finds the GPUs that there are then") {
    if (!is_software()) return;
    nvml_device();
    const std::string before = std::getenv("BERTH_SOFTWARE_GPU");
    const std::string path = "/dev/shm/berth_links_test." + std::to_string(::getpid());
    ::setenv("BERTH_SOFTWARE_GPU", ("gpus=3; state=" + path).c_str(), 1);
    CHECK(gpus_after_a_new_begin() == 3);
    ::setenv("BERTH_SOFTWARE_GPU", before.c_str(), 1);
    CHECK(gpus_after_a_new_begin() == 2);
    ::unlink(path.c_str());
}

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
