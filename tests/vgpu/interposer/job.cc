// SPDX-License-Identifier: Apache-2.0
#include "vgpu/interposer/job.h"

#include <dlfcn.h>
#include <doctest/doctest.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <sstream>

namespace vgpu {

namespace {

std::string state_file() { return "/dev/shm/berth-gpus-" + std::to_string(::getpid()); }

// Before the arbiter starts, which may look at the GPUs itself.
std::vector<std::string> after_describing_gpus(std::vector<std::string> options,
                                               const std::string& gpus_are) {
    ::unlink(state_file().c_str());
    const std::string gpus = "state=" + state_file() + ";gpus=2;" + gpus_are +
                             ";reserved=0MiB;context=64MiB;contents=1GiB" +
                             ";uuids=" + GpuNode::uuid(0) + "," + GpuNode::uuid(1);
    ::setenv("BERTH_SOFTWARE_GPU", gpus.c_str(), 1);
    return options;
}

}  // namespace

GpuNode::GpuNode(const std::string& terms, std::vector<std::string> options,
                 const std::string& gpus_are)
    : Node(after_describing_gpus(std::move(options), gpus_are)), state_(state_file()) {
    tenant("job", terms);
    be("job");
}

GpuNode::~GpuNode() {
    be_nobody();
    ::unlink(state_.c_str());
}

std::string GpuNode::tenant(const std::string& name, const std::string& terms) const {
    return order("tenant " + name + " gpus=" + uuid(0) + " context=64M " + terms);
}

void GpuNode::be(const std::string& tenant) const {
    ::setenv("BERTH_VGPU_SOCKET", socket_of(tenant).c_str(), 1);
}

void GpuNode::be_nobody() { ::unsetenv("BERTH_VGPU_SOCKET"); }

std::string GpuNode::uuid(int gpu) {
    return "GPU-00000000-0000-0000-0000-00000000000" + std::to_string(gpu + 1);
}

void must(bool holds, const char* what, int line) {
    if (holds) return;
    std::fprintf(stderr, "in a child, line %d: %s does not hold\n", line, what);
    ::_exit(1);
}

Cuda::Cuda() : library_(::dlopen("libcuda.so.1", RTLD_NOW)) {
    const char* path = ::getenv("BERTH_VGPU_DRIVER");
    MUST(library_ != nullptr);
    MUST(path != nullptr);
    real_ = ::dlopen(path, RTLD_NOW | RTLD_LOCAL);
    MUST(real_ != nullptr);
}

void* Cuda::find(const char* name, int version, cuuint64_t flags) const {
    auto* const look_up =
        reinterpret_cast<decltype(&cuGetProcAddress_v2)>(::dlsym(library_, "cuGetProcAddress_v2"));
    MUST(look_up != nullptr);
    // As headers do: the newest of a name is asked for without its suffix.
    std::string plain = name;
    if (const std::size_t suffix = plain.find("_v"); suffix != std::string::npos)
        plain.resize(suffix);
    void* function = nullptr;
    CUdriverProcAddressQueryResult status{};
    if (look_up(plain.c_str(), &function, version, flags, &status) != CUDA_SUCCESS) {
        std::fprintf(stderr, "in a child: no %s\n", name);
        ::_exit(2);
    }
    return function;
}

std::uint64_t Cuda::really_used() const {
    auto* const ask =
        reinterpret_cast<decltype(&cuMemGetInfo_v2)>(::dlsym(real_, "cuMemGetInfo_v2"));
    std::size_t free = 0;
    std::size_t total = 0;
    MUST(ask(&free, &total) == CUDA_SUCCESS);
    return total - free;
}

CUcontext Cuda::use_device(int device) const {
    const Cuda& cuda = *this;
    CUcontext context = nullptr;
    MUST(CUDA(cuInit)(0) == CUDA_SUCCESS);
    MUST(CUDA(cuDevicePrimaryCtxRetain)(&context, device) == CUDA_SUCCESS);
    MUST(CUDA(cuCtxSetCurrent)(context) == CUDA_SUCCESS);
    return context;
}

void succeeds(int code) { CHECK(code == 0); }

bool is_charged(const GpuNode& node, const Cuda& cuda, std::uint64_t bytes) {
    return node.charged() == kContext + bytes && node.charged() == cuda.really_used();
}

int run(const std::function<void(const Cuda&)>& life) {
    return end_of(start([&] {
        const Cuda cuda;
        life(cuda);
        return 0;
    }));
}

CaughtErrors::CaughtErrors()
    : path_("/tmp/berth-errors-" + std::to_string(::getpid())), before_(::dup(STDERR_FILENO)) {
    const int file = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    ::dup2(file, STDERR_FILENO);
    ::close(file);
}

CaughtErrors::~CaughtErrors() { ::unlink(path_.c_str()); }

std::string CaughtErrors::text() const {
    ::dup2(before_, STDERR_FILENO);
    ::close(before_);
    std::stringstream all;
    all << std::ifstream(path_).rdbuf();
    return all.str();
}

}  // namespace vgpu
