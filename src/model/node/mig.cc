// SPDX-License-Identifier: Apache-2.0
#include "model/node/mig.h"

#include <charconv>

namespace berth::model {
namespace {

// Takes a number from the front of the text.
std::optional<int> take_number(std::string_view& text) {
    int number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || number < 1) return {};
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return number;
}

bool take(std::string_view& text, std::string_view word) {
    if (!text.starts_with(word)) return false;
    text.remove_prefix(word.size());
    return true;
}

}  // namespace

std::optional<MigProfile> mig_profile(std::string_view text) {
    const auto slices = take_number(text);
    if (!slices || *slices > kMigSlicesPerGpu || !take(text, "g.")) return {};
    const auto gib = take_number(text);
    if (!gib || !take(text, "gb") || (!text.empty() && !text.starts_with('+'))) return {};
    return MigProfile{*slices, {std::int64_t{*gib} << 30}};
}

std::string slices_node(const std::string& machine, const std::string& profile) {
    return machine + "/" + profile;
}

std::vector<Node> split_off_slices(Node& node, const std::map<std::string, int>& counts) {
    std::int64_t cut = 0;
    for (const auto& [profile, count] : counts) cut += mig_profile(profile)->slices * count;
    // What is cut takes whole GPUs, also where it leaves some of their slices unused.
    const std::int64_t cut_gpus = (cut + kMigSlicesPerGpu - 1) / kMigSlicesPerGpu;
    const std::int64_t all = (node.gpus + cut_gpus) * kMigSlicesPerGpu;
    const Node whole = node;
    std::vector<Node> nodes;
    for (const auto& [name, count] : counts) {
        const MigProfile profile = *mig_profile(name);
        Node slices = whole;
        slices.name = slices_node(whole.name, name);
        slices.gpus = count;
        slices.gpu_model = name;
        slices.gpu_memory = profile.memory;
        slices.gpu_reserved = {0};
        slices.gpu_links = {};
        const std::int64_t part = std::int64_t{profile.slices} * count;
        if (whole.cpu) slices.cpu = MilliCpu{whole.cpu->value * part / all};
        if (whole.memory) slices.memory = Bytes{whole.memory->value / all * part};
        if (whole.cpu) node.cpu = *node.cpu - *slices.cpu;
        if (whole.memory) node.memory = *node.memory - *slices.memory;
        nodes.push_back(std::move(slices));
    }
    return nodes;
}

}  // namespace berth::model
