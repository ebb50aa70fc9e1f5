// SPDX-License-Identifier: Apache-2.0
//
// Work runs in stream order, takes its time, and does what it says to memory.
#include <doctest/doctest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <numeric>
#include <thread>
#include <vector>

#include "vgpu/api.h"

using namespace berth::test_vgpu;

namespace {

using Clock = std::chrono::steady_clock;

double ms_since(Clock::time_point begin) {
    return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

struct Kernels {
    Kernels() {
        REQUIRE(cuda().cuModuleLoadData(&module, kernels()) == CUDA_SUCCESS);
        REQUIRE(cuda().cuModuleGetFunction(&spin, module, "berth_spin_ns") == CUDA_SUCCESS);
        REQUIRE(cuda().cuModuleGetFunction(&add1, module, "berth_add1") == CUDA_SUCCESS);
        REQUIRE(cuda().cuModuleGetFunction(&fill, module, "berth_fill") == CUDA_SUCCESS);
        REQUIRE(cuda().cuModuleGetFunction(&copy, module, "berth_copy") == CUDA_SUCCESS);
    }
    CUmodule module = nullptr;
    CUfunction spin = nullptr;
    CUfunction add1 = nullptr;
    CUfunction fill = nullptr;
    CUfunction copy = nullptr;
};

CUresult launch(CUfunction function, unsigned int blocks, CUstream stream, void** parameters) {
    return cuda().cuLaunchKernel(function, blocks, 1, 1, 256, 1, 1, 0, stream, parameters, nullptr);
}

CUresult spin(const Kernels& code, double ms, CUstream stream, unsigned int blocks = 1) {
    auto ns = static_cast<unsigned long long>(ms * 1e6);
    void* parameters[] = {&ns};
    return launch(code.spin, blocks, stream, parameters);
}

CUresult add1(const Kernels& code, CUdeviceptr pointer, unsigned int count, CUstream stream) {
    void* parameters[] = {&pointer, &count};
    return launch(code.add1, (count + 255) / 256, stream, parameters);
}

std::vector<std::uint32_t> words_at(CUdeviceptr pointer, std::size_t count) {
    std::vector<std::uint32_t> words(count);
    CHECK(cuda().cuMemcpyDtoH(words.data(), pointer, count * 4) == CUDA_SUCCESS);
    return words;
}

CUstream new_stream() {
    CUstream stream = nullptr;
    REQUIRE(cuda().cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS);
    return stream;
}

// A stream that does not go on until it is let: what it is given meanwhile begins together.
class Held {
  public:
    explicit Held(CUstream stream) {
        const auto wait = [](void* let) { static_cast<std::atomic<bool>*>(let)->wait(false); };
        REQUIRE(cuda().cuLaunchHostFunc(stream, wait, &let_) == CUDA_SUCCESS);
    }
    ~Held() { let_go(); }
    Held(const Held&) = delete;
    Held& operator=(const Held&) = delete;
    void let_go() {
        let_ = true;
        let_.notify_all();
    }

  private:
    std::atomic<bool> let_ = false;
};

}  // namespace

TEST_CASE("what is copied to the GPU is there, and comes back as kernels left it") {
    const PrimaryContext context;
    const Kernels code;
    CUdeviceptr pointer = 0;
    CUdeviceptr other = 0;
    REQUIRE(cuda().cuMemAlloc(&pointer, 4096) == CUDA_SUCCESS);
    REQUIRE(cuda().cuMemAlloc(&other, 4096) == CUDA_SUCCESS);
    std::vector<std::uint32_t> words(1024);
    std::iota(words.begin(), words.end(), 0U);
    REQUIRE(cuda().cuMemcpyHtoD(pointer, words.data(), 4096) == CUDA_SUCCESS);
    CHECK(add1(code, pointer, 1000, nullptr) == CUDA_SUCCESS);
    CHECK(words_at(pointer, 1024)[999] == 1000);
    CHECK(words_at(pointer, 1024)[1000] == 1000);
    unsigned int count = 1024;
    void* copy[] = {&other, &pointer, &count};
    CHECK(launch(code.copy, 4, nullptr, copy) == CUDA_SUCCESS);
    CHECK(words_at(other, 1024)[0] == 1);
    unsigned int value = 42;
    void* fill[] = {&other, &value, &count};
    CHECK(launch(code.fill, 4, nullptr, fill) == CUDA_SUCCESS);
    CHECK(words_at(other, 1024)[1023] == 42);
}

TEST_CASE("a word is written when the stream comes to it") {
    const PrimaryContext context;
    CUdeviceptr pointer = 0;
    REQUIRE(cuda().cuMemAlloc(&pointer, 8) == CUDA_SUCCESS);
    REQUIRE(cuda().cuMemsetD32(pointer, 7, 2) == CUDA_SUCCESS);
    CHECK(cuda().cuStreamWriteValue32(nullptr, pointer + 4, 42, 0) == CUDA_SUCCESS);
    CHECK(cuda().cuStreamWriteValue32(nullptr, pointer + 2, 42, 0) == CUDA_ERROR_INVALID_VALUE);
    std::array<std::uint32_t, 2> words{};
    CHECK(cuda().cuMemcpyDtoH(words.data(), pointer, 8) == CUDA_SUCCESS);
    CHECK(words == std::array<std::uint32_t, 2>{7, 42});
    CHECK(cuda().cuMemFree(pointer) == CUDA_SUCCESS);
}

TEST_CASE("the calls of before CUDA 4 keep block and arguments with the function") {
    const PrimaryContext context;
    const Kernels code;
    CUdeviceptr pointer = 0;
    REQUIRE(cuda().cuMemAlloc(&pointer, 4096) == CUDA_SUCCESS);
    unsigned int value = 7;
    CHECK(cuda().cuFuncSetBlockShape(code.fill, 256, 1, 1) == CUDA_SUCCESS);
    CHECK(cuda().cuParamSetSize(code.fill, 16) == CUDA_SUCCESS);
    CHECK(cuda().cuParamSetv(code.fill, 0, &pointer, 8) == CUDA_SUCCESS);
    CHECK(cuda().cuParamSeti(code.fill, 8, value) == CUDA_SUCCESS);
    CHECK(cuda().cuParamSeti(code.fill, 12, 1000) == CUDA_SUCCESS);
    CHECK(cuda().cuLaunchGrid(code.fill, 4, 1) == CUDA_SUCCESS);
    CHECK(words_at(pointer, 1024)[999] == 7);
    CHECK(words_at(pointer, 1024)[1000] != 7);
    if (!is_software()) return;
    CHECK(cuda().cuParamSetSize(code.fill, 12) == CUDA_SUCCESS);
    CHECK(cuda().cuLaunch(code.fill) == CUDA_ERROR_INVALID_VALUE);
    CHECK(cuda().cuLaunchGrid(code.fill, 0, 1) == CUDA_ERROR_INVALID_VALUE);
    CHECK(cuda().cuParamSetv(code.fill, -4, &pointer, 8) == CUDA_ERROR_INVALID_VALUE);
}

TEST_CASE("a kernel takes its time, and waiting for it waits") {
    const PrimaryContext context;
    const Kernels code;
    const CUstream stream = new_stream();
    Held held(stream);
    CHECK(spin(code, 30, stream) == CUDA_SUCCESS);
    CHECK(cuda().cuStreamQuery(stream) == CUDA_ERROR_NOT_READY);
    const auto begin = Clock::now();
    held.let_go();
    CHECK(cuda().cuStreamSynchronize(stream) == CUDA_SUCCESS);
    CHECK(ms_since(begin) >= 30);
    CHECK(cuda().cuStreamQuery(stream) == CUDA_SUCCESS);
}

TEST_CASE("events tell the time between them, to the length of the kernels") {
    const PrimaryContext context;
    const Kernels code;
    const CUstream stream = new_stream();
    CUevent begin = nullptr;
    CUevent middle = nullptr;
    CUevent end = nullptr;
    for (CUevent* event : {&begin, &middle, &end})
        REQUIRE(cuda().cuEventCreate(event, CU_EVENT_DEFAULT) == CUDA_SUCCESS);
    Held held(stream);
    CHECK(cuda().cuEventRecord(begin, stream) == CUDA_SUCCESS);
    CHECK(spin(code, 5, stream) == CUDA_SUCCESS);
    CHECK(cuda().cuEventRecord(middle, stream) == CUDA_SUCCESS);
    CHECK(spin(code, 10, stream) == CUDA_SUCCESS);
    CHECK(cuda().cuEventRecord(end, stream) == CUDA_SUCCESS);
    float ms = 0;
    CHECK(cuda().cuEventElapsedTime(&ms, begin, end) == CUDA_ERROR_NOT_READY);
    held.let_go();
    CHECK(cuda().cuEventSynchronize(end) == CUDA_SUCCESS);
    CHECK(cuda().cuEventElapsedTime(&ms, middle, end) == CUDA_SUCCESS);
    CHECK(ms >= 10.0F);
    CHECK(ms < 15.0F);
    CHECK(cuda().cuEventElapsedTime(&ms, begin, middle) == CUDA_SUCCESS);
    CHECK(ms >= 5.0F);
}

TEST_CASE("a launch waits when more than a thousand are before it") {
    const PrimaryContext context;
    const Kernels code;
    const CUstream stream = new_stream();
    const auto begin = Clock::now();
    for (int i = 0; i < 1400; ++i) CHECK(spin(code, 0.2, stream) == CUDA_SUCCESS);
    CHECK(ms_since(begin) >= 50);
    CHECK(cuda().cuStreamSynchronize(stream) == CUDA_SUCCESS);
    CHECK(ms_since(begin) >= 280);
}

TEST_CASE("a stream waits for an event of another one") {
    const PrimaryContext context;
    const Kernels code;
    const CUstream one = new_stream();
    const CUstream other = new_stream();
    CUdeviceptr pointer = 0;
    REQUIRE(cuda().cuMemAlloc(&pointer, 4) == CUDA_SUCCESS);
    CUevent event = nullptr;
    REQUIRE(cuda().cuEventCreate(&event, CU_EVENT_DISABLE_TIMING) == CUDA_SUCCESS);
    CHECK(spin(code, 20, one) == CUDA_SUCCESS);
    CHECK(cuda().cuMemsetD32Async(pointer, 6, 1, one) == CUDA_SUCCESS);
    CHECK(cuda().cuEventRecord(event, one) == CUDA_SUCCESS);
    CHECK(cuda().cuStreamWaitEvent(other, event, 0) == CUDA_SUCCESS);
    CHECK(add1(code, pointer, 1, other) == CUDA_SUCCESS);
    CHECK(cuda().cuStreamSynchronize(other) == CUDA_SUCCESS);
    CHECK(words_at(pointer, 1)[0] == 7);
}

TEST_CASE("the default stream waits for blocking streams, and they for it") {
    const PrimaryContext context;
    const Kernels code;
    CUstream blocking = nullptr;
    REQUIRE(cuda().cuStreamCreate(&blocking, CU_STREAM_DEFAULT) == CUDA_SUCCESS);
    CUdeviceptr pointer = 0;
    REQUIRE(cuda().cuMemAlloc(&pointer, 4) == CUDA_SUCCESS);
    CHECK(spin(code, 10, blocking) == CUDA_SUCCESS);
    CHECK(cuda().cuMemsetD32Async(pointer, 1, 1, blocking) == CUDA_SUCCESS);
    CHECK(add1(code, pointer, 1, nullptr) == CUDA_SUCCESS);
    CHECK(add1(code, pointer, 1, blocking) == CUDA_SUCCESS);
    CHECK(cuda().cuStreamSynchronize(blocking) == CUDA_SUCCESS);
    CHECK(words_at(pointer, 1)[0] == 3);
}

TEST_CASE("the per-thread default stream does not wait for what the legacy one is not given") {
    const PrimaryContext context;
    const Kernels code;
    const CUstream busy = new_stream();
    Held held(busy);
    CHECK(spin(code, 1, busy) == CUDA_SUCCESS);
    const auto wait = cuda().find_as<decltype(cuStreamSynchronize)>(
        "cuStreamSynchronize", 12020, CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM);
    CHECK(wait(nullptr) == CUDA_SUCCESS);
    CHECK(cuda().cuStreamSynchronize(cu_stream_per_thread()) == CUDA_SUCCESS);
    CHECK(cuda().cuStreamQuery(busy) == CUDA_ERROR_NOT_READY);
    held.let_go();
    CHECK(cuda().cuCtxSynchronize() == CUDA_SUCCESS);
}

TEST_CASE("functions of the host run in stream order, whether or not anybody waits") {
    const PrimaryContext context;
    const Kernels code;
    const CUstream stream = new_stream();
    static std::atomic<int> calls;
    calls = 0;
    CHECK(spin(code, 5, stream) == CUDA_SUCCESS);
    const auto count = [](void* step) {
        calls += *static_cast<int*>(step);
        calls.notify_all();
    };
    int step = 3;
    CHECK(cuda().cuLaunchHostFunc(stream, count, &step) == CUDA_SUCCESS);
    calls.wait(0);
    CHECK(calls == 3);
    CHECK(cuda().cuLaunchHostFunc(stream, count, &step) == CUDA_SUCCESS);
    CHECK(cuda().cuStreamSynchronize(stream) == CUDA_SUCCESS);
    CHECK(calls == 6);
}

TEST_CASE("a rectangle is copied row by row") {
    const PrimaryContext context;
    std::vector<unsigned char> from(64);
    std::iota(from.begin(), from.end(), static_cast<unsigned char>(0));
    CUdeviceptr pointer = 0;
    REQUIRE(cuda().cuMemAlloc(&pointer, 4096) == CUDA_SUCCESS);
    REQUIRE(cuda().cuMemsetD8(pointer, 255, 4096) == CUDA_SUCCESS);
    CUDA_MEMCPY2D copy = {};
    copy.srcMemoryType = CU_MEMORYTYPE_HOST;
    copy.srcHost = from.data();
    copy.srcPitch = 8;
    copy.srcXInBytes = 2;
    copy.srcY = 1;
    copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    copy.dstDevice = pointer;
    copy.dstPitch = 512;
    copy.WidthInBytes = 4;
    copy.Height = 3;
    CHECK(cuda().cuMemcpy2D(&copy) == CUDA_SUCCESS);
    std::vector<unsigned char> back(1028);
    REQUIRE(cuda().cuMemcpyDtoH(back.data(), pointer, back.size()) == CUDA_SUCCESS);
    CHECK(back[0] == 10);
    CHECK(back[3] == 13);
    CHECK(back[4] == 255);
    CHECK(back[512] == 18);
    CHECK(back[1027] == 29);
}

TEST_CASE("a kernel that reaches where nothing is ends the context") {
    if (!is_software()) return;  // on a real GPU this would end the test's process as well
    const PrimaryContext context;
    const Kernels code;
    CHECK(add1(code, 0x1000, 1, nullptr) == CUDA_SUCCESS);
    CHECK(cuda().cuCtxSynchronize() == CUDA_ERROR_ILLEGAL_ADDRESS);
    CUdeviceptr pointer = 0;
    CHECK(cuda().cuMemAlloc(&pointer, 100) == CUDA_ERROR_ILLEGAL_ADDRESS);
}

TEST_CASE("modules are found wanting with the right error") {
    const PrimaryContext context;
    CUmodule module = nullptr;
    CHECK(cuda().cuModuleLoadData(&module, "no code") == CUDA_ERROR_INVALID_IMAGE);
    REQUIRE(cuda().cuModuleLoadData(&module, kernels()) == CUDA_SUCCESS);
    CUfunction function = nullptr;
    CHECK(cuda().cuModuleGetFunction(&function, module, "missing") == CUDA_ERROR_NOT_FOUND);
    CHECK(cuda().cuModuleUnload(module) == CUDA_SUCCESS);
}

TEST_CASE("a thousand launches from four threads are all done") {
    const PrimaryContext context;
    const Kernels code;
    CUdeviceptr pointer = 0;
    REQUIRE(cuda().cuMemAlloc(&pointer, 16) == CUDA_SUCCESS);
    REQUIRE(cuda().cuMemsetD32(pointer, 0, 4) == CUDA_SUCCESS);
    CUcontext current = nullptr;
    REQUIRE(cuda().cuCtxGetCurrent(&current) == CUDA_SUCCESS);
    std::vector<std::thread> threads;
    for (unsigned int i = 0; i < 4; ++i)
        threads.emplace_back([&, i] {
            cuda().cuCtxSetCurrent(current);
            CUstream stream = nullptr;
            cuda().cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING);
            for (int n = 0; n < 250; ++n) add1(code, pointer + i * 4, 1, stream);
            cuda().cuStreamSynchronize(stream);
            cuda().cuStreamDestroy(stream);
        });
    for (std::thread& thread : threads) thread.join();
    CHECK(words_at(pointer, 4) == std::vector<std::uint32_t>(4, 250));
}
