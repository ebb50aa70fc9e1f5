// SPDX-License-Identifier: Apache-2.0
#include "model/node_filter.h"

#include <algorithm>
#include <charconv>
#include <functional>
#include <optional>

namespace berth::model {
namespace {

std::optional<std::int64_t> whole_number(const std::string& text) {
    std::int64_t number = 0;
    const char* end = text.data() + text.size();
    const auto [at, error] = std::from_chars(text.data(), end, number);
    if (error != std::errc{} || at != end) return {};
    return number;
}

}  // namespace

std::vector<NodeTerm> terms_of(const Labels& wanted) {
    std::vector<NodeTerm> terms;
    for (const auto& [key, value] : wanted) terms.push_back({key, NodeOperator::In, {value}});
    return terms;
}

bool satisfies(const std::string& name, const Labels& labels, const NodeTerm& term) {
    const auto label = labels.find(term.key);
    const bool is_name = term.key == kNodeNameKey;
    const std::string* value = is_name ? &name : label != labels.end() ? &label->second : nullptr;
    const auto is_among = [&] {
        return std::ranges::find(term.values, *value) != term.values.end();
    };
    const auto compare = [&](auto&& compared) {
        const auto found = whole_number(*value);
        const auto bound = whole_number(term.values.front());
        return found && bound && compared(*found, *bound);
    };
    switch (term.is) {
        case NodeOperator::In: return value != nullptr && is_among();
        case NodeOperator::NotIn: return value == nullptr || !is_among();
        case NodeOperator::Exists: return value != nullptr;
        case NodeOperator::DoesNotExist: return value == nullptr;
        case NodeOperator::Gt: return value != nullptr && compare(std::greater{});
        case NodeOperator::Lt: return value != nullptr && compare(std::less{});
    }
    return false;
}

}  // namespace berth::model
