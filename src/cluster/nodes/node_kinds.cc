// SPDX-License-Identifier: Apache-2.0
#include "cluster/nodes/node_kinds.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include "base/check.h"
#include "cluster/cluster.h"
#include "model/limits.h"
#include "model/node/mig.h"

namespace berth::cluster {
namespace {

// Whether `model` is one of the alternatives in "H100|A100".
bool is_model(std::string_view wanted, std::string_view model) {
    while (!wanted.empty()) {
        const auto bar = std::min(wanted.find('|'), wanted.size());
        if (equal_ignoring_case(wanted.substr(0, bar), model)) return true;
        wanted.remove_prefix(std::min(bar + 1, wanted.size()));
    }
    return false;
}

bool node_allows(const Shape& shape, const model::Node& node) {
    return (node.shares_lack.empty() || !shape.shares()) && is_of_kind(shape, node);
}

// What makes a kind, beside the terms that hold.
model::Node bare(model::Node node) {
    node.name.clear();
    node.labels.clear();
    node.topology.clear();
    node.cpu.reset();
    node.memory.reset();
    node.health = model::NodeHealth::Ready;
    node.others = {};
    node.resources.clear();
    return node;
}

std::uint64_t hash_of(const model::Node& node) {
    std::uint64_t hash = base::hash(node.gpus, base::hash(node.gpu_model));
    for (const model::Taint& taint : node.taints) {
        hash = base::hash(taint.value, base::hash(taint.key, hash));
    }
    return base::hash(node.gpu_memory.value, hash);
}

std::uint64_t hash_of(const NodeWords& words) {
    std::uint64_t hash = base::kHashOfNothing;
    for (const model::Labels* labels : {&words.labels, &words.topology}) {
        for (const auto& [key, value] : *labels) hash = base::hash(value, base::hash(key, hash));
    }
    return hash;
}

}  // namespace

bool carries(const model::Labels& labels, const model::Labels& wanted) {
    return std::ranges::all_of(wanted, [&](const auto& label) {
        const auto found = labels.find(label.first);
        return found != labels.end() && found->second == label.second;
    });
}

bool equal_ignoring_case(std::string_view left, std::string_view right) {
    return std::ranges::equal(left, right, [](unsigned char a, unsigned char b) {
        return std::tolower(a) == std::tolower(b);
    });
}

bool is_of_kind(const Shape& shape, const model::Node& node) {
    if (shape.request.gpus > node.gpus) return false;
    if (shape.request.gpus > 0 && !model::share_of(shape.request, node)) return false;
    if (!shape.gpu_model.empty() && !is_model(shape.gpu_model, node.gpu_model)) return false;
    // A slice is no GPU that anybody would expect who does not ask for it by name.
    const bool is_slice = model::mig_profile(node.gpu_model).has_value();
    if (is_slice && shape.gpu_model.empty() && shape.request.gpus > 0) return false;
    if (model::not_tolerated(node.taints, shape.tolerations) != nullptr) return false;
    return carries(node.labels, shape.labels) &&
           model::satisfies(node.name, node.labels, shape.filter);
}

NodeKind NodeKinds::described(const model::Node& node) const {
    NodeKind kind{node, model::memory_left_by_driver(node), {}, {}, hash_of(node)};
    for (const model::NodeTerm& term : terms_) {
        kind.satisfied.push_back(model::satisfies(node.name, node.labels, term));
        kind.hash = base::hash(kind.satisfied.back(), kind.hash);
    }
    return kind;
}

std::uint32_t NodeKinds::find(const NodeKind& kind) const {
    return by_hash_.find(kind.hash, [&](std::uint32_t position) {
        const NodeKind& known = kinds_[position];
        return known.hash == kind.hash && known.satisfied == kind.satisfied &&
               bare(known.example) == bare(kind.example);
    });
}

std::uint16_t NodeKinds::put(NodeKind kind) {
    BERTH_CHECK(kinds_.size() < model::kNodeKindsMax,
                "has_room_for() comes before a node or a shape is added");
    const auto position = static_cast<std::uint16_t>(kinds_.size());
    kinds_.push_back(std::move(kind));
    by_hash_.insert(position, [&](std::uint32_t at) { return kinds_[at].hash; });
    return position;
}

std::uint16_t NodeKinds::kind_of(const model::Node& node, std::span<const Shape> shapes) {
    NodeKind kind = described(node);
    const std::uint32_t known = find(kind);
    if (known != HashIndex::kNone) return static_cast<std::uint16_t>(known);
    if (node.gpu_links.is_known()) kind.choice.emplace(node.gpu_links, node.gpus);
    for (std::size_t shape = 0; shape < shapes.size(); ++shape) {
        allowed_[shape].push_back(node_allows(shapes[shape], node));
    }
    return put(std::move(kind));
}

bool NodeKinds::has_room_for(const model::Node& node) const {
    return kinds_.size() < model::kNodeKindsMax || find(described(node)) != HashIndex::kNone;
}

bool NodeKinds::has_room_for(std::span<const model::NodeTerm> terms, std::size_t nodes) const {
    std::size_t count = kinds_.size();
    for (const model::NodeTerm& term : terms) {
        if (!is_asked(term)) count += std::min(count, nodes);
    }
    return count <= model::kNodeKindsMax;
}

bool NodeKinds::is_asked(const model::NodeTerm& term) const {
    return std::ranges::find(terms_, term) != terms_.end();
}

void NodeKinds::ask(const model::NodeTerm& term) {
    terms_.push_back(term);
    by_hash_ = {};
    for (std::uint32_t i = 0; i < kinds_.size(); ++i) {
        NodeKind& kind = kinds_[i];
        kind.satisfied.push_back(model::satisfies(kind.example.name, kind.example.labels, term));
        kind.hash = base::hash(kind.satisfied.back(), kind.hash);
        by_hash_.insert(i, [&](std::uint32_t at) { return kinds_[at].hash; });
    }
}

std::uint16_t NodeKinds::split(std::uint16_t from, const model::Node& node) {
    NodeKind kind = described(node);
    const std::uint32_t known = find(kind);
    if (known != HashIndex::kNone) return static_cast<std::uint16_t>(known);
    kind.choice = kinds_[from].choice;
    // No shape has asked yet where they differ.
    for (std::vector<bool>& allowed : allowed_) allowed.push_back(allowed[from]);
    return put(std::move(kind));
}

void NodeKinds::add(const Shape& shape) {
    allowed_.emplace_back();
    for (const NodeKind& kind : kinds_) {
        allowed_.back().push_back(node_allows(shape, kind.example));
    }
}

std::uint32_t NodeKinds::position_of(NodeWords words) {
    const std::uint32_t known = words_by_hash_.find(
        hash_of(words), [&](std::uint32_t position) { return words_[position] == words; });
    if (known != HashIndex::kNone) return known;
    words_.push_back(std::move(words));
    const auto position = static_cast<std::uint32_t>(words_.size() - 1);
    words_by_hash_.insert(position, [&](std::uint32_t at) { return hash_of(words_[at]); });
    return position;
}

ShapeId Cluster::intern(Shape shape) {
    const auto found = std::ranges::find(shapes_, shape);
    if (found != shapes_.end()) return {static_cast<ShapeId::Rep>(found - shapes_.begin())};
    for (const model::NodeTerm& term : model::terms_of(shape.labels, shape.filter)) {
        ask_about(term);
    }
    kinds_.add(shape);
    resources_.add(shape.request.resources);
    shapes_.push_back(std::move(shape));
    return {static_cast<ShapeId::Rep>(shapes_.size() - 1)};
}

bool Cluster::allows(ShapeId shape, std::uint16_t node_kind) const {
    return kinds_.allows(shape, node_kind);
}

// Parts the kinds of which the term holds for some nodes and not for others.
void Cluster::ask_about(const model::NodeTerm& term) {
    if (kinds_.is_asked(term)) return;
    kinds_.ask(term);
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
        NodeState& node = nodes_[i];
        const bool is_satisfied = model::satisfies(node_names_[i], kinds_.words(node).labels, term);
        if (is_satisfied == kinds_[node.kind].satisfied.back()) continue;
        const NodeId id{static_cast<NodeId::Rep>(i)};
        PoolState& pool = pools_[node.pool.index()];
        --pool.nodes_of_kind[node.kind];
        node.kind = kinds_.split(node.kind, description(id));
        pool.count_kind(node.kind);
    }
    weigh_kinds();
}

// What GPUs of each kind of node count as in each pool.
void Cluster::weigh_kinds() {
    for (PoolState& pool : pools_) {
        if (pool.exchange.empty()) continue;
        for (std::size_t kind = pool.weights.size(); kind < kinds_.size(); ++kind) {
            const auto found = std::ranges::find_if(pool.exchange, [&](const auto& entry) {
                return equal_ignoring_case(entry.first, kinds_[kind].example.gpu_model);
            });
            const std::int64_t weight = found == pool.exchange.end() ? 1000 : found->second;
            pool.weights.push_back(static_cast<std::int32_t>(weight));
        }
    }
}

}  // namespace berth::cluster
