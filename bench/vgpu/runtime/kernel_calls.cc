// SPDX-License-Identifier: Apache-2.0
//
// The runtime's calls that launch kernels, and those by which a program that was compiled by nvcc
// says at its start which kernels it has (as LLVM's CGCUDANV.cpp makes them for its own programs).
//
// Of a kernel only the name is taken: what is launched is an empty kernel of that name.
#include <atomic>
#include <string>
#include <unordered_map>

#include "runtime.h"

using namespace berth::bench;

namespace {

struct Kernel {
    const char* name;
    std::atomic<CUkernel> loaded{nullptr};
};

// By the address of the function that stands for it on the host. Filled while libraries are loaded.
std::unordered_map<const void*, Kernel>& kernels() {
    static std::unordered_map<const void*, Kernel> all;
    return all;
}

CUresult load(Kernel& kernel, CUkernel* to) {
    *to = kernel.loaded.load(std::memory_order_acquire);
    if (*to != nullptr) return CUDA_SUCCESS;
    const std::string ptx = std::string(".version 8.0\n.target sm_75\n.address_size 64\n") +
                            ".visible .entry " + kernel.name + "()\n{\n    ret;\n}\n";
    const CUresult result = load_kernel(ptx.c_str(), kernel.name, to);
    if (result == CUDA_SUCCESS) kernel.loaded.store(*to, std::memory_order_release);
    return result;
}

constexpr auto kInvalidDeviceFunction = static_cast<cudaError_t>(98);

Kernel* find(const void* on_host) {
    const auto found = kernels().find(on_host);
    return found == kernels().end() ? nullptr : &found->second;
}

// Runs body(CUkernel) in the thread's context.
template <class Body>
cudaError_t with(Kernel* kernel, Body body) {
    if (kernel == nullptr) return remember(kInvalidDeviceFunction);
    CUkernel loaded = nullptr;
    CUresult result = use_gpu();
    if (result == CUDA_SUCCESS) result = load(*kernel, &loaded);
    return remember(result != CUDA_SUCCESS ? result : body(loaded));
}

// Runs body(CUfunction): the kernel in the thread's context.
template <class Body>
cudaError_t with_function(const void* on_host, Body body) {
    return with(find(on_host), [&](CUkernel kernel) {
        CUfunction function = nullptr;
        const CUresult result = driver().cuKernelGetFunction(&function, kernel);
        return result != CUDA_SUCCESS ? result : body(function);
    });
}

cudaError_t launch(Kernel* kernel, dim3 grid, dim3 block, void** arguments, std::size_t shared,
                   CUstream stream) {
    return with(kernel, [&](CUkernel loaded) {
        return driver().cuLaunchKernel(as_function(loaded), grid.x, grid.y, grid.z, block.x,
                                       block.y, block.z, static_cast<unsigned int>(shared), stream,
                                       arguments, nullptr);
    });
}

struct Configuration {
    dim3 grid, block;
    std::size_t shared;
    CUstream stream;
};
thread_local Configuration configuration;  // of the launch that this thread is about to make

}  // namespace

extern "C" {

void** __cudaRegisterFatBinary(void*) {
    static void* handle = nullptr;
    return &handle;
}
void __cudaRegisterFatBinaryEnd(void**) {}
void __cudaUnregisterFatBinary(void**) {}
void __cudaRegisterVar(void**, char*, char*, const char*, int, std::size_t, int, int) {}
void __cudaRegisterFunction(void**, const char* on_host, char*, const char* name, int, void*, void*,
                            dim3*, dim3*, int*) {
    kernels().try_emplace(on_host, name);
}

unsigned int __cudaPushCallConfiguration(dim3 grid, dim3 block, std::size_t shared,
                                         CUstream stream) {
    configuration = {grid, block, shared, stream};
    return 0;
}
cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, std::size_t* shared,
                                       CUstream* stream) {
    *grid = configuration.grid;
    *block = configuration.block;
    *shared = configuration.shared;
    *stream = configuration.stream;
    return CUDA_SUCCESS;
}

cudaError_t __cudaGetKernel(Kernel** to, const void* on_host) {
    *to = find(on_host);
    return *to != nullptr ? CUDA_SUCCESS : remember(kInvalidDeviceFunction);
}
cudaError_t __cudaLaunchKernel(Kernel* kernel, dim3 grid, dim3 block, void** arguments,
                               std::size_t shared, CUstream stream) {
    return launch(kernel, grid, block, arguments, shared, stream);
}
cudaError_t cudaLaunchKernel(const void* on_host, dim3 grid, dim3 block, void** arguments,
                             std::size_t shared, CUstream stream) {
    return launch(find(on_host), grid, block, arguments, shared, stream);
}
cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* c, const void* on_host,
                                void** arguments) {
    const CUlaunchConfig config = {c->gridDim.x,
                                   c->gridDim.y,
                                   c->gridDim.z,
                                   c->blockDim.x,
                                   c->blockDim.y,
                                   c->blockDim.z,
                                   static_cast<unsigned int>(c->dynamicSmemBytes),
                                   c->stream,
                                   c->attrs,
                                   c->numAttrs};
    return with(find(on_host), [&](CUkernel kernel) {
        return driver().cuLaunchKernelEx(&config, as_function(kernel), arguments, nullptr);
    });
}

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* to, const void* on_host) {
    return with_function(on_host, [&](CUfunction function) {
        *to = {};
        CUresult result = CUDA_SUCCESS;
        const auto ask = [&](CUfunction_attribute which) {
            int value = 0;
            if (result == CUDA_SUCCESS)
                result = driver().cuFuncGetAttribute(&value, which, function);
            return value;
        };
        to->maxThreadsPerBlock = ask(CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
        to->numRegs = ask(CU_FUNC_ATTRIBUTE_NUM_REGS);
        to->ptxVersion = ask(CU_FUNC_ATTRIBUTE_PTX_VERSION);
        to->binaryVersion = ask(CU_FUNC_ATTRIBUTE_BINARY_VERSION);
        to->maxDynamicSharedSizeBytes = ask(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
        return result;
    });
}
cudaError_t cudaFuncSetAttribute(const void* on_host, CUfunction_attribute which, int value) {
    return with_function(on_host, [&](CUfunction function) {
        return driver().cuFuncSetAttribute(function, which, value);
    });
}
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void* on_host,
                                                                   int size, std::size_t shared,
                                                                   unsigned int) {
    return with_function(on_host, [&](CUfunction function) {
        return driver().cuOccupancyMaxActiveBlocksPerMultiprocessor(blocks, function, size, shared);
    });
}
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* on_host,
                                                          int size, std::size_t shared) {
    return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, on_host, size, shared, 0);
}

}  // extern "C"
