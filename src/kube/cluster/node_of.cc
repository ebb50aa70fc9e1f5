// SPDX-License-Identifier: Apache-2.0
#include "kube/cluster/node_of.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <utility>

#include "model/limits.h"

namespace berth::kube::cluster {
namespace {

constexpr std::string_view kCordoned = "node.kubernetes.io/unschedulable";

// Level of the core -> label; the others are labels of their own name.
constexpr std::array<std::pair<const char*, std::string_view>, 1> kLevelLabels{
    {{"zone", "topology.kubernetes.io/zone"}}};

std::optional<model::TaintEffect> effect_of(std::string_view word) {
    const auto& names = model::kTaintEffectNames;
    const auto found = std::ranges::find(names, word);
    if (found == names.end()) return {};
    return static_cast<model::TaintEffect>(found - names.begin());
}

std::vector<model::Taint> taints_of(const objects::Node& node) {
    std::vector<model::Taint> taints;
    for (const objects::Taint& taint : node.taints) {
        if (const auto effect = effect_of(*taint.effect))
            taints.push_back({*taint.key, *taint.value, *effect});
    }
    model::Taint cordoned{std::string(kCordoned), "", model::TaintEffect::NoSchedule};
    const bool is_tainted = std::ranges::find(taints, cordoned) != taints.end();
    if (node.is_unschedulable && !is_tainted) taints.push_back(std::move(cordoned));
    return taints;
}

// In MiB, as NVIDIA's feature discovery writes it.
base::Bytes memory_label(const objects::Labels& labels) {
    const std::string* text = objects::find(labels, "nvidia.com/gpu.memory");
    std::int64_t mebibytes = 0;
    if (text != nullptr) std::from_chars(text->data(), text->data() + text->size(), mebibytes);
    constexpr std::int64_t kMost = std::int64_t{1} << 30;
    return {std::clamp<std::int64_t>(mebibytes, 0, kMost) << 20};
}

// Those that the core has room for; a machine's features, which are hundreds, come last.
void add_labels(model::Labels& made, const objects::Labels& labels, bool are_features) {
    for (const objects::Label& label : labels) {
        if (label.key->starts_with("feature.node.kubernetes.io/") != are_features) continue;
        if (made.size() == model::kLabelsMax) return;
        const bool is_value = label.value->empty() || model::is_name(*label.value);
        if (is_value && model::is_name(*label.key)) made[*label.key] = *label.value;
    }
}

}  // namespace

bool has_a_field(std::string_view resource) {
    return resource == "cpu" || resource == "memory" || resource == kGpuResource;
}

model::Resources resources_of(const objects::Amounts& amounts) {
    model::Resources resources;
    for (const objects::Amount& amount : amounts.all()) {
        if (!has_a_field(*amount.resource) && amount.value > 0)
            resources[*amount.resource] = std::min(amount.value, model::kMemoryMax.value);
    }
    return resources;
}

model::Resources resources_of(const objects::Amounts& amounts, const Counted& counted) {
    model::Resources resources = resources_of(amounts);
    std::erase_if(resources, [&](const auto& each) { return !counted.contains(each.first); });
    return resources;
}

model::Node node_of(const objects::Node& node, const Counted& counted) {
    model::Node made;
    const objects::Labels& labels = *node.meta.labels;
    made.name = node.meta.name;
    made.gpus = static_cast<int>(
        std::clamp<std::int64_t>(node.allocatable->of(kGpuResource), 0, model::kGpusPerNodeMax));
    if (const std::string* product = objects::find(labels, "nvidia.com/gpu.product"))
        made.gpu_model = *product;
    made.gpu_memory = memory_label(labels);
    made.cpu = node.allocatable->cpu();
    made.memory = node.allocatable->memory();
    made.resources = resources_of(*node.allocatable, counted);
    made.resources.emplace(model::kPodsResource, 0);  // not said is none, for the core any number
    add_labels(made.labels, labels, false);
    add_labels(made.labels, labels, true);
    for (const auto& [level, key] : kLevelLabels) {
        if (const std::string* domain = objects::find(labels, key)) made.topology[level] = *domain;
    }
    made.taints = taints_of(node);
    const bool is_leaving = node.meta.deletion.has_value();
    made.health = node.is_ready && !is_leaving ? model::NodeHealth::Ready : model::NodeHealth::Down;
    return made;
}

}  // namespace berth::kube::cluster
