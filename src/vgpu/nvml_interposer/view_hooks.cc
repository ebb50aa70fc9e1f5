// SPDX-License-Identifier: Apache-2.0
//
// What of a GPU is shown to a job that shares it: its limit for the memory, its use for what is
// used, its own processes for those that run.
#include <stdlib.h>
#include <time.h>

#include <algorithm>

#include "vgpu/nvml_interposer/real_nvml.h"
#include "vgpu/nvml_interposer/tenant_view.h"

using namespace berth::vgpu::nvml_interposer;

namespace {

struct Uuid {
    char text[NVML_DEVICE_UUID_BUFFER_SIZE] = "";
};

bool read_uuid(nvmlDevice_t device, Uuid& uuid) {
    const auto ask = load_real_nvml().nvmlDeviceGetUUID;
    return ask != nullptr && ask(device, uuid.text, sizeof uuid.text) == NVML_SUCCESS;
}

template <class Memory>
void narrow(nvmlDevice_t device, Memory& memory) {
    Uuid uuid;
    Share share;
    if (!read_uuid(device, uuid) || !share_of(uuid.text, share)) return;
    memory.total = std::min<unsigned long long>(memory.total, share.limit);
    const unsigned long long left =
        memory.total - std::min<unsigned long long>(share.used, memory.total);
    memory.free = std::min(memory.free, left);
    memory.used = memory.total - left;
}

constexpr unsigned int kProcessesMax = 4096;

// Room for that many of what the driver answers; none where there is no host memory.
template <class Item>
class Room {
  public:
    Room() : items_(static_cast<Item*>(::calloc(kProcessesMax, sizeof(Item)))) {}
    ~Room() { ::free(items_); }
    Room(const Room&) = delete;
    Room& operator=(const Room&) = delete;

    Item* items() { return items_; }

  private:
    Item* items_;
};

// All that really run, with those of other jobs taken out. `fill` fills what it is given.
template <class Call, class Info, class Fill>
nvmlReturn_t own_processes(Call call, nvmlDevice_t device, unsigned int* count, Info* infos,
                           Fill fill) {
    Uuid uuid;
    Share share;
    if (count == nullptr || !read_uuid(device, uuid) || !share_of(uuid.text, share)) return call();
    Room<Info> all;
    if (all.items() == nullptr) return NVML_ERROR_UNKNOWN;
    unsigned int found = kProcessesMax;
    const nvmlReturn_t result = fill(device, &found, all.items());
    if (result != NVML_SUCCESS) return result;
    Info* const end = std::remove_if(all.items(), all.items() + found, [&](Info& info) {
        std::uint64_t bytes = 0;
        if (!is_member(uuid.text, info.pid, bytes)) return true;
        info.usedGpuMemory = bytes;
        return false;
    });
    const unsigned int room = infos == nullptr ? 0 : *count;
    *count = static_cast<unsigned int>(end - all.items());
    if (*count > room) return NVML_ERROR_INSUFFICIENT_SIZE;
    std::copy(all.items(), end, infos);
    return NVML_SUCCESS;
}

// Of samples of who used the GPU's time, those of the tenant; a count without them is of all.
template <class Sample>
nvmlReturn_t own_samples(nvmlDevice_t device, unsigned int& count, Sample* samples) {
    Uuid uuid;
    Share share;
    if (samples == nullptr || !read_uuid(device, uuid) || !share_of(uuid.text, share))
        return NVML_SUCCESS;
    Sample* const end = std::remove_if(samples, samples + count, [&](const Sample& sample) {
        std::uint64_t bytes = 0;
        return !is_member(uuid.text, sample.pid, bytes);
    });
    count = static_cast<unsigned int>(end - samples);
    return count == 0 ? NVML_ERROR_NOT_FOUND : NVML_SUCCESS;
}

std::uint64_t realtime_us() {
    timespec time{};
    ::clock_gettime(CLOCK_REALTIME, &time);
    return static_cast<std::uint64_t>(time.tv_sec * 1'000'000 + time.tv_nsec / 1000);
}

// The newest samples of the tenant's processes in the last second, together, and no more than the
// GPU's own figures. Those stay where the driver samples no processes.
void narrow(nvmlDevice_t device, nvmlUtilization_t& use) {
    constexpr std::uint64_t kLookedBackUs = 1'000'000;
    const auto ask = load_real_nvml().nvmlDeviceGetProcessUtilization;
    Uuid uuid;
    Share share;
    if (ask == nullptr || !read_uuid(device, uuid) || !share_of(uuid.text, share)) return;
    using Sample = nvmlProcessUtilizationSample_t;
    Room<Sample> samples;
    if (samples.items() == nullptr) return;
    unsigned int count = kProcessesMax;
    const nvmlReturn_t result = ask(device, samples.items(), &count, realtime_us() - kLookedBackUs);
    if (result == NVML_ERROR_NOT_FOUND) count = 0;
    if (result != NVML_SUCCESS && result != NVML_ERROR_NOT_FOUND) return;
    Sample* const end = samples.items() + std::min(count, kProcessesMax);
    // By process, the newest first.
    std::sort(samples.items(), end, [](const Sample& one, const Sample& other) {
        return one.pid != other.pid ? one.pid < other.pid : one.timeStamp > other.timeStamp;
    });
    nvmlUtilization_t own{};
    const Sample* before = nullptr;
    for (const Sample* sample = samples.items(); sample != end; before = sample++) {
        std::uint64_t bytes = 0;
        const bool is_newest = before == nullptr || before->pid != sample->pid;
        if (!is_newest || !is_member(uuid.text, sample->pid, bytes)) continue;
        own.gpu += sample->smUtil;
        own.memory += sample->memUtil;
    }
    use = {std::min(use.gpu, own.gpu), std::min(use.memory, own.memory)};
}

template <class Call>
nvmlReturn_t initialize(Call call) {
    join_tenant();
    return call();
}

template <class Call, class Answer>
nvmlReturn_t narrow_answer(Call call, nvmlDevice_t device, Answer* answer) {
    const nvmlReturn_t result = call();
    if (result == NVML_SUCCESS) narrow(device, *answer);
    return result;
}

template <class Call>
nvmlReturn_t narrow_samples(Call call, nvmlDevice_t device, nvmlProcessUtilizationSample_t* samples,
                            unsigned int* count) {
    const nvmlReturn_t result = call();
    return result == NVML_SUCCESS ? own_samples(device, *count, samples) : result;
}

template <class Call>
nvmlReturn_t narrow_list(Call call, nvmlDevice_t device, nvmlProcessesUtilizationInfo_v1_t* info) {
    const nvmlReturn_t result = call();
    if (result != NVML_SUCCESS) return result;
    return own_samples(device, info->processSamplesCount, info->procUtilArray);
}

template <class Call, class Ask>
nvmlReturn_t own_process_list(Call call, nvmlDevice_t device, nvmlProcessDetailList_v1_t* list,
                              Ask ask) {
    if (list == nullptr) return call();
    const auto fill = [&](nvmlDevice_t of, unsigned int* count, nvmlProcessDetail_v1_t* details) {
        nvmlProcessDetailList_v1_t asked{list->version, list->mode, *count, details};
        const nvmlReturn_t result = ask(of, &asked);
        *count = asked.numProcArrayEntries;
        return result;
    };
    return own_processes(call, device, &list->numProcArrayEntries, list->procArray, fill);
}

}  // namespace

#include "vgpu/nvml_interposer/generated/view_hooks.inc"
