// SPDX-License-Identifier: Apache-2.0
#include "adapters/simulated_gpu/simulated_gpu.h"

#include <charconv>
#include <optional>

namespace berth::simulated_gpu {
namespace {

constexpr int kNodesMax = 10'000;

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

}  // namespace

base::Result<SimulatedGpus> SimulatedGpus::parse(std::string_view spec, std::string only) {
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
    return SimulatedGpus(std::move(nodes));
}

base::Result<std::vector<ports::GpuReading>> SimulatedGpus::read() {
    std::vector<ports::GpuReading> readings;
    for (const model::Node& node : nodes_) {
        for (int index = 0; index < node.gpus; ++index) {
            ports::GpuReading reading;
            reading.node = node.name;
            reading.index = index;
            reading.uuid = "SIM-" + node.name + '-' + std::to_string(index);
            readings.push_back(std::move(reading));
        }
    }
    return readings;
}

}  // namespace berth::simulated_gpu
