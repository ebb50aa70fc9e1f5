// SPDX-License-Identifier: Apache-2.0
//
// The runtime's calls for streams and events.
#include "runtime.h"

using namespace berth::bench;

extern "C" {

cudaError_t cudaStreamCreateWithPriority(CUstream* to, unsigned int flags, int priority) {
    return call(driver().cuStreamCreateWithPriority, to, flags, priority);
}
cudaError_t cudaStreamCreateWithFlags(CUstream* to, unsigned int flags) {
    return cudaStreamCreateWithPriority(to, flags, 0);
}
cudaError_t cudaStreamCreate(CUstream* to) { return cudaStreamCreateWithPriority(to, 0, 0); }
cudaError_t cudaStreamDestroy(CUstream stream) { return call(driver().cuStreamDestroy, stream); }
cudaError_t cudaStreamQuery(CUstream stream) {
    const CUresult result = use_gpu();
    if (result != CUDA_SUCCESS) return remember(result);
    const CUresult state = driver().cuStreamQuery(stream);  // "not yet" is no error
    return state == CUDA_ERROR_NOT_READY ? state : remember(state);
}
cudaError_t cudaStreamSynchronize(CUstream stream) {
    return call(driver().cuStreamSynchronize, stream);
}
cudaError_t cudaStreamWaitEvent(CUstream stream, CUevent event, unsigned int flags) {
    return call(driver().cuStreamWaitEvent, stream, event, flags);
}
cudaError_t cudaStreamGetPriority(CUstream stream, int* priority) {
    return call(driver().cuStreamGetPriority, stream, priority);
}
cudaError_t cudaStreamIsCapturing(CUstream stream, CUstreamCaptureStatus* status) {
    return call(driver().cuStreamIsCapturing, stream, status);
}
cudaError_t cudaStreamGetCaptureInfo(CUstream stream, CUstreamCaptureStatus* status,
                                     unsigned long long* id, CUgraph* graph,
                                     const CUgraphNode** dependencies, const void** edges,
                                     std::size_t* count) {
    if (edges != nullptr) *edges = nullptr;  // as of graphs without such
    return call(driver().cuStreamGetCaptureInfo, stream, status, reinterpret_cast<cuuint64_t*>(id),
                graph, dependencies, count);
}
cudaError_t cudaThreadExchangeStreamCaptureMode(CUstreamCaptureMode* mode) {
    return call(driver().cuThreadExchangeStreamCaptureMode, mode);
}
cudaError_t cudaLaunchHostFunc(CUstream stream, CUhostFn function, void* data) {
    return call(driver().cuLaunchHostFunc, stream, function, data);
}

cudaError_t cudaEventCreateWithFlags(CUevent* to, unsigned int flags) {
    return call(driver().cuEventCreate, to, flags);
}
cudaError_t cudaEventCreate(CUevent* to) { return cudaEventCreateWithFlags(to, 0); }
cudaError_t cudaEventDestroy(CUevent event) { return call(driver().cuEventDestroy, event); }
cudaError_t cudaEventRecord(CUevent event, CUstream stream) {
    return call(driver().cuEventRecord, event, stream);
}
cudaError_t cudaEventRecordWithFlags(CUevent event, CUstream stream, unsigned int flags) {
    return call(driver().cuEventRecordWithFlags, event, stream, flags);
}
cudaError_t cudaEventQuery(CUevent event) {
    const CUresult result = use_gpu();
    if (result != CUDA_SUCCESS) return remember(result);
    const CUresult state = driver().cuEventQuery(event);
    return state == CUDA_ERROR_NOT_READY ? state : remember(state);
}
cudaError_t cudaEventSynchronize(CUevent event) { return call(driver().cuEventSynchronize, event); }
cudaError_t cudaEventElapsedTime(float* ms, CUevent from, CUevent to) {
    return call(driver().cuEventElapsedTime, ms, from, to);
}

}  // extern "C"
