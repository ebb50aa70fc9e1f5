// SPDX-License-Identifier: Apache-2.0
#include "vgpu/software_driver/work/launch.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "vgpu/device/slices.h"
#include "vgpu/software_driver/driver.h"
#include "vgpu/software_driver/memory/allocate.h"

namespace berth::vgpu::software_driver {
namespace {

constexpr std::uint64_t kStartNs = 2000;       // what any kernel takes
constexpr std::uint64_t kMemoryBytesPerNs = 2000;

// Each argument in eight bytes of its own, zero-extended.
using Arguments = std::vector<std::uint64_t>;

std::optional<Arguments> from_pointers(const Entry& entry, void** parameters) {
    Arguments arguments(entry.parameter_bytes.size());
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        if (parameters[i] == nullptr) return std::nullopt;
        std::memcpy(&arguments[i], parameters[i],
                    std::min<std::size_t>(8, entry.parameter_bytes[i]));
    }
    return arguments;
}

// A list of key, value, key, value ... end.
std::optional<Arguments> from_extra(const Entry& entry, void** extra) {
    const char* buffer = nullptr;
    std::size_t size = 0;
    for (; *extra != cu_launch_param_end(); extra += 2) {
        if (extra[0] == cu_launch_param_buffer_pointer())
            buffer = static_cast<const char*>(extra[1]);
        else if (extra[0] == cu_launch_param_buffer_size())
            std::memcpy(&size, extra[1], sizeof(size));
        else
            return std::nullopt;
    }
    Arguments arguments;
    std::size_t at = 0;
    for (const std::size_t bytes : entry.parameter_bytes) {
        at = (at + bytes - 1) / bytes * bytes;
        if (buffer == nullptr || at + bytes > size) return std::nullopt;
        std::memcpy(&arguments.emplace_back(), buffer + at, std::min<std::size_t>(8, bytes));
        at += bytes;
    }
    return arguments;
}

std::optional<Arguments> read_arguments(const Entry& entry, const Launch& launch) {
    if (entry.parameter_bytes.empty()) return Arguments{};
    if (launch.parameters != nullptr) return from_pointers(entry, launch.parameters);
    if (launch.extra != nullptr) return from_extra(entry, launch.extra);
    return std::nullopt;
}

// Runs body(words) on GPU memory; memory that is not there ends the context, as on a GPU.
template <class Body>
void touch(Driver& driver, const Context* context, CUdeviceptr pointer, std::uint64_t count,
           Body body) {
    if (count == 0) return;
    if (driver.memory.behind(pointer, count * 4) == AddressSpace::Behind::Nothing) {
        if (Context* failed = driver.contexts.find(context); failed != nullptr)
            failed->error = CUDA_ERROR_ILLEGAL_ADDRESS;
        return;
    }
    if (void* words = contents_at(driver, pointer, count * 4); words != nullptr)
        body(static_cast<char*>(words));
}

void add1(char* words, std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i) {
        std::uint32_t word = 0;
        std::memcpy(&word, words + i * 4, 4);
        ++word;
        std::memcpy(words + i * 4, &word, 4);
    }
}

void fill(char* words, std::uint64_t count, std::uint64_t value) {
    for (std::uint64_t i = 0; i < count; ++i) std::memcpy(words + i * 4, &value, 4);
}

std::function<void()> effect_of(Driver& driver, const Context* context, Behaviour behaviour,
                                const Arguments& a) {
    switch (behaviour) {
        case Behaviour::TakesTime:
        case Behaviour::Spin: return nullptr;
        case Behaviour::Add1:
            return [&driver, context, a] {
                touch(driver, context, a[0], a[1], [&](char* words) { add1(words, a[1]); });
            };
        case Behaviour::Fill:
            return [&driver, context, a] {
                touch(driver, context, a[0], a[2], [&](char* words) { fill(words, a[2], a[1]); });
            };
        case Behaviour::Copy:
            return [&driver, context, a] {
                touch(driver, context, a[0], a[2], [&](char* to) {
                    touch(driver, context, a[1], a[2],
                          [&](const char* from) { std::memmove(to, from, a[2] * 4); });
                });
            };
    }
    return nullptr;
}

std::uint64_t duration_ns(const Driver& driver, Behaviour behaviour, const Arguments& a) {
    switch (behaviour) {
        case Behaviour::TakesTime: return driver.description().kernel_ns;
        case Behaviour::Spin: return std::max<std::uint64_t>(a[0], 1);
        case Behaviour::Add1: return kStartNs + a[1] * 8 / kMemoryBytesPerNs;
        case Behaviour::Fill: return kStartNs + a[2] * 4 / kMemoryBytesPerNs;
        case Behaviour::Copy: return kStartNs + a[2] * 8 / kMemoryBytesPerNs;
    }
    return kStartNs;
}

// As many multiprocessors as the grid has blocks, one block on each.
std::uint32_t permille_of(Driver& driver, const Launch& launch) {
    const Context* context = current_context(driver);
    const std::uint32_t unit =
        context == nullptr ? 0 : driver.gpus[static_cast<std::size_t>(context->device)].number;
    const std::uint64_t sms = device::sms_of(driver.description(), unit);
    const std::uint64_t wanted = std::min(launch.grid.product(), sms);
    return static_cast<std::uint32_t>(std::max<std::uint64_t>(1, wanted * 1000 / sms));
}

bool is_valid(const Launch& launch) {
    return launch.grid.product() != 0 && launch.block.product() != 0 &&
           launch.block.product() <= 1024;
}

}  // namespace

CUresult make_kernel(Driver& driver, const Launch& launch, Operation& kernel) {
    const Function* function = driver.functions.find(launch.function);
    if (function == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    if (!is_valid(launch)) return CUDA_ERROR_INVALID_VALUE;
    const Entry& entry = function->entry;
    const auto arguments = read_arguments(entry, launch);
    if (!arguments) return CUDA_ERROR_INVALID_VALUE;
    kernel.kind = Operation::Kind::Kernel;
    kernel.node_type = CU_GRAPH_NODE_TYPE_KERNEL;
    kernel.duration_ns = duration_ns(driver, entry.behaviour, *arguments);
    kernel.permille = permille_of(driver, launch);
    kernel.effect = effect_of(driver, current_context(driver), entry.behaviour, *arguments);
    return CUDA_SUCCESS;
}

}  // namespace berth::vgpu::software_driver
