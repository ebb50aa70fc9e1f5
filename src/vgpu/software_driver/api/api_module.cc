// SPDX-License-Identifier: Apache-2.0
//
// Modules, libraries, their functions, and occupancy.
#include <algorithm>
#include <fstream>
#include <iterator>

#include "vgpu/software_driver/driver.h"
#include "vgpu/software_driver/memory/allocate.h"

using namespace berth::vgpu::software_driver;

namespace {

// Code counts as memory like any other; so much for each entry.
constexpr std::size_t kCodeBytes = 64U << 10U;

CUfunction handle_of(Function* function) { return reinterpret_cast<CUfunction>(function); }

CUresult load(std::string_view ptx, bool is_library, Module** to) {
    return enter_context([&](Driver& driver, Context& context, Lock&) {
        const auto entries = entries_of(ptx);
        if (entries.empty())
            return ptx.find(".version") == std::string_view::npos ? CUDA_ERROR_INVALID_IMAGE
                                                                  : CUDA_ERROR_INVALID_PTX;
        auto module = std::make_unique<Module>();
        module->context = &context;
        module->is_library = is_library;
        module->code = allocate(driver, context, kCodeBytes * entries.size());
        if (module->code == 0) return CUDA_ERROR_OUT_OF_MEMORY;
        for (const Entry& entry : entries)
            module->functions.push_back(driver.functions.add(
                std::make_unique<Function>(Function{entry, module.get(), 48 << 10})));
        *to = driver.modules.add(std::move(module));
        return CUDA_SUCCESS;
    });
}

CUresult unload(const void* handle, bool is_library) {
    return enter([&](Driver& driver, Lock& lock) {
        Module* module = driver.modules.find(handle);
        if (module == nullptr || module->is_library != is_library) return CUDA_ERROR_INVALID_HANDLE;
        synchronize_all(driver, lock, *module->context);
        for (const Function* function : module->functions) driver.functions.remove(function);
        if (const Allocation* code = driver.memory.find(module->code); code != nullptr)
            deallocate(driver, *code);
        driver.modules.remove(module);
        return CUDA_SUCCESS;
    });
}

CUresult load_module(CUmodule* to, std::string_view ptx) {
    if (to == nullptr) return CUDA_ERROR_INVALID_VALUE;
    Module* module = nullptr;
    const CUresult result = load(ptx, false, &module);
    if (result == CUDA_SUCCESS) *to = reinterpret_cast<CUmodule>(module);
    return result;
}

CUresult find_function(const void* module_handle, const char* name, Function** to) {
    return enter([&](Driver& driver, Lock&) {
        const Module* module = driver.modules.find(module_handle);
        if (module == nullptr) return CUDA_ERROR_INVALID_HANDLE;
        if (name == nullptr) return CUDA_ERROR_INVALID_VALUE;
        for (Function* function : module->functions) {
            if (function->entry.name != name) continue;
            *to = function;
            return CUDA_SUCCESS;
        }
        return CUDA_ERROR_NOT_FOUND;
    });
}

template <class Body>
CUresult enter_function(const void* handle, const void* out, Body body) {
    return enter([&](Driver& driver, Lock&) -> CUresult {
        Function* function = driver.functions.find(handle);
        if (function == nullptr) return CUDA_ERROR_INVALID_HANDLE;
        return out == nullptr ? CUDA_ERROR_INVALID_VALUE : body(*function);
    });
}

}  // namespace

CUresult cuModuleLoad(CUmodule* to, const char* path) {
    if (path == nullptr) return CUDA_ERROR_INVALID_VALUE;
    try {
        std::ifstream file(path, std::ios::binary);
        if (!file) return CUDA_ERROR_FILE_NOT_FOUND;
        const std::string text(std::istreambuf_iterator<char>(file), {});
        return load_module(to, text);
    } catch (...) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
}

CUresult cuModuleLoadData(CUmodule* to, const void* image) {
    if (image == nullptr) return CUDA_ERROR_INVALID_VALUE;
    return load_module(to, static_cast<const char*>(image));
}

CUresult cuModuleLoadDataEx(CUmodule* to, const void* image, unsigned int, CUjit_option*, void**) {
    return cuModuleLoadData(to, image);
}

CUresult cuModuleUnload(CUmodule module) { return unload(module, false); }

