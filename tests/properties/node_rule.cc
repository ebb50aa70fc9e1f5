// SPDX-License-Identifier: Apache-2.0
#include "node_rule.h"

#include <cstdlib>
#include <set>

namespace berth::proof {
namespace {

// What the node answers for the key: its name, its label, or nothing.
std::set<std::string> answers(const model::Node& node, const std::string& key) {
    if (key == "@name") return {node.name};
    std::set<std::string> found;
    for (const auto& [label, value] : node.labels) {
        if (label == key) found.insert(value);
    }
    return found;
}

bool holds(const model::NodeTerm& term, const model::Node& node) {
    const std::set<std::string> answer = answers(node, term.key);
    bool is_among = false;
    for (const std::string& value : term.values) is_among |= answer.contains(value);
    if (term.is == model::NodeOperator::In) return is_among;
    if (term.is == model::NodeOperator::NotIn) return !is_among;
    if (term.is == model::NodeOperator::Exists) return !answer.empty();
    if (term.is == model::NodeOperator::DoesNotExist) return answer.empty();
    if (answer.empty()) return false;
    char* end = nullptr;
    const long long number = std::strtoll(answer.begin()->c_str(), &end, 10);
    if (answer.begin()->empty() || *end != '\0') return false;
    const long long bound = std::stoll(term.values.at(0));
    return term.is == model::NodeOperator::Gt ? number > bound : number < bound;
}

bool is_tolerated(const model::Taint& taint, const cluster::Shape& shape) {
    if (taint.effect == model::TaintEffect::PreferNoSchedule) return true;
    for (const model::Toleration& each : shape.tolerations) {
        if (!each.key.empty() && each.key != taint.key) continue;
        if (each.value && *each.value != taint.value) continue;
        if (each.effect && *each.effect != taint.effect) continue;
        return true;
    }
    return false;
}

}  // namespace

bool rule_admits(const cluster::Shape& shape, const model::Node& node) {
    for (const model::Taint& taint : node.taints) {
        if (!is_tolerated(taint, shape)) return false;
    }
    for (const auto& [key, value] : shape.labels) {
        if (!answers(node, key).contains(value)) return false;
    }
    bool has_way = shape.filter.any_of.empty();
    for (const model::NodeTerms& terms : shape.filter.any_of) {
        bool is_way = true;
        for (const model::NodeTerm& term : terms) is_way &= holds(term, node);
        has_way |= is_way;
    }
    return has_way;
}

}  // namespace berth::proof
