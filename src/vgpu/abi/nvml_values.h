// SPDX-License-Identifier: Apache-2.0
//
// The values and structures of NVIDIA's management library (NVML) that its calls use, as in nvml.h.
#pragma once

using nvmlDevice_t = struct nvmlDevice_st*;

enum nvmlReturn_t : unsigned int {
    NVML_SUCCESS = 0,
    NVML_ERROR_UNINITIALIZED = 1,
    NVML_ERROR_INVALID_ARGUMENT = 2,
    NVML_ERROR_NOT_SUPPORTED = 3,
    NVML_ERROR_NO_PERMISSION = 4,
    NVML_ERROR_NOT_FOUND = 6,
    NVML_ERROR_INSUFFICIENT_SIZE = 7,
    NVML_ERROR_DRIVER_NOT_LOADED = 9,
    NVML_ERROR_FUNCTION_NOT_FOUND = 13,
    NVML_ERROR_GPU_IS_LOST = 15,
    NVML_ERROR_ARGUMENT_VERSION_MISMATCH = 25,
    NVML_ERROR_UNKNOWN = 999,
};

inline constexpr unsigned int NVML_DEVICE_UUID_BUFFER_SIZE = 80;
inline constexpr unsigned int NVML_DEVICE_NAME_BUFFER_SIZE = 64;
inline constexpr unsigned int NVML_DEVICE_NAME_V2_BUFFER_SIZE = 96;
// In place of bytes where they are not known.
inline constexpr unsigned long long NVML_VALUE_NOT_AVAILABLE = ~0ULL;

template <class T>
constexpr unsigned int nvml_version(unsigned int number) {
    return static_cast<unsigned int>(sizeof(T)) | number << 24U;
}

struct nvmlMemory_t {
    unsigned long long total;
    unsigned long long free;
    unsigned long long used;
};

struct nvmlMemory_v2_t {
    unsigned int version;
    unsigned long long total;
    unsigned long long reserved;
    unsigned long long free;
    unsigned long long used;
};

struct nvmlBAR1Memory_t {
    unsigned long long bar1Total;
    unsigned long long bar1Free;
    unsigned long long bar1Used;
};

struct nvmlUtilization_t {
    unsigned int gpu;  // percent of time
    unsigned int memory;  // percent of time
};

struct nvmlPciInfo_t {
    char busIdLegacy[16];
    unsigned int domain;
    unsigned int bus;
    unsigned int device;
    unsigned int pciDeviceId;
    unsigned int pciSubSystemId;
    char busId[32];
};

// Of nvmlDeviceGetComputeRunningProcesses without suffix.
struct nvmlProcessInfo_v1_t {
    unsigned int pid;
    unsigned long long usedGpuMemory;
};

// Of its _v2 and _v3.
struct nvmlProcessInfo_v2_t {
    unsigned int pid;
    unsigned long long usedGpuMemory;
    unsigned int gpuInstanceId;  // ~0 without MIG
    unsigned int computeInstanceId;  // likewise
};

struct nvmlProcessDetail_v1_t {
    unsigned int pid;
    unsigned long long usedGpuMemory;
    unsigned int gpuInstanceId;  // ~0 without MIG
    unsigned int computeInstanceId;  // likewise
    unsigned long long usedGpuCcProtectedMemory;
};

struct nvmlProcessDetailList_v1_t {
    unsigned int version;
    unsigned int mode;  // of which kind: 0 compute, 1 graphics, 2 MPS, 3 all
    unsigned int numProcArrayEntries;
    nvmlProcessDetail_v1_t* procArray;
};

struct nvmlProcessUtilizationSample_t {
    unsigned int pid;
    unsigned long long timeStamp;  // microseconds
    unsigned int smUtil;  // percent
    unsigned int memUtil;
    unsigned int encUtil;
    unsigned int decUtil;
};

struct nvmlProcessUtilizationInfo_v1_t {
    unsigned long long timeStamp;  // microseconds
    unsigned int pid;
    unsigned int smUtil;  // percent
    unsigned int memUtil;
    unsigned int encUtil;
    unsigned int decUtil;
    unsigned int jpgUtil;
    unsigned int ofaUtil;
};

struct nvmlProcessesUtilizationInfo_v1_t {
    unsigned int version;
    unsigned int processSamplesCount;
    unsigned long long lastSeenTimeStamp;
    nvmlProcessUtilizationInfo_v1_t* procUtilArray;
};

// Of a slice that the hardware cut (MIG).
struct nvmlDeviceAttributes_t {
    unsigned int multiprocessorCount;
    unsigned int sharedCopyEngineCount;
    unsigned int sharedDecoderCount;
    unsigned int sharedEncoderCount;
    unsigned int sharedJpegCount;
    unsigned int sharedOfaCount;
    unsigned int gpuInstanceSliceCount;
    unsigned int computeInstanceSliceCount;
    unsigned long long memorySizeMB;
};

enum nvmlTemperatureSensors_t : unsigned int { NVML_TEMPERATURE_GPU = 0 };
enum nvmlClockType_t : unsigned int {
    NVML_CLOCK_GRAPHICS = 0,
    NVML_CLOCK_SM = 1,
    NVML_CLOCK_MEM = 2,
    NVML_CLOCK_VIDEO = 3,
};
enum nvmlEnableState_t : unsigned int { NVML_FEATURE_DISABLED = 0, NVML_FEATURE_ENABLED = 1 };
enum nvmlComputeMode_t : unsigned int { NVML_COMPUTEMODE_DEFAULT = 0 };
enum nvmlGpuTopologyLevel_t : unsigned int {
    NVML_TOPOLOGY_INTERNAL = 0,
    NVML_TOPOLOGY_SINGLE = 10,
    NVML_TOPOLOGY_MULTIPLE = 20,
    NVML_TOPOLOGY_HOSTBRIDGE = 30,
    NVML_TOPOLOGY_NODE = 40,
    NVML_TOPOLOGY_SYSTEM = 50,
};
enum nvmlIntNvLinkDeviceType_t : unsigned int {
    NVML_NVLINK_DEVICE_TYPE_GPU = 0,
    NVML_NVLINK_DEVICE_TYPE_SWITCH = 2,
    NVML_NVLINK_DEVICE_TYPE_UNKNOWN = 255,
};
// What of one another's memory two GPUs can do.
enum nvmlGpuP2PCapsIndex_t : unsigned int {
    NVML_P2P_CAPS_INDEX_READ = 0,
    NVML_P2P_CAPS_INDEX_WRITE = 1,
    NVML_P2P_CAPS_INDEX_NVLINK = 2,
    NVML_P2P_CAPS_INDEX_ATOMICS = 3,
};
enum nvmlGpuP2PStatus_t : unsigned int {
    NVML_P2P_STATUS_OK = 0,
    NVML_P2P_STATUS_NOT_SUPPORTED = 5,
};
struct nvmlGpuFabricInfoV_t;
