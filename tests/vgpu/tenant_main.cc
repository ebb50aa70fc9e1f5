// SPDX-License-Identifier: Apache-2.0
//
// The process behind Tenant. Commands, a line each, and what is answered after the result:
//
//   init                      cuInit
//   context                   the first GPU's primary context, current
//   alloc BYTES               pointer
//   free POINTER
//   info                      free and total bytes
//   put POINTER VALUE COUNT   fills u32
//   get POINTER               one u32
//   sum POINTER COUNT         of COUNT u32, each times its place
//   spin NS COUNT             COUNT kernels of such a length, waited for
//   launch NS                 one such kernel, not waited for
//   work NS MS [BLOCKS]       kernels of such a length for MS; how many were done
//   managed BYTES             pointer
//   export POINTER            hexadecimal handle for another process
//   import HANDLE             pointer
//   lookup NAME VERSION FLAGS status, and the exported name of what was found
//   churn                     allocates and frees at random until killed
//   checkpoint PID            locks it, too: both results, and the state it is then in
//   exec                      becomes a fresh tenant, which says "again"
//   timed NS COUNT            milliseconds between events around COUNT kernels
//   fork                      what a forked child gets from cuMemAlloc
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <functional>
#include <iostream>
#include <map>
#include <random>
#include <sstream>
#include <vector>

#include "vgpu/api.h"

using namespace berth::test_vgpu;

