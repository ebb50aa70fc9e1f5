// SPDX-License-Identifier: Apache-2.0
//
// What does the API server check of a setting's text? The same as model/policy/policy_settings.h
// reads: found out by asking it, so that there is no second table of ranges.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/quantity.h"
#include "model/policy/policy_settings.h"

namespace berth::kube::install {

struct SettingRule {
    std::vector<std::string> words;  // any of these; empty where `rule` says it
    std::string rule;                // in CEL, of the text `self`
    std::string message;             // what is wanted
};
SettingRule rule_of(const model::PolicySetting& setting);

// In CEL: `self` is a time such as "1h30m" within the bounds. Units go from days to milliseconds.
std::string time_rule(base::Duration least, base::Duration most);
std::string wanted_time(base::Duration least, base::Duration most);

}  // namespace berth::kube::install
