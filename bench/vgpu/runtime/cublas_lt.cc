// SPDX-License-Identifier: Apache-2.0
//
// The calls of cuBLASLt that a training step makes, from its public documentation (CUDA 13).
#include <cstring>
#include <new>

#include "matrix_product.h"

using namespace berth::bench;

struct cublasLtMatrixLayout {
    std::uint64_t rows;
    std::uint64_t columns;
    std::uint64_t batch;
};
struct cublasLtMatmulDesc {
    bool is_first_transposed = false;
};
struct cublasLtMatmulPreference {};
struct cublasLtMatmulAlgo {
    std::uint64_t unnamed[8];
};
struct cublasLtMatmulHeuristicResult {
    cublasLtMatmulAlgo algorithm;
    std::size_t workspace_bytes;
    cublasStatus_t state;
    float waves;
    int unnamed[4];
};

namespace {

constexpr int kLayoutBatchCount = 5;  // CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, an int32_t
constexpr int kTransposeFirst = 3;    // CUBLASLT_MATMUL_DESC_TRANSA, an int32_t: 0 as it is

template <class T>
cublasStatus_t create(T** to, T value) {
    *to = new (std::nothrow) T(value);
    return *to != nullptr ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;
}

int number_in(const void* buffer, std::size_t bytes) {
    int value = 0;
    std::memcpy(&value, buffer, std::min(bytes, sizeof(value)));
    return value;
}

}  // namespace

extern "C" {

std::size_t cublasLtGetVersion() { return 130400; }

cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout** to, int, std::uint64_t rows,
                                          std::uint64_t columns, std::int64_t) {
    return create(to, cublasLtMatrixLayout{rows, columns, 1});
}
cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout* layout) {
    return delete layout, CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout* layout, int which,
                                                const void* buffer, std::size_t bytes) {
    if (which == kLayoutBatchCount)
        layout->batch = static_cast<std::uint64_t>(number_in(buffer, bytes));
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc** to, int, int) {
    return create(to, cublasLtMatmulDesc{});
}
cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc* description) {
    return delete description, CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc* description, int which,
                                              const void* buffer, std::size_t bytes) {
    if (which == kTransposeFirst) description->is_first_transposed = number_in(buffer, bytes) != 0;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference** to) {
    return create(to, cublasLtMatmulPreference{});
}
cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference* preference) {
    return delete preference, CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference*, int, const void*,
                                                    std::size_t) {
    return CUBLAS_STATUS_SUCCESS;
}

// There is one algorithm, and it needs no workspace.
cublasStatus_t cublasLtMatmulAlgoGetHeuristic(void*, cublasLtMatmulDesc*, cublasLtMatrixLayout*,
                                              cublasLtMatrixLayout*, cublasLtMatrixLayout*,
                                              cublasLtMatrixLayout*, cublasLtMatmulPreference*,
                                              int wanted, cublasLtMatmulHeuristicResult* results,
                                              int* count) {
    if (wanted < 1) return CUBLAS_STATUS_INVALID_VALUE;
    results[0] = {};
    *count = 1;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmul(void*, cublasLtMatmulDesc* description, const void*, const void*,
                              cublasLtMatrixLayout* first, const void*, cublasLtMatrixLayout*,
                              const void*, const void*, cublasLtMatrixLayout*, void*,
                              cublasLtMatrixLayout* result, const cublasLtMatmulAlgo*, void*,
                              std::size_t, CUstream stream) {
    const std::uint64_t depth = description->is_first_transposed ? first->rows : first->columns;
    return launch({result->rows, result->columns, depth, result->batch}, stream);
}

}  // extern "C"
