// SPDX-License-Identifier: Apache-2.0
#include "kube/objects/disruption_budget.h"

#include <algorithm>
#include <utility>

#include "kube/objects/walk.h"

namespace berth::kube::objects {
namespace {

using codec::JsonReader;
using Selector = std::vector<Requirement>;

Selector read_selector(JsonReader& reader, MetaPools& pools) {
    Selector selector;
    each_field(reader, [&](std::string_view key) {
        if (key == "matchLabels") {
            each_field(reader, [&](std::string_view label) {
                Requirement& is = selector.emplace_back();
                is.key = pools.words.keep(label);
                is.op = Operator::In;
                is.values.push_back(read_word(reader, pools));
                return true;
            });
            return true;
        }
        if (key != "matchExpressions") return false;
        each_item(reader, [&] { selector.push_back(read_requirement(reader, pools)); });
        return true;
    });
    return selector;
}

// One that is not as it should be must not keep the others of its list from being read.
void read_spec(JsonReader spec, MetaPools& pools, DisruptionBudget& budget) {
    each_field(spec, [&](std::string_view key) {
        return key == "selector" && read_into(budget.selector, read_selector(spec, pools));
    });
    if (spec.is_failed()) budget.problem = spec.error();
}

bool holds(const Requirement& requirement, const Labels& labels) {
    if (!is_kept_label(*requirement.key)) return true;
    const std::string* value = find(labels, *requirement.key);
    const auto is_it = [&](const Word& each) { return value != nullptr && *each == *value; };
    switch (requirement.op) {
        case Operator::In: return std::ranges::any_of(requirement.values, is_it);
        case Operator::NotIn: return std::ranges::none_of(requirement.values, is_it);
        case Operator::Exists: return value != nullptr;
        case Operator::DoesNotExist: return value == nullptr;
        case Operator::Gt:
        case Operator::Lt:
        case Operator::Unknown: break;  // no selector has them
    }
    return true;
}

}  // namespace

DisruptionBudget read_disruption_budget(JsonReader& reader, MetaPools& pools) {
    DisruptionBudget budget;
    each_field(reader, [&](std::string_view key) {
        if (key == "metadata") return read_into(budget.meta, read_meta(reader, pools));
        if (key == "spec") read_spec(reader, pools, budget);
        return false;
    });
    if (!budget.meta.uid) reader.fail("wanted a PodDisruptionBudget with metadata");
    return budget;
}

bool selects(const DisruptionBudget& budget, const Labels& labels) {
    if (!budget.problem.empty()) return true;
    if (!budget.selector) return false;
    return std::ranges::all_of(*budget.selector,
                               [&](const Requirement& each) { return holds(each, labels); });
}

}  // namespace berth::kube::objects
