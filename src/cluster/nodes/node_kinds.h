// SPDX-License-Identifier: Apache-2.0
//
// Which nodes are alike, as far as anybody asks? A kind is what a GPU is there and how they are
// linked, its taints, and which of the terms that shapes ask about hold. Name, place, health, CPU,
// host memory and labels that no job asks about make no difference: on most clusters they are each
// node's own.
//
// Trusts: before a shape is asked about, each of its terms was (ask()), and the nodes whose answer
// is not that of their kind went to its other half (split()).
// Cost: a node O(terms), a term O(kinds), a shape O(kinds); found by hash.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cluster/nodes/gpu_choice.h"
#include "cluster/nodes/hash_index.h"
#include "cluster/nodes/shape.h"
#include "model/node/node_filter.h"

namespace berth::cluster {

struct NodeKind {
    model::Node example;  // the first of them, as it was
    base::Bytes gpu_memory{0};  // of each, what the driver leaves; 0 = not said
    std::optional<GpuChoice> choice;  // when it says how its GPUs are linked
    std::vector<bool> satisfied;  // by term
    std::uint64_t hash = 0;
};

// What a node says of itself, and many nodes say alike.
struct NodeWords {
    model::Labels labels;
    model::Labels topology;

    bool operator==(const NodeWords&) const = default;
};

// Whether the node has what the shape asks for: it may run there, were shares kept there.
bool is_of_kind(const Shape& shape, const model::Node& node);
bool carries(const model::Labels& labels, const model::Labels& wanted);
bool equal_ignoring_case(std::string_view left, std::string_view right);

class NodeKinds {
  public:
    std::size_t size() const { return kinds_.size(); }
    const NodeKind& operator[](std::size_t kind) const { return kinds_[kind]; }
    bool allows(base::ShapeId shape, std::uint16_t kind) const {
        return allowed_[shape.index()][kind];
    }
    // That of the node, made where there is none like it; aborts where there are too many.
    std::uint16_t kind_of(const model::Node& node, std::span<const Shape> shapes);
    bool has_room_for(const model::Node& node) const;
    // Whether there are kinds left for all that could come about once a shape asks that.
    bool has_room_for(std::span<const model::NodeTerm> terms, std::size_t nodes) const;

    bool is_asked(const model::NodeTerm& term) const;
    void ask(const model::NodeTerm& term);
    // Nodes of the kind for which the last term does not hold as for the others; this is one.
    std::uint16_t split(std::uint16_t kind, const model::Node& node);
    void add(const Shape& shape);

    std::uint32_t position_of(NodeWords words);  // put behind the others when they are new
    const NodeWords& words(const NodeState& node) const { return words_[node.words]; }
    std::span<const NodeWords> all_words() const { return words_; }

  private:
    std::uint32_t find(const NodeKind& kind) const;
    std::uint16_t put(NodeKind kind);
    NodeKind described(const model::Node& node) const;

    std::vector<NodeKind> kinds_;
    HashIndex by_hash_;
    std::vector<model::NodeTerm> terms_;
    std::vector<std::vector<bool>> allowed_;  // [shape][kind]
    std::vector<NodeWords> words_;
    HashIndex words_by_hash_;
};

}  // namespace berth::cluster
