// SPDX-License-Identifier: Apache-2.0
//
// What do we use of NVIDIA's management library? These functions, under the names and with the
// types that its documentation gives; found when the program runs, so that one binary serves
// machines with and without a driver.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"

namespace berth::nvml {

// Opaque; belongs to the library.
struct Device;

// The results that we tell apart. Any other is a failure.
inline constexpr int kSuccess = 0;
inline constexpr int kNotSupported = 3;
inline constexpr int kGpuIsLost = 15;

struct MemoryInfo {
    unsigned long long total = 0;
    unsigned long long free = 0;
    unsigned long long used = 0;
};

// nvmlMemory_v2_t; the version says which structure it is.
struct MemoryInfo2 {
    unsigned int version = sizeof(MemoryInfo2) | 2U << 24;
    unsigned long long total = 0;
    unsigned long long reserved = 0;  // by the driver, for itself
    unsigned long long free = 0;
    unsigned long long used = 0;
};

struct Utilization {
    unsigned int gpu = 0;     // percent of time
    unsigned int memory = 0;
};

// nvmlPciInfo_t.
struct PciInfo {
    char bus_id_legacy[16] = {};
    unsigned int domain = 0;
    unsigned int bus = 0;
    unsigned int device = 0;
    unsigned int device_id = 0;
    unsigned int subsystem_id = 0;
    char bus_id[32] = {};  // "00000000:3B:00.0"
};

// nvmlDeviceAttributes_t, of a slice that the hardware cut (MIG).
struct SliceAttributes {
    unsigned int multiprocessors = 0;
    unsigned int engines[5] = {};  // that it shares: copying, decoding and so on
    unsigned int gpu_slices = 0;
    unsigned int compute_slices = 0;
    unsigned long long memory_mib = 0;
};

// nvmlComputeMode_t: how many processes may have the GPU.
inline constexpr int kComputeModeDefault = 0;

inline constexpr int kP2pByNvLink = 2;  // NVML_P2P_CAPS_INDEX_NVLINK
inline constexpr int kP2pOk = 0;

struct Functions {
    int (*nvmlInit_v2)() = nullptr;
    int (*nvmlShutdown)() = nullptr;
    const char* (*nvmlErrorString)(int) = nullptr;
    int (*nvmlDeviceGetCount_v2)(unsigned int*) = nullptr;
    int (*nvmlDeviceGetHandleByIndex_v2)(unsigned int, Device**) = nullptr;
    int (*nvmlDeviceGetName)(Device*, char*, unsigned int) = nullptr;
    int (*nvmlDeviceGetUUID)(Device*, char*, unsigned int) = nullptr;
    int (*nvmlDeviceGetMemoryInfo)(Device*, MemoryInfo*) = nullptr;
    int (*nvmlDeviceGetUtilizationRates)(Device*, Utilization*) = nullptr;
    int (*nvmlDeviceGetPowerUsage)(Device*, unsigned int*) = nullptr;  // milliwatts
    // Null where the library is too old to have them.
    int (*nvmlDeviceGetMemoryInfo_v2)(Device*, MemoryInfo2*) = nullptr;
    int (*nvmlDeviceGetTopologyCommonAncestor)(Device*, Device*, int*) = nullptr;
    int (*nvmlDeviceGetP2PStatus)(Device*, Device*, int, int*) = nullptr;
    int (*nvmlDeviceGetPciInfo_v3)(Device*, PciInfo*) = nullptr;
    int (*nvmlSystemGetDriverVersion)(char*, unsigned int) = nullptr;
    int (*nvmlDeviceGetComputeMode)(Device*, int*) = nullptr;
    int (*nvmlDeviceGetMigMode)(Device*, unsigned int* now, unsigned int* later) = nullptr;
    int (*nvmlDeviceGetMaxMigDeviceCount)(Device*, unsigned int*) = nullptr;
    int (*nvmlDeviceGetMigDeviceHandleByIndex)(Device*, unsigned int, Device**) = nullptr;
    int (*nvmlDeviceGetAttributes_v2)(Device*, SliceAttributes*) = nullptr;
};

// The library, open and initialised for as long as this lives.
class Library {
  public:
    // Errors: Unavailable, saying what is missing.
    static base::Result<std::unique_ptr<Library>> open(const std::string& path);
    ~Library();
    Library(const Library&) = delete;
    Library& operator=(const Library&) = delete;

    const Functions& call() const { return functions_; }
    std::string describe(int result) const;

  private:
    Library() = default;

    void* handle_ = nullptr;
    bool is_initialised_ = false;
    Functions functions_;
};

}  // namespace berth::nvml