CUresult cuModuleGetFunction(CUfunction* to, CUmodule module, const char* name) {
    if (to == nullptr) return CUDA_ERROR_INVALID_VALUE;
    Function* function = nullptr;
    const CUresult result = find_function(module, name, &function);
    if (result == CUDA_SUCCESS) *to = handle_of(function);
    return result;
}

// The kernels here have no global variables.
CUresult cuModuleGetGlobal_v2(CUdeviceptr*, std::size_t*, CUmodule module, const char* name) {
    return enter([&](Driver& driver, Lock&) {
        if (driver.modules.find(module) == nullptr) return CUDA_ERROR_INVALID_HANDLE;
        return name == nullptr ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_NOT_FOUND;
    });
}

CUresult cuModuleGetLoadingMode(CUmoduleLoadingMode* mode) {
    if (mode == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *mode = CU_MODULE_EAGER_LOADING;
    return CUDA_SUCCESS;
}

CUresult cuLibraryLoadData(CUlibrary* to, const void* code, CUjit_option*, void**, unsigned int,
                           CUlibraryOption*, void**, unsigned int) {
    if (to == nullptr || code == nullptr) return CUDA_ERROR_INVALID_VALUE;
    Module* module = nullptr;
    const CUresult result = load(static_cast<const char*>(code), true, &module);
    if (result == CUDA_SUCCESS) *to = reinterpret_cast<CUlibrary>(module);
    return result;
}

CUresult cuLibraryUnload(CUlibrary library) { return unload(library, true); }

CUresult cuLibraryGetKernel(CUkernel* to, CUlibrary library, const char* name) {
    if (to == nullptr) return CUDA_ERROR_INVALID_VALUE;
    Function* function = nullptr;
    const CUresult result = find_function(library, name, &function);
    if (result == CUDA_SUCCESS) *to = reinterpret_cast<CUkernel>(function);
    return result;
}

CUresult cuLibraryGetModule(CUmodule* to, CUlibrary library) {
    return enter([&](Driver& driver, Lock&) {
        if (to == nullptr) return CUDA_ERROR_INVALID_VALUE;
        Module* module = driver.modules.find(library);
        if (module == nullptr) return CUDA_ERROR_INVALID_HANDLE;
        *to = reinterpret_cast<CUmodule>(module);
        return CUDA_SUCCESS;
    });
}

CUresult cuKernelGetFunction(CUfunction* to, CUkernel kernel) {
    return enter_function(kernel, to, [&](Function& function) {
        *to = handle_of(&function);
        return CUDA_SUCCESS;
    });
}

CUresult cuFuncGetAttribute(int* value, CUfunction_attribute attribute, CUfunction handle) {
    return enter_function(handle, value, [&](Function& function) {
        switch (attribute) {
            case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK: *value = 1024; break;
            case CU_FUNC_ATTRIBUTE_NUM_REGS: *value = 32; break;
            case CU_FUNC_ATTRIBUTE_PTX_VERSION:
            case CU_FUNC_ATTRIBUTE_BINARY_VERSION: *value = 90; break;
            case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
                *value = function.dynamic_shared_bytes;
                break;
            default: *value = 0;
        }
        return CUDA_SUCCESS;
    });
}

CUresult cuFuncSetAttribute(CUfunction handle, CUfunction_attribute attribute, int value) {
    return enter_function(handle, handle, [&](Function& function) {
        if (attribute != CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES) return CUDA_SUCCESS;
        if (value < 0 || value > 227 << 10) return CUDA_ERROR_INVALID_VALUE;
        function.dynamic_shared_bytes = value;
        return CUDA_SUCCESS;
    });
}

CUresult cuFuncGetModule(CUmodule* to, CUfunction handle) {
    return enter_function(handle, to, [&](Function& function) {
        *to = reinterpret_cast<CUmodule>(function.module);
        return CUDA_SUCCESS;
    });
}

CUresult cuFuncGetName(const char** name, CUfunction handle) {
    return enter_function(handle, name, [&](Function& function) {
        *name = function.entry.name.c_str();
        return CUDA_SUCCESS;
    });
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, CUfunction handle, int block_size,
                                                     std::size_t) {
    return enter_function(handle, blocks, [&](Function&) {
        if (block_size <= 0) return CUDA_ERROR_INVALID_VALUE;
        *blocks = std::min(32, 2048 / block_size);
        return CUDA_SUCCESS;
    });
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, CUfunction function,
                                                              int block_size, std::size_t bytes,
                                                              unsigned int) {
    return cuOccupancyMaxActiveBlocksPerMultiprocessor(blocks, function, block_size, bytes);
}
