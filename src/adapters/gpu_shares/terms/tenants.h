// SPDX-License-Identifier: Apache-2.0
//
// Which tenants does an attempt need, and with what terms? One for each node on which it shares
// GPUs; its tasks there use what they were given together. Pure.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ports/gpu_inventory.h"
#include "ports/launcher.h"

namespace berth::gpu_shares {

// A GPU as it can be shared.
struct Gpu {
    std::string node;
    int index = 0;
    std::string uuid;
    base::Bytes memory{0};   // that the driver leaves; 0 = not known
    base::Bytes context{0};  // what each context of the driver takes of it
    std::string visible_as = {};  // ports::GpuReading
    std::string pci_address = {};  // ports::GpuReading
    bool takes_one_process = false;  // ports::GpuReading
};

struct MemoryLimit {
    std::string pci_address;
    base::Bytes bytes{-1};  // negative = none

    bool operator==(const MemoryLimit&) const = default;
};

struct Tenant {
    std::string name;
    std::string node;
    std::string order;  // to the arbiter: "tenant NAME gpus=..."
    std::string gpus = {};  // their UUIDs, "GPU-1,GPU-2"
    std::vector<MemoryLimit> limits = {};
    base::MilliGpu share{0};  // of the time of each of its GPUs, at most
    bool may_leave = false;  // it borrows memory or may be parked: off its GPUs at any time
    // Of one that may share its GPU in turns: the GPU's UUID and memory; empty = it is in no
    // rotation.
    std::string rotation = {};
    base::Bytes rotation_memory{0};
};

// Names each task's GPUs to its processes where their indices would be other GPUs.
void name_devices(ports::LaunchOrder& order, const std::vector<Gpu>& gpus);

// Whether any task has less than the whole of a GPU, or is to be measured on whole ones: since it
// may share one, or with BERTH_PROFILE=1 in the job's environment.
bool shares(const ports::LaunchOrder& order);

// Whether it needs tenants: it shares, or may be parked and its calls to GPUs are to be noted.
bool has_tenants(const ports::LaunchOrder& order);

// Errors: Unavailable when a GPU's identity is not known, or it takes one process at a time.
base::Result<std::vector<Tenant>> tenants_of(const ports::LaunchOrder& order,
                                             const std::vector<Gpu>& gpus);

// What an attempt that runs is held to from now on, by node: words of an order to the arbiter,
// " gpus=UUID:12288M share=0.5 cap=1". Errors: Unavailable when a GPU's identity is not known.
base::Result<std::map<std::string, std::string>> changed_terms(
    std::span<const ports::TaskLaunch> tasks, const std::vector<Gpu>& gpus);
// The order with those words in the place of others of the same term.
std::string with_terms(std::string_view order, std::string_view terms);

// "7.2": job 7, attempt 2; the prefix of its tenants' names.
std::string name_of(ports::AttemptId attempt);

}  // namespace berth::gpu_shares
