// SPDX-License-Identifier: Apache-2.0
#include "vgpu/software_driver/driver.h"

#include <pthread.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <thread>

#include "vgpu/device/memory.h"
#include "vgpu/device/processes.h"
#include "vgpu/device/slices.h"

namespace berth::vgpu::software_driver {
namespace {

constexpr int kNewestVersion = 13040;
std::atomic<Driver*> the_driver = nullptr;
std::atomic<bool> is_forked = false;
std::mutex initialising;

// The driver of the parent is of no use to a forked child, as with the real one.
void after_fork() {
    if (the_driver.exchange(nullptr) != nullptr) is_forked = true;
}

// A GPU that is cut stands for its first slice.
std::uint32_t whole_or_slice(const device::Description& description, std::uint32_t gpu) {
    for (std::uint32_t slice = description.gpus; slice < device::units(description); ++slice)
        if (device::gpu_of(description, slice) == gpu) return slice;
    return gpu;
}

// One entry of CUDA_VISIBLE_DEVICES, an index or the begin of a UUID; kNobody for no GPU.
std::uint32_t find_gpu(const device::Description& description, std::string_view wanted) {
    for (std::uint32_t unit = 0; unit < device::units(description); ++unit) {
        const std::string uuid = device::uuid_of(description, unit);
        const bool is_uuid = wanted.size() > 4 && uuid.starts_with(wanted);
        const bool is_index = unit < description.gpus && wanted == std::to_string(unit);
        if (is_uuid && unit >= description.gpus) return unit;
        if (is_uuid || is_index) return whole_or_slice(description, unit);
    }
    return device::kNobody;
}

// GPUs that are whole; where there is none, the first slice.
std::vector<std::uint32_t> all_gpus(const device::Description& description) {
    std::vector<std::uint32_t> numbers;
    for (std::uint32_t gpu = 0; gpu < description.gpus; ++gpu)
        if (!device::is_cut(description, gpu)) numbers.push_back(gpu);
    if (numbers.empty()) numbers.push_back(description.gpus);
    return numbers;
}

// As the real driver reads it: the first entry that names no GPU ends the list, and a slice is all
// that a process sees.
std::vector<std::uint32_t> visible_gpus(const device::Description& description) {
    std::vector<std::uint32_t> numbers;
    const char* variable = std::getenv("CUDA_VISIBLE_DEVICES");
    if (variable == nullptr) return all_gpus(description);
    std::string_view text = variable;
    while (!text.empty()) {
        const auto comma = text.find(',');
        const std::uint32_t gpu = find_gpu(description, text.substr(0, comma));
        if (gpu == device::kNobody) break;
        const bool is_slice = device::is_slice(description, gpu);
        if (is_slice && !numbers.empty()) break;
        numbers.push_back(gpu);
        if (is_slice) break;
        text = comma == std::string_view::npos ? std::string_view{} : text.substr(comma + 1);
    }
    return numbers;
}

CUresult refuse(const std::string& reason) {
    std::fprintf(stderr, "berth software driver: %s\n", reason.c_str());
    return CUDA_ERROR_NO_DEVICE;
}

void add_gpus(Driver& driver, const std::vector<std::uint32_t>& numbers) {
    for (const std::uint32_t number : numbers) {
        const auto device = static_cast<CUdevice>(driver.gpus.size());
        Gpu& gpu = driver.gpus.emplace_back();
        gpu.number = number;
        gpu.small = std::make_unique<Arena>(driver.memory, device, number, device::kPageBytes);
        gpu.default_pool = driver.pools.add(
            std::make_unique<MemoryPool>(driver.memory, device, number, kPoolBlockBytes));
        gpu.default_pool->is_default = true;
        gpu.current_pool = gpu.default_pool;
    }
}

}  // namespace

Driver* current_driver() { return the_driver.load(std::memory_order_acquire); }

CUresult initialise_driver() {
    const std::lock_guard lock(initialising);
    if (the_driver.load() != nullptr) return CUDA_SUCCESS;
    if (is_forked) return CUDA_ERROR_NOT_INITIALIZED;
    const auto configuration = device::from_environment();
    if (!configuration) return refuse(configuration.error());
    auto state = device::SharedState::attach(*configuration);
    if (!state) return refuse(state.error());
    const auto numbers = visible_gpus(configuration->description);
    if (numbers.empty()) return CUDA_ERROR_NO_DEVICE;
    const std::uint32_t process = device::enrol(**state);
    if (process == device::kNobody)
        return refuse("more than " + std::to_string(device::kProcessesMax) + " processes");
    auto driver = std::make_unique<Driver>();
    driver->state = std::move(*state);
    driver->process = process;
    driver->memory.attach(*driver->state, process);
    // A process on a slice cannot be checkpointed.
    if (device::is_slice(configuration->description, numbers[0])) driver->record().is_unmovable = 1;
    add_gpus(*driver, numbers);
    ::pthread_atfork(nullptr, nullptr, after_fork);
    the_driver.store(driver.release(), std::memory_order_release);
    return CUDA_SUCCESS;
}

int driver_version() {
    static std::atomic<int> known = 0;
    if (known != 0) return known;
    const auto configuration = device::from_environment();
    if (!configuration) return kNewestVersion;
    known = static_cast<int>(configuration->description.driver_version);
    return known;
}

Gate::Gate(Driver& driver) : driver_(driver) {
    device::Process& record = driver.record();
    for (;;) {
        record.calls.fetch_add(1);
        if (record.state.load() == device::CheckpointState::Running) return;
        record.calls.fetch_sub(1);
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
}

Gate::~Gate() { driver_.record().calls.fetch_sub(1); }

}  // namespace berth::vgpu::software_driver
