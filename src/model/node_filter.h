// SPDX-License-Identifier: Apache-2.0
//
// On which nodes may a job run, by their labels and names? Operators and their meaning are those of
// Kubernetes' node affinity: a node without the label satisfies NotIn and DoesNotExist alone.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/node.h"

namespace berth::model {

enum class NodeOperator : std::uint8_t {
    In,
    NotIn,
    Exists,
    DoesNotExist,
    Gt,  // the label is a whole number above the value
    Lt,
};

// The key of a term about the node's name.
inline constexpr const char* kNodeNameKey = "@name";

struct NodeTerm {
    std::string key;
    NodeOperator is = NodeOperator::In;
    std::vector<std::string> values = {};  // none for Exists and DoesNotExist, one for Gt and Lt

    bool operator==(const NodeTerm&) const = default;
};

// What a job asks of labels and name, each term apart.
std::vector<NodeTerm> terms_of(const Labels& wanted);

bool satisfies(const std::string& name, const Labels& labels, const NodeTerm& term);

}  // namespace berth::model
