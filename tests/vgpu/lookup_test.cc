// SPDX-License-Identifier: Apache-2.0
//
// A runtime gets the function that it was built for: by name, version and flags.
#include <dlfcn.h>
#include <doctest/doctest.h>
#include <unistd.h>

#include <string>

#include "vgpu/api.h"
#include "vgpu/tenant.h"

using namespace berth::test_vgpu;

namespace {

std::string name_of(void* function) {
    Dl_info found = {};
    return function != nullptr && ::dladdr(function, &found) != 0 ? found.dli_sname : "nothing";
}

std::string named(const char* name, int version, cuuint64_t flags = 0) {
    return name_of(cuda().find(name, version, flags));
}

// A machine of its own with a driver of that version.
std::string with_driver(const std::string& version, const std::string& lookup) {
    const std::string path = "/dev/shm/berth_lookup_test." + std::to_string(::getpid());
    const Tenant tenant("state=" + path + "; driver=" + version);
    const std::string answer = tenant.ask("lookup " + lookup);
    ::unlink(path.c_str());
    return answer;
}

}  // namespace

TEST_CASE("a name means the newest function that the version asked for knows") {
    CHECK(named("cuMemAlloc", 12020) == "cuMemAlloc_v2");
    CHECK(named("cuMemGetInfo", 12020) == "cuMemGetInfo_v2");
    CHECK(named("cuDeviceTotalMem", 12020) == "cuDeviceTotalMem_v2");
    CHECK(named("cuDeviceTotalMem", 3010) == "cuDeviceTotalMem");
    CHECK(named("cuCtxCreate", 11000) == "cuCtxCreate_v2");
    CHECK(named("cuCtxCreate", 12020) == "cuCtxCreate_v3");
    CHECK(named("cuGraphInstantiate", 11040) == "cuGraphInstantiate_v2");
    CHECK(named("cuGraphInstantiate", 12000) == "cuGraphInstantiateWithFlags");
    CHECK(named("cuGetProcAddress", 11030) == "cuGetProcAddress");
    CHECK(named("cuGetProcAddress", 12000) == "cuGetProcAddress_v2");
}

TEST_CASE("the per-thread flag gives the twin where there is one") {
    constexpr cuuint64_t kPerThread = CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
    CHECK(named("cuLaunchKernel", 12020, kPerThread) == "cuLaunchKernel_ptsz");
    CHECK(named("cuMemcpyHtoD", 12020, kPerThread) == "cuMemcpyHtoD_v2_ptds");
    CHECK(named("cuMemAlloc", 12020, kPerThread) == "cuMemAlloc_v2");
    CHECK(named("cuLaunchKernel", 12020, CU_GET_PROC_ADDRESS_LEGACY_STREAM) == "cuLaunchKernel");
}

TEST_CASE("what is not there is said to be not there") {
    auto status = CU_GET_PROC_ADDRESS_SUCCESS;
    CUresult result = CUDA_SUCCESS;
    CHECK(cuda().find("cuNoSuchThing", 12020, 0, &status, &result) == nullptr);
    CHECK(result == CUDA_ERROR_NOT_FOUND);
    CHECK(status == CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
    CHECK(cuda().find("cuMemAllocAsync", 11000, 0, &status, &result) == nullptr);
    CHECK(result == CUDA_ERROR_NOT_FOUND);
    CHECK(status == CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT);
    CHECK(cuda().find("", 12020, 0, &status, &result) == nullptr);
}

TEST_CASE("a lookup without place for the status, and before cuInit, works") {
    void* function = nullptr;
    CHECK(cuda().look_up("cuInit", &function, 12020, 0, nullptr) == CUDA_SUCCESS);
    CHECK(function != nullptr);
    CHECK(cuda().look_up("cuInit", nullptr, 12020, 0, nullptr) == CUDA_ERROR_INVALID_VALUE);
    CHECK(cuda().look_up(nullptr, &function, 12020, 0, nullptr) == CUDA_ERROR_INVALID_VALUE);
}

TEST_CASE("an older driver does not have what is newer") {
    if (!is_software()) return;
    CHECK(with_driver("12.2", "cuCheckpointProcessLock 13000 0") == "500 1 nothing");
    CHECK(with_driver("12.8", "cuCheckpointProcessLock 13000 0") == "0 0 cuCheckpointProcessLock");
    CHECK(with_driver("12.2", "cuCtxCreate 13000 0") == "0 0 cuCtxCreate_v3");
    CHECK(with_driver("12.8", "cuCtxCreate 13000 0") == "0 0 cuCtxCreate_v4");
    CHECK(with_driver("12.8", "cuCtxGetDevice 13000 0") == "0 0 cuCtxGetDevice");
    CHECK(with_driver("13.0", "cuCtxGetDevice 13000 0") == "0 0 cuCtxGetDevice_v2");
}

TEST_CASE("the driver says its version and names its errors") {
    int version = 0;
    CHECK(cuda().cuDriverGetVersion(&version) == CUDA_SUCCESS);
    if (is_software()) CHECK(version == 13000);
    const char* name = nullptr;
    CHECK(cuda().cuGetErrorName(CUDA_ERROR_OUT_OF_MEMORY, &name) == CUDA_SUCCESS);
    CHECK(std::string(name) == "CUDA_ERROR_OUT_OF_MEMORY");
    CHECK(cuda().cuGetErrorName(static_cast<CUresult>(12345), &name) == CUDA_ERROR_INVALID_VALUE);
}
