// SPDX-License-Identifier: Apache-2.0
//
// The calls of cuBLAS that a training step makes, from its public documentation (CUDA 13).
#include <new>

#include "matrix_product.h"

using namespace berth::bench;

struct cublasContext {
    CUstream stream = nullptr;
    int math_mode = 0;
    int pointer_mode = 0;
};
using cublasHandle_t = cublasContext*;

extern "C" {

cublasStatus_t cublasCreate_v2(cublasHandle_t* to) {
    *to = new (std::nothrow) cublasContext;
    return *to != nullptr ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;
}
cublasStatus_t cublasDestroy_v2(cublasHandle_t handle) {
    return delete handle, CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasSetStream_v2(cublasHandle_t handle, CUstream stream) {
    return handle->stream = stream, CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasSetWorkspace_v2(cublasHandle_t, void*, std::size_t) {
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasSetMathMode(cublasHandle_t handle, int mode) {
    return handle->math_mode = mode, CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasGetMathMode(cublasHandle_t handle, int* mode) {
    return *mode = handle->math_mode, CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasSetPointerMode_v2(cublasHandle_t handle, int mode) {
    return handle->pointer_mode = mode, CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasGetPointerMode_v2(cublasHandle_t handle, int* mode) {
    return *mode = handle->pointer_mode, CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasGemmStridedBatchedEx(cublasHandle_t handle, int, int, int m, int n, int k,
                                          const void*, const void*, int, int, long long,
                                          const void*, int, int, long long, const void*, void*, int,
                                          int, long long, int batch, int, int) {
    if (m < 0 || n < 0 || k < 0 || batch < 0) return CUBLAS_STATUS_INVALID_VALUE;
    const auto size = [](int length) { return static_cast<std::uint64_t>(length); };
    return launch({size(m), size(n), size(k), size(batch)}, handle->stream);
}
cublasStatus_t cublasGemmEx(cublasHandle_t handle, int, int, int m, int n, int k, const void*,
                            const void*, int, int, const void*, int, int, const void*, void*, int,
                            int, int, int) {
    return cublasGemmStridedBatchedEx(handle, 0, 0, m, n, k, nullptr, nullptr, 0, 0, 0, nullptr, 0,
                                      0, 0, nullptr, nullptr, 0, 0, 0, 1, 0, 0);
}

}  // extern "C"
