// SPDX-License-Identifier: Apache-2.0
//
// A driver that is newer than everything we know: it has an export of a name that is in no table of
// ours, and asked for cuMemAlloc by a version to come gives another function than it exports.
#include <cstring>

#include "vgpu/abi/cuda.h"
#include "vgpu/stand_in/behind.h"

namespace {

constexpr int kFuture = 99000;

template <class Function>
Function* real(const char* name) {
    return reinterpret_cast<Function*>(berth::stand_in::behind(name));
}

// As cuMemAlloc_v2, with one thing more.
CUresult allocate_v3(CUdeviceptr* to, std::size_t bytes, unsigned int flags) {
    if (flags != 3) return CUDA_ERROR_INVALID_VALUE;
    return real<decltype(cuMemAlloc_v2)>("cuMemAlloc_v2")(to, bytes);
}

}  // namespace

extern "C" {
#pragma GCC visibility push(default)
int cuFromTheFuture(int number);
int cuSubgridCreate(int number);
#pragma GCC visibility pop
}

int cuFromTheFuture(int number) { return 2 * number; }
int cuSubgridCreate(int number) { return number; }

// In place of their trampolines.
CUresult cuLogicalEndpointCreate(CUlogicalEndpointId, const void*) { return CUDA_SUCCESS; }
CUresult cuLogicalEndpointImport(CUlogicalEndpointId, const void*, unsigned int) {
    return CUDA_SUCCESS;
}

CUresult cuGetProcAddress_v2(const char* symbol, void** function, int version, cuuint64_t flags,
                             CUdriverProcAddressQueryResult* status) {
    void* ours = nullptr;
    const auto gives = [&](const char* name, int since, auto* given) {
        if (std::strcmp(symbol, name) == 0 && version >= since)
            ours = reinterpret_cast<void*>(given);
    };
    gives("cuFromTheFuture", 0, &cuFromTheFuture);
    gives("cuSubgridCreate", 0, &cuSubgridCreate);
    gives("cuLogicalEndpointCreate", 13030, &cuLogicalEndpointCreate);
    gives("cuLogicalEndpointImport", 13030, &cuLogicalEndpointImport);
    gives("cuMemAlloc", kFuture, &allocate_v3);
    if (ours == nullptr)
        return real<decltype(cuGetProcAddress_v2)>("cuGetProcAddress_v2")(symbol, function, version,
                                                                          flags, status);
    *function = ours;
    if (status != nullptr) *status = CU_GET_PROC_ADDRESS_SUCCESS;
    return CUDA_SUCCESS;
}

namespace berth::stand_in {

void* in_place_of(const char* name) { return behind(name); }

}  // namespace berth::stand_in
