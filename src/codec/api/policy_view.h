// SPDX-License-Identifier: Apache-2.0
//
// How is the policy of a server shown as JSON? The rules are those of json_api.h:
//   {"apiVersion":"berth/v1","kind":"Policy","profile":"berth","settings":[{"name":"grace",...}]}
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "codec/fields/described.h"
#include "model/policy/policy_settings.h"

namespace berth::codec {

// A setting as model/policy/policy_settings.h knows it; all values are its texts.
struct SettingView {
    std::string name;
    std::string value;  // that decides
    std::string started_with;  // its startup value
    bool is_set = false;
    std::string takes;
    std::string meaning;
};

struct PolicyView {
    std::string profile;  // that the server was started with
    std::vector<SettingView> settings;
};

template <>
struct Fields<SettingView> {
    static void visit(auto&& field) {
        using S = SettingView;
        field("name", &S::name);
        field("value", &S::value);
        field("started_with", &S::started_with);
        field("is_set", &S::is_set);
        field("takes", &S::takes);
        field("meaning", &S::meaning);
    }
};

template <>
struct Fields<PolicyView> {
    static void visit(auto&& field) {
        field("profile", &PolicyView::profile);
        field("settings", &PolicyView::settings);
    }
};

// Of a server that was started with the one policy and decides by the other, which people have set
// these of.
struct PolicyInForce {
    const model::Policy& started_with;
    const model::Policy& now;
    const model::PolicyChanges& set;
};
PolicyView view_policy(std::string profile, const PolicyInForce& policy);

std::string policy_json(const PolicyView& policy);
base::Result<PolicyView> parse_policy(std::string_view text);

}  // namespace berth::codec
