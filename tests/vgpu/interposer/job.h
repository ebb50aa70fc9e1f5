// SPDX-License-Identifier: Apache-2.0
//
// A job's processes on a node whose GPUs are software. Each runs in a forked child of the test,
// which has the interposer preloaded and looks its driver up as a runtime does.
#pragma once

#include <functional>
#include <string>

#include "vgpu/abi/cuda.h"
#include "vgpu/arbiter/node.h"

namespace vgpu {

inline constexpr std::uint64_t kMiB = 1ULL << 20U;
inline constexpr std::uint64_t kContext = 64 * kMiB;

// Two GPUs, as vgpu/device/configuration.h describes them, and an arbiter with one tenant "job" on
// the first of them.
class GpuNode : public Node {
  public:
    explicit GpuNode(const std::string& terms, std::vector<std::string> options = {},
                     const std::string& gpus_are = "memory=4GiB");
    ~GpuNode();

    // Environment of the processes to come: members of this tenant; of none.
    void be(const std::string& tenant) const;
    static void be_nobody();
    std::uint64_t charged(const std::string& tenant = "job") const {
        return std::stoull(status(tenant, "charged"));
    }
    static std::string uuid(int gpu);
    std::string tenant(const std::string& name, const std::string& terms) const;

  private:
    std::string state_;
};

// Ends the child with 1 and says where, unless it holds.
void must(bool holds, const char* what, int line);
#define MUST(holds) ::vgpu::must((holds), #holds, __LINE__)

// The driver as a program sees it, by dlopen and cuGetProcAddress.
class Cuda {
  public:
    Cuda();

    // The function for a name, a version and flags; fails the child where there is none.
    template <class Function>
    Function* get(const char* name, int version = 12080, cuuint64_t flags = 0) const {
        return reinterpret_cast<Function*>(find(name, version, flags));
    }
    // What the GPU itself says is used, contexts and all, past the interposer.
    std::uint64_t really_used() const;
    CUcontext use_device(int device = 0) const;

    void* find(const char* name, int version, cuuint64_t flags) const;

  private:
    void* library_ = nullptr;
    void* real_ = nullptr;
};

#define CUDA(name) cuda.get<decltype(name)>(#name)

// Whether the job is charged one context and these bytes, which is what the GPU itself says.
bool is_charged(const GpuNode& node, const Cuda& cuda, std::uint64_t bytes);

// A job's process: its exit code.
int run(const std::function<void(const Cuda&)>& life);
// Its standard error says what did not hold.
void succeeds(int code);

// Standard error of the children goes to a file meanwhile.
class CaughtErrors {
  public:
    CaughtErrors();
    ~CaughtErrors();
    CaughtErrors(const CaughtErrors&) = delete;
    CaughtErrors& operator=(const CaughtErrors&) = delete;
    // Ends it.
    std::string text() const;

  private:
    std::string path_;
    int before_ = -1;
};

}  // namespace vgpu