namespace {

using Clock = std::chrono::steady_clock;

CUfunction spin_kernel() {
    static CUfunction function = nullptr;
    CUmodule module = nullptr;
    if (function == nullptr && cuda().cuModuleLoadData(&module, kernels()) == CUDA_SUCCESS)
        cuda().cuModuleGetFunction(&function, module, "berth_spin_ns");
    return function;
}

CUresult launch_spin(unsigned long long ns, unsigned int blocks = 1024, CUstream stream = nullptr) {
    void* parameters[] = {&ns};
    return cuda().cuLaunchKernel(spin_kernel(), blocks, 1, 1, 64, 1, 1, 0, stream, parameters,
                                 nullptr);
}

std::string context(std::istream&) {
    CUcontext handle = nullptr;
    const CUresult result = cuda().cuDevicePrimaryCtxRetain(&handle, 0);
    if (result == CUDA_SUCCESS) cuda().cuCtxSetCurrent(handle);
    return std::to_string(result);
}

std::string with_pointer(CUresult result, CUdeviceptr pointer) {
    return std::to_string(result) + " " + std::to_string(pointer);
}

std::string alloc(std::istream& in) {
    std::size_t bytes = 0;
    in >> bytes;
    CUdeviceptr pointer = 0;
    const CUresult result = cuda().cuMemAlloc(&pointer, bytes);
    return with_pointer(result, pointer);
}

std::string managed(std::istream& in) {
    std::size_t bytes = 0;
    in >> bytes;
    CUdeviceptr pointer = 0;
    const CUresult result = cuda().cuMemAllocManaged(&pointer, bytes, CU_MEM_ATTACH_GLOBAL);
    return with_pointer(result, pointer);
}

std::string free_memory(std::istream& in) {
    CUdeviceptr pointer = 0;
    in >> pointer;
    return std::to_string(cuda().cuMemFree(pointer));
}

std::string info(std::istream&) {
    std::size_t free = 0;
    std::size_t total = 0;
    const CUresult result = cuda().cuMemGetInfo(&free, &total);
    return std::to_string(result) + " " + std::to_string(free) + " " + std::to_string(total);
}

std::string put(std::istream& in) {
    CUdeviceptr pointer = 0;
    unsigned int value = 0;
    std::size_t count = 0;
    in >> pointer >> value >> count;
    return std::to_string(cuda().cuMemsetD32(pointer, value, count));
}

std::string get(std::istream& in) {
    CUdeviceptr pointer = 0;
    in >> pointer;
    unsigned int value = 0;
    const CUresult result = cuda().cuMemcpyDtoH(&value, pointer, sizeof(value));
    return std::to_string(result) + " " + std::to_string(value);
}

std::string sum(std::istream& in) {
    CUdeviceptr pointer = 0;
    std::size_t count = 0;
    in >> pointer >> count;
    std::vector<unsigned int> values(count);
    const CUresult result = cuda().cuMemcpyDtoH(values.data(), pointer, count * sizeof(values[0]));
    unsigned long long sum = 0;
    for (std::size_t i = 0; i < count; ++i) sum += (i + 1) * values[i];
    return std::to_string(result) + " " + std::to_string(sum);
}

std::string spin(std::istream& in) {
    unsigned long long ns = 0;
    int count = 0;
    in >> ns >> count;
    for (int i = 0; i < count; ++i)
        if (const CUresult result = launch_spin(ns); result != CUDA_SUCCESS)
            return std::to_string(result);
    return std::to_string(cuda().cuCtxSynchronize());
}

std::string launch_one(std::istream& in) {
    unsigned long long ns = 0;
    in >> ns;
    return std::to_string(launch_spin(ns));
}

// Enough kernels are always queued that the GPU does not wait for this process.
std::string work(std::istream& in) {
    unsigned long long ns = 0;
    int ms = 0;
    unsigned int blocks = 1024;
    in >> ns >> ms;
    if (unsigned int wanted = 0; in >> wanted) blocks = wanted;
    CUevent events[64] = {};
    for (CUevent& event : events) {
        cuda().cuEventCreate(&event, CU_EVENT_DISABLE_TIMING);
        launch_spin(ns, blocks);
        cuda().cuEventRecord(event, nullptr);
    }
    const auto end = Clock::now() + std::chrono::milliseconds(ms);
    int done = 0;
    for (; Clock::now() < end; ++done) {
        CUevent event = events[done % 64];
        if (const CUresult result = cuda().cuEventSynchronize(event); result != CUDA_SUCCESS)
            return std::to_string(result);
        launch_spin(ns, blocks);
        cuda().cuEventRecord(event, nullptr);
    }
    return std::to_string(cuda().cuCtxSynchronize()) + " " + std::to_string(done);
}

std::string export_memory(std::istream& in) {
    CUdeviceptr pointer = 0;
    in >> pointer;
    CUipcMemHandle handle = {};
    std::string text = std::to_string(cuda().cuIpcGetMemHandle(&handle, pointer)) + " ";
    for (const char byte : handle.reserved) {
        char digits[3];
        std::snprintf(digits, sizeof(digits), "%02x", static_cast<unsigned char>(byte));
        text += digits;
    }
    return text;
}

std::string import_memory(std::istream& in) {
    std::string text;
    in >> text;
    CUipcMemHandle handle = {};
    for (std::size_t i = 0; i < sizeof(handle.reserved); ++i)
        handle.reserved[i] = static_cast<char>(std::stoi(text.substr(2 * i, 2), nullptr, 16));
    CUdeviceptr pointer = 0;
    const CUresult result =
        cuda().cuIpcOpenMemHandle(&pointer, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS);
    return with_pointer(result, pointer);
}

std::string lookup(std::istream& in) {
    std::string name;
    int version = 0;
    cuuint64_t flags = 0;
    in >> name >> version >> flags;
    auto status = CU_GET_PROC_ADDRESS_SUCCESS;
    CUresult result = CUDA_SUCCESS;
    void* function = cuda().find(name.c_str(), version, flags, &status, &result);
    Dl_info found = {};
    const bool is_named = function != nullptr && ::dladdr(function, &found) != 0;
    return std::to_string(result) + " " + std::to_string(status) + " " +
           (is_named ? found.dli_sname : "nothing");
}

std::string churn(std::istream&) {
    std::mt19937 dice(static_cast<unsigned int>(::getpid()));
    std::vector<CUdeviceptr> mine;
    for (;;) {
        CUdeviceptr pointer = 0;
        const std::size_t bytes = std::size_t{1} << (dice() % 27);
        const bool has = (dice() % 4 == 0 ? cuda().cuMemAllocAsync(&pointer, bytes, nullptr)
                                          : cuda().cuMemAlloc(&pointer, bytes)) == CUDA_SUCCESS;
        if (has) mine.push_back(pointer);
        if (mine.empty() || (has && dice() % 2 == 0)) continue;
        const std::size_t one = dice() % mine.size();
        cuda().cuMemFree(mine[one]);
        mine[one] = mine.back();
        mine.pop_back();
    }
}

std::string checkpoint(std::istream& in) {
    int pid = 0;
    in >> pid;
    const auto lock = cuda().find_as<decltype(cuCheckpointProcessLock)>("cuCheckpointProcessLock");
    const auto save =
        cuda().find_as<decltype(cuCheckpointProcessCheckpoint)>("cuCheckpointProcessCheckpoint");
    const auto get_state =
        cuda().find_as<decltype(cuCheckpointProcessGetState)>("cuCheckpointProcessGetState");
    auto state = CU_PROCESS_STATE_RUNNING;
    const CUresult locked = lock(pid, nullptr);
    const CUresult saved = save(pid, nullptr);
    get_state(pid, &state);
    return std::to_string(locked) + " " + std::to_string(saved) + " " + std::to_string(state);
}

std::string become_fresh(std::istream&) {
    ::execl("/proc/self/exe", "vgpu_tenant", "again", nullptr);
    return "-1";
}

// The ms between two events when the last of this was done.
std::string between(CUevent begin, CUevent end) {
    float ms = 0;
    cuda().cuEventSynchronize(end);
    const CUresult result = cuda().cuEventElapsedTime(&ms, begin, end);
    return std::to_string(result) + " " + std::to_string(ms);
}

std::string timed(std::istream& in) {
    unsigned long long ns = 0;
    int count = 0;
    in >> ns >> count;
    CUevent begin = nullptr;
    CUevent end = nullptr;
    for (CUevent* event : {&begin, &end}) cuda().cuEventCreate(event, CU_EVENT_DEFAULT);
    cuda().cuEventRecord(begin, nullptr);
    for (int i = 0; i < count; ++i) launch_spin(ns);
    cuda().cuEventRecord(end, nullptr);
    return between(begin, end);
}

std::string beside(std::istream& in) {
    unsigned long long ns = 0;
    in >> ns;
    CUstream streams[2] = {};
    CUevent begin = nullptr;
    CUevent end = nullptr;
    for (CUevent* event : {&begin, &end}) cuda().cuEventCreate(event, CU_EVENT_DEFAULT);
    for (CUstream& stream : streams) cuda().cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING);
    cuda().cuEventRecord(begin, streams[0]);
    for (CUstream stream : streams) launch_spin(ns, 1, stream);
    CUevent last = nullptr;
    cuda().cuEventCreate(&last, CU_EVENT_DISABLE_TIMING);
    cuda().cuEventRecord(last, streams[1]);
    cuda().cuStreamWaitEvent(streams[0], last, 0);
    cuda().cuEventRecord(end, streams[0]);
    return between(begin, end);
}

