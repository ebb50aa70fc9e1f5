// SPDX-License-Identifier: Apache-2.0
#include "kube/install/setting_rules.h"

#include <charconv>
#include <functional>

#include "model/limits.h"
#include "model/policy/policy.h"

namespace berth::kube::install {
namespace {

using base::Duration;

std::vector<std::string_view> alternatives(std::string_view takes) {
    std::vector<std::string_view> parts;
    for (;;) {
        const std::size_t bar = takes.find('|');
        parts.push_back(takes.substr(0, bar));
        if (bar == std::string_view::npos) return parts;
        takes.remove_prefix(bar + 1);
    }
}

bool takes(const model::PolicySetting& setting, const std::string& text) {
    model::Policy policy = model::berth_policy();
    return setting.read(policy, text).has_value();
}

// The largest number up to `most` of which `holds` is true, as it is of all below.
std::int64_t largest(std::int64_t most, const std::function<bool(std::int64_t)>& holds) {
    std::int64_t low = 0;
    while (low < most) {
        const std::int64_t middle = low + (most - low + 1) / 2;
        if (holds(middle)) {
            low = middle;
        } else {
            most = middle - 1;
        }
    }
    return low;
}

struct Rule {
    std::string rule;
    std::string wanted;
};

Rule rule_of_time(const model::PolicySetting& setting) {
    const Duration least{takes(setting, "0ms") ? 0 : 1};
    const Duration most{largest(model::kTimeMax.count(), [&](std::int64_t ms) {
        return ms < least.count() || takes(setting, std::to_string(ms) + "ms");
    })};
    return {time_rule(least, most), wanted_time(least, most)};
}

// "0-50": whole numbers, or with up to three decimals where the setting takes those.
Rule rule_of_range(const model::PolicySetting& setting, std::string_view range) {
    const std::size_t dash = range.find('-');
    const std::string least(range.substr(0, dash));
    const std::string most(range.substr(dash + 1));
    if (takes(setting, least + ".5")) {
        return {"self.matches('^[0-9]{1,7}([.][0-9]{1,3})?$') && double(self) >= " + least +
                    ".0 && double(self) <= " + most + ".0",
                "a number from " + least + " to " + most + " with at most three decimals"};
    }
    return {"self.matches('^[0-9]{1,7}$') && int(self) >= " + least + " && int(self) <= " + most,
            "a whole number from " + least + " to " + most};
}

}  // namespace

SettingRule rule_of(const model::PolicySetting& setting) {
    SettingRule made;
    bool is_words = true;
    for (const std::string_view part : alternatives(setting.takes)) {
        Rule one{"self == '" + std::string(part) + "'", std::string(part)};
        if (part == "time" || (part.front() >= '0' && part.front() <= '9')) {
            one = part == "time" ? rule_of_time(setting) : rule_of_range(setting, part);
            is_words = false;
        }
        made.words.emplace_back(part);
        made.rule += (made.rule.empty() ? "(" : " || (") + one.rule + ")";
        made.message += (made.message.empty() ? "wanted " : ", or ") + one.wanted;
    }
    if (!is_words) made.words.clear();
    return made;
}

std::string time_rule(Duration least, Duration most) {
    // As many digits as a year has of each unit, so that no number is too large for CEL.
    std::string shape;
    for (const std::string_view unit : {"3}d", "4}h", "6}m", "8}s", "11}ms"}) {
        const std::size_t brace = unit.find('}');
        shape += "([0-9]{1," + std::string(unit.substr(0, brace + 1));
        shape += "([.][0-9]{1,3})?" + std::string(unit.substr(brace + 1)) + ")?";
    }
    // Days are no unit of CEL's own, and a text made of a number costs more than a rule may.
    const std::string with_days =
        "double(self.split('d')[0]) * 86400.0 + (self.endsWith('d') ? 0.0 : "
        "double(duration(self.split('d')[1]).getSeconds())) <= " +
        std::to_string(most.count() / 1000) + ".0";
    const std::string without =
        "duration(self) <= duration('" + std::to_string(most.count()) + "ms')";
    const std::string is_right = "self != '' && self.matches('^" + shape +
                                 "$') && (self.contains('d') ? " + with_days + " : " + without +
                                 ")";
    if (least > Duration{0}) return is_right + " && self.matches('[1-9]')";
    return "self == '0' || (" + is_right + ")";
}

std::string wanted_time(Duration least, Duration most) {
    return "a time such as 90s, 5m or 1h30m, " +
           (least > Duration{0} ? "from " + base::format(least) + " to "
                                : std::string("at most ")) +
           base::format(most);
}

}  // namespace berth::kube::install
