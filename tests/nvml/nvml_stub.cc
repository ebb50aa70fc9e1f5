// SPDX-License-Identifier: Apache-2.0
//
// A stand-in for NVIDIA's library in tests: the GPUs of BERTH_NVML_STUB_GPUS, names separated by
// ';'. GPUs with SXM in their name are joined by NVLink, neighbours share a PCIe switch. "lost" is
// a GPU that has fallen off the bus, "plain" one that measures nothing.
#include <cstdlib>
#include <string>
#include <vector>

namespace {

struct Gpu {
    std::string name;
    unsigned int index = 0;
};

std::vector<Gpu> gpus;

constexpr int kNotFound = 6;
constexpr int kDriverNotLoaded = 9;
constexpr int kLost = 15;
constexpr int kUnsupported = 3;

int refusal(const Gpu* gpu) {
    return gpu->name == "lost" ? kLost : gpu->name == "plain" ? kUnsupported : 0;
}

int write_text(const std::string& text, char* to, unsigned int size) {
    to[text.copy(to, size - 1)] = 0;
    return 0;
}

}  // namespace

extern "C" {

int nvmlInit_v2() {
    const char* list = std::getenv("BERTH_NVML_STUB_GPUS");
    if (list == nullptr) return kDriverNotLoaded;
    gpus.clear();
    std::string rest = list;
    while (!rest.empty()) {
        const std::size_t end = rest.find(';');
        gpus.push_back({rest.substr(0, end), static_cast<unsigned int>(gpus.size())});
        rest.erase(0, end == std::string::npos ? rest.size() : end + 1);
    }
    return 0;
}

int nvmlShutdown() { return 0; }

const char* nvmlErrorString(int result) {
    return result == kDriverNotLoaded ? "Driver Not Loaded" : "Unknown Error";
}

int nvmlDeviceGetCount_v2(unsigned int* count) {
    *count = static_cast<unsigned int>(gpus.size());
    return 0;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned int index, Gpu** device) {
    if (index >= gpus.size()) return kNotFound;
    *device = &gpus[index];
    return 0;
}

int nvmlDeviceGetName(Gpu* gpu, char* name, unsigned int size) {
    return refusal(gpu) == kLost ? kLost : write_text(gpu->name, name, size);
}

int nvmlDeviceGetUUID(Gpu* gpu, char* uuid, unsigned int size) {
    return write_text("GPU-" + std::to_string(gpu->index), uuid, size);
}

int nvmlDeviceGetMemoryInfo(Gpu* gpu, unsigned long long* memory) {
    memory[0] = (80ULL + gpu->index) << 30;
    memory[1] = memory[0] - (5ULL << 30);
    memory[2] = 5ULL << 30;
    return refusal(gpu);
}

// The second structure of the kind: version, total, reserved, free, used.
int nvmlDeviceGetMemoryInfo_v2(Gpu* gpu, unsigned long long* memory) {
    if (static_cast<unsigned int>(memory[0]) != (40U | 2U << 24)) return 25;  // what is that?
    memory[1] = (80ULL + gpu->index) << 30;
    memory[2] = 600ULL << 20;
    memory[3] = memory[1] - (5ULL << 30);
    memory[4] = (5ULL << 30) - memory[2];
    return refusal(gpu);
}

int nvmlDeviceGetUtilizationRates(Gpu* gpu, unsigned int* rates) {
    rates[0] = 70 + gpu->index;
    rates[1] = 10;
    return refusal(gpu);
}

int nvmlDeviceGetPowerUsage(Gpu* gpu, unsigned int* milliwatts) {
    *milliwatts = 350'600;
    return refusal(gpu);
}

int nvmlDeviceGetTopologyCommonAncestor(Gpu* one, Gpu* other, int* level) {
    *level = one->index / 2 == other->index / 2 ? 10 : 50;
    return refusal(one) != 0 ? refusal(one) : refusal(other);
}

int nvmlDeviceGetP2PStatus(Gpu* one, Gpu* other, int, int* status) {
    const auto is_linked = [](const Gpu* gpu) { return gpu->name.find("SXM") != gpu->name.npos; };
    *status = is_linked(one) && is_linked(other) ? 0 : 1;
    return 0;
}

struct PciInfo {
    char bus_id_legacy[16];
    unsigned int numbers[5];
    char bus_id[32];
};

int nvmlDeviceGetPciInfo_v3(Gpu* gpu, PciInfo* info) {
    return write_text("00000000:A" + std::to_string(gpu->index) + ":00.0", info->bus_id,
                      sizeof info->bus_id);
}

}  // extern "C"
