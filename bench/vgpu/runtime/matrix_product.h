// SPDX-License-Identifier: Apache-2.0
//
// What does a product of matrices do here? It takes its time on the GPU, and no more: one kernel
// that spins as long as a GPU with 400 TFLOPS would need.
#pragma once

#include <algorithm>

#include "driver.h"
#include "vgpu/spin_kernel.h"

namespace berth::bench {

// Of `batch` products of m x k and k x n.
struct MatrixProduct {
    std::uint64_t m, n, k, batch;
};

// The answers of cuBLAS.
enum cublasStatus_t : unsigned int {
    CUBLAS_STATUS_SUCCESS = 0,
    CUBLAS_STATUS_INVALID_VALUE = 7,
    CUBLAS_STATUS_EXECUTION_FAILED = 13,
};

inline cublasStatus_t launch(const MatrixProduct& product, CUstream stream) {
    constexpr std::uint64_t kStartNs = 3000;
    constexpr std::uint64_t kFlopsPerNs = 400'000;
    constexpr std::uint64_t kTile = 128;  // of the result, one block's work
    struct Loaded {
        CUkernel kernel = nullptr;
        CUresult result = load_kernel(test_vgpu::kSpinKernel, "berth_spin_ns", &kernel);
    };
    static const Loaded spin;
    if (spin.result != CUDA_SUCCESS) return CUBLAS_STATUS_EXECUTION_FAILED;
    const auto& [m, n, k, batch] = product;
    const auto tiles = [](std::uint64_t length) {
        return static_cast<unsigned int>(std::max<std::uint64_t>(1, (length + kTile - 1) / kTile));
    };
    std::uint64_t ns = kStartNs + 2 * m * n * k * batch / kFlopsPerNs;
    void* arguments[] = {&ns};
    const CUresult result = driver().cuLaunchKernel(as_function(spin.kernel), tiles(m) * tiles(n),
                                                    1, 1, 128, 1, 1, 0, stream, arguments, nullptr);
    return result == CUDA_SUCCESS ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;
}

}  // namespace berth::bench
