// SPDX-License-Identifier: Apache-2.0
#include "model/node/node_filter.h"

#include <algorithm>
#include <charconv>
#include <functional>

#include "model/limits.h"

namespace berth::model {
namespace {

using base::Result;
using base::Status;

// They part what a filter, a taint or a toleration consists of.
constexpr std::string_view kFilterSigns = ",;|=!<>";
constexpr std::string_view kTaintSigns = ",=:*";

std::optional<std::int64_t> whole_number(std::string_view text) {
    std::int64_t number = 0;
    const char* end = text.data() + text.size();
    const auto [at, error] = std::from_chars(text.data(), end, number);
    if (error != std::errc{} || at != end) return {};
    return number;
}

std::vector<std::string_view> split(std::string_view text, char sign) {
    std::vector<std::string_view> parts;
    for (;;) {
        const auto at = text.find(sign);
        parts.push_back(text.substr(0, at));
        if (at == std::string_view::npos) return parts;
        text.remove_prefix(at + 1);
    }
}

std::string joined(const std::vector<std::string>& values) {
    std::string text;
    for (const std::string& value : values) text += value + "|";
    if (!text.empty()) text.pop_back();
    return text;
}

NodeTerm read_term(std::string_view text) {
    const auto sign = text.find_first_of("=<>!", 1);
    if (text.empty() || sign == std::string_view::npos) {
        if (!text.starts_with('!')) return {std::string(text), NodeOperator::Exists, {}};
        return {std::string(text.substr(1)), NodeOperator::DoesNotExist, {}};
    }
    NodeTerm term{std::string(text.substr(0, sign)), NodeOperator::In, {}};
    const bool is_not = text.substr(sign).starts_with("!=");
    const std::string_view rest = text.substr(sign + (is_not ? 2 : 1));
    if (is_not) term.is = NodeOperator::NotIn;
    if (text[sign] == '>') term.is = NodeOperator::Gt;
    if (text[sign] == '<') term.is = NodeOperator::Lt;
    // A "!" that no "=" follows belongs to nothing: check() refuses it in the value.
    if (text[sign] == '!' && !is_not) return {std::string(text), NodeOperator::Exists, {}};
    for (const std::string_view value : split(rest, '|')) term.values.emplace_back(value);
    return term;
}

std::optional<TaintEffect> effect_named(std::string_view text) {
    const auto found = std::ranges::find(kTaintEffectNames, text);
    if (found == kTaintEffectNames.end()) return {};
    return static_cast<TaintEffect>(found - kTaintEffectNames.begin());
}

bool tolerates(const Toleration& toleration, const Taint& taint) {
    return (toleration.key.empty() || toleration.key == taint.key) &&
           toleration.value.value_or(taint.value) == taint.value &&
           toleration.effect.value_or(taint.effect) == taint.effect;
}

Status check_term(const NodeTerm& term) {
    const auto refuse = [&](const std::string& why) {
        return base::invalid("term " + in_quotes(format(term)) + ": " + why);
    };
    if (term.key.empty()) return refuse("wanted the key of a label, or @name");
    const auto has_sign = [](const std::string& text) {
        return text.find_first_of(kFilterSigns) != std::string::npos;
    };
    if (has_sign(term.key) || std::ranges::any_of(term.values, has_sign)) {
        return refuse("wanted keys and values without , ; | = ! < >");
    }
    const bool is_bound = term.is == NodeOperator::Gt || term.is == NodeOperator::Lt;
    const bool is_list = term.is == NodeOperator::In || term.is == NodeOperator::NotIn;
    if (is_bound && (term.values.size() != 1 || !whole_number(term.values.front()))) {
        return refuse("wanted one whole number, as in disks>4");
    }
    if (is_list && term.values.empty()) return refuse("wanted values, as in zone=a|b");
    if (!is_bound && !is_list && !term.values.empty()) return refuse("wanted no values");
    return {};
}

}  // namespace

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

bool satisfies(const std::string& name, const Labels& labels, const NodeFilter& filter) {
    const auto holds = [&](const NodeTerms& terms) {
        return std::ranges::all_of(
            terms, [&](const NodeTerm& term) { return satisfies(name, labels, term); });
    };
    return filter.any_of.empty() || std::ranges::any_of(filter.any_of, holds);
}

const Taint* not_tolerated(const std::vector<Taint>& taints,
                           const std::vector<Toleration>& tolerations) {
    const auto found = std::ranges::find_if(taints, [&](const Taint& taint) {
        return taint.effect != TaintEffect::PreferNoSchedule &&
               std::ranges::none_of(tolerations,
                                    [&](const Toleration& each) { return tolerates(each, taint); });
    });
    return found == taints.end() ? nullptr : &*found;
}

std::vector<NodeTerm> terms_of(const Labels& wanted, const NodeFilter& filter) {
    std::vector<NodeTerm> terms;
    for (const auto& [key, value] : wanted) terms.push_back({key, NodeOperator::In, {value}});
    for (const NodeTerms& each : filter.any_of) terms.insert(terms.end(), each.begin(), each.end());
    return terms;
}

Result<NodeFilter> parse_node_filter(std::string_view text) {
    NodeFilter filter;
    if (text.empty()) return filter;
    for (const std::string_view alternative : split(text, ';')) {
        NodeTerms& terms = filter.any_of.emplace_back();
        for (const std::string_view term : split(alternative, ',')) {
            terms.push_back(read_term(term));
        }
    }
    BERTH_TRY_VOID(check(filter));
    return filter;
}

Result<Taint> parse_taint(std::string_view text) {
    const auto colon = text.rfind(':');
    const auto effect = effect_named(colon == std::string_view::npos ? "" : text.substr(colon + 1));
    const std::string_view rest = text.substr(0, colon);
    const auto equals = rest.find('=');
    if (!effect) {
        return base::invalid("wanted a taint such as dedicated=infra:NoSchedule, found " +
                             in_quotes(text));
    }
    Taint taint{std::string(rest.substr(0, equals)), "", *effect};
    if (equals != std::string_view::npos) taint.value = rest.substr(equals + 1);
    BERTH_TRY_VOID(check(taint));
    return taint;
}

Result<Toleration> parse_toleration(std::string_view text) {
    Toleration toleration;
    const auto colon = text.rfind(':');
    if (colon != std::string_view::npos) toleration.effect = effect_named(text.substr(colon + 1));
    const std::string_view rest = text.substr(0, colon);
    const auto equals = rest.find('=');
    toleration.key = rest.substr(0, equals);
    if (equals != std::string_view::npos) toleration.value = rest.substr(equals + 1);
    if (toleration.key.empty() || (colon != std::string_view::npos && !toleration.effect)) {
        return base::invalid(
            "wanted a toleration such as dedicated=infra:NoSchedule, dedicated or *, found " +
            in_quotes(text));
    }
    if (toleration.key == "*") toleration.key.clear();
    BERTH_TRY_VOID(check(toleration));
    return toleration;
}

std::string format(const NodeTerm& term) {
    switch (term.is) {
        case NodeOperator::In: return term.key + "=" + joined(term.values);
        case NodeOperator::NotIn: return term.key + "!=" + joined(term.values);
        case NodeOperator::Exists: return term.key;
        case NodeOperator::DoesNotExist: return "!" + term.key;
        case NodeOperator::Gt: return term.key + ">" + joined(term.values);
        case NodeOperator::Lt: return term.key + "<" + joined(term.values);
    }
    return {};
}

std::string format(const NodeFilter& filter) {
    std::string text;
    for (const NodeTerms& terms : filter.any_of) {
        if (&terms != &filter.any_of.front()) text += ";";
        for (const NodeTerm& term : terms) {
            text += (&term == &terms.front() ? "" : ",") + format(term);
        }
    }
    return text;
}

std::string format(const Taint& taint) {
    return taint.key + (taint.value.empty() ? "" : "=" + taint.value) + ":" +
           std::string(kTaintEffectNames[static_cast<std::size_t>(taint.effect)]);
}

std::string format(const Toleration& toleration) {
    std::string text = toleration.key.empty() ? "*" : toleration.key;
    if (toleration.value) text += "=" + *toleration.value;
    if (!toleration.effect) return text;
    return text + ":" +
           std::string(kTaintEffectNames[static_cast<std::size_t>(*toleration.effect)]);
}

Status check(const NodeFilter& filter) {
    for (const NodeTerms& terms : filter.any_of) {
        if (terms.empty()) return base::invalid("wanted terms such as zone=a|b, found none");
        for (const NodeTerm& term : terms) BERTH_TRY_VOID(check_term(term));
    }
    return {};
}

Status check(const Taint& taint) {
    if (taint.key.empty()) return base::invalid("a taint needs a key");
    if ((taint.key + taint.value).find_first_of(kTaintSigns) == std::string::npos) return {};
    return base::invalid("taint " + in_quotes(format(taint)) +
                         ": wanted key and value without , = : *");
}

Status check(const Toleration& toleration) {
    const std::string words = toleration.key + toleration.value.value_or("");
    if (words.find_first_of(kTaintSigns) == std::string::npos) return {};
    return base::invalid("toleration " + in_quotes(format(toleration)) +
                         ": wanted key and value without , = : *");
}

}  // namespace berth::model
