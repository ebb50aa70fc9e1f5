// SPDX-License-Identifier: Apache-2.0
#include "adapters/simulated_gpu/simulated_gpu.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <utility>

namespace berth::simulated_gpu {
namespace {

constexpr int kNodesMax = 10'000;
constexpr std::chrono::seconds kSilent{10};  // then a process is there no more

struct Description {
    int nodes = 0;                     // 0 = one, named by the caller
    int gpus = 0;
    std::string gpu_model;
    base::Bytes gpu_memory{0};
};

tl::unexpected<base::Error> refuse(std::string_view spec, const std::string& why) {
    return base::invalid("simulated GPUs \"" + std::string(spec) + "\": " + why +
                         "; write 8x80G, 64x8x80G or 8xH100:80G");
}

// A count takes all of the text, so that the "80G" of "8x80G" is not one.
std::optional<int> parse_count(std::string_view text) {
    int count = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
    if (error != std::errc{} || end != text.data() + text.size() || count < 1) return std::nullopt;
    return count;
}

// "80G", "H100" or "H100:80G".
base::Status read_gpu(std::string_view spec, std::string_view text, Description& description) {
    const std::size_t colon = text.find(':');
    if (colon != std::string_view::npos || !base::parse_bytes(text)) {
        description.gpu_model = text.substr(0, colon);
        if (description.gpu_model.empty()) return refuse(spec, "the GPU's model is missing");
        if (colon == std::string_view::npos) return {};
        text.remove_prefix(colon + 1);
    }
    const auto memory = base::parse_bytes(text);
    if (!memory) return refuse(spec, memory.error().message);
    description.gpu_memory = *memory;
    return {};
}

base::Result<Description> read_spec(std::string_view spec) {
    Description description;
    std::vector<int> counts;
    std::string_view rest = spec.starts_with("sim:") ? spec.substr(4) : spec;
    while (!rest.empty() && counts.size() < 2) {
        const std::size_t end = rest.find('x');
        const std::optional<int> count = parse_count(rest.substr(0, end));
        if (!count) break;
        counts.push_back(*count);
        rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
        if (rest.empty() && end != std::string_view::npos)
            return refuse(spec, "nothing follows the last \"x\"");
    }
    if (counts.empty()) return refuse(spec, "it does not begin with how many");
    if (!rest.empty()) BERTH_TRY_VOID(read_gpu(spec, rest, description));
    description.gpus = counts.back();
    if (counts.size() == 2) description.nodes = counts.front();
    if (description.gpus > model::kGpusPerNodeMax)
        return refuse(spec, "a node has at most " + std::to_string(model::kGpusPerNodeMax) +
                                " GPUs, not " + std::to_string(description.gpus));
    if (description.nodes > kNodesMax)
        return refuse(spec, "at most " + std::to_string(kNodesMax) + " nodes can be simulated");
    return description;
}

using GpuPlace = std::pair<std::string, int>;

struct Counted {
    int busy = 0;  // percent, as below
    int memory = 0;
};

// Of a file that is named by a GPU and a process.
std::optional<GpuPlace> place_of(const std::string& name) {
    const std::size_t process = name.rfind('.');
    if (process == std::string::npos || process == 0) return std::nullopt;
    const std::size_t index = name.rfind('.', process - 1);
    if (index == std::string::npos) return std::nullopt;
    int gpu = 0;
    const char* const end = name.data() + process;
    const auto [read_to, error] = std::from_chars(name.data() + index + 1, end, gpu);
    if (error != std::errc{} || read_to != end) return std::nullopt;
    return GpuPlace{name.substr(0, index), gpu};
}

// What all processes together say. A process that was killed leaves its file, which goes.
std::map<GpuPlace, Counted> counted_in(const std::string& folder) {
    namespace fs = std::filesystem;
    std::map<GpuPlace, Counted> counted;
    std::error_code error;
    for (fs::directory_iterator file(folder, error), end; !error && file != end;
         file.increment(error)) {
        const auto place = place_of(file->path().filename().string());
        std::error_code gone;
        const auto written = fs::last_write_time(file->path(), gone);
        if (!place || gone) continue;
        if (fs::file_time_type::clock::now() - written > kSilent) {
            fs::remove(file->path(), gone);
            continue;
        }
        Counted its;
        if (!(std::ifstream(file->path()) >> its.busy >> its.memory)) continue;
        counted[*place].busy += std::max(its.busy, 0);
        counted[*place].memory += std::max(its.memory, 0);
    }
    return counted;
}

}  // namespace

base::Result<SimulatedGpus> SimulatedGpus::parse(std::string_view spec, std::string only,
                                                 std::string counters) {
    BERTH_TRY(description, read_spec(spec));
    model::Node node;
    node.name = std::move(only);
    node.gpus = description.gpus;
    node.gpu_model = description.gpu_model;
    node.gpu_memory = description.gpu_memory;
    std::vector<model::Node> nodes;
    for (int index = 0; index < description.nodes; ++index) {
        node.name = 'n' + std::to_string(index);
        nodes.push_back(node);
    }
    if (nodes.empty()) nodes.push_back(node);
    return SimulatedGpus(std::move(nodes), std::move(counters));
}

base::Result<std::vector<ports::GpuReading>> SimulatedGpus::read() {
    const std::map<GpuPlace, Counted> counted = counted_in(counters_);
    std::vector<ports::GpuReading> readings;
    for (const model::Node& node : nodes_) {
        for (int index = 0; index < node.gpus; ++index) {
            ports::GpuReading reading;
            reading.node = node.name;
            reading.index = index;
            reading.uuid = "SIM-" + node.name + '-' + std::to_string(index);
            if (const auto found = counted.find({node.name, index}); found != counted.end()) {
                reading.utilization_percent = std::min(found->second.busy, 100);
                const int memory = std::min(found->second.memory, 100);
                reading.memory_used = base::Bytes{node.gpu_memory.value / 100 * memory};
            }
            readings.push_back(std::move(reading));
        }
    }
    return readings;
}

}  // namespace berth::simulated_gpu