std::string copied(std::istream& in) {
    std::size_t bytes = 0;
    in >> bytes;
    void* host = nullptr;
    CUdeviceptr pointer = 0;
    CUevent begin = nullptr;
    CUevent end = nullptr;
    cuda().cuMemAllocHost(&host, bytes);
    cuda().cuMemAlloc(&pointer, bytes);
    for (CUevent* event : {&begin, &end}) cuda().cuEventCreate(event, CU_EVENT_DEFAULT);
    cuda().cuEventRecord(begin, nullptr);
    cuda().cuMemcpyHtoDAsync(pointer, host, bytes, nullptr);
    cuda().cuEventRecord(end, nullptr);
    const std::string took = between(begin, end);
    cuda().cuMemFreeHost(host);
    return took;
}

std::string fork_child(std::istream&) {
    const pid_t child = ::fork();
    if (child == 0) {
        CUdeviceptr pointer = 0;
        ::_exit(static_cast<int>(cuda().cuMemAlloc(&pointer, 100)));
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return std::to_string(WIFEXITED(status) ? WEXITSTATUS(status) : -1);
}

}  // namespace

int main(int count, char**) {
    if (count > 1) std::cout << "again" << std::endl;
    const std::map<std::string, std::function<std::string(std::istream&)>> commands = {
        {"init", [](std::istream&) { return std::to_string(cuda().cuInit(0)); }},
        {"context", context},
        {"alloc", alloc},
        {"managed", managed},
        {"free", free_memory},
        {"info", info},
        {"put", put},
        {"get", get},
        {"sum", sum},
        {"spin", spin},
        {"launch", launch_one},
        {"work", work},
        {"export", export_memory},
        {"import", import_memory},
        {"lookup", lookup},
        {"churn", churn},
        {"checkpoint", checkpoint},
        {"exec", become_fresh},
        {"timed", timed},
        {"beside", beside},
        {"copied", copied},
        {"fork", fork_child},
    };
    std::string line;
    while (std::getline(std::cin, line)) {
        std::istringstream in(line);
        std::string command;
        in >> command;
        const auto found = commands.find(command);
        std::cout << (found == commands.end() ? "unknown" : found->second(in)) << std::endl;
    }
}
