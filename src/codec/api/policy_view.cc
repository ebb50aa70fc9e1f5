// SPDX-License-Identifier: Apache-2.0
#include "codec/api/policy_view.h"

#include "codec/api/api_style.h"

namespace berth::codec {

PolicyView view_policy(std::string profile, const PolicyInForce& policy) {
    PolicyView view{std::move(profile), {}};
    for (const model::PolicySetting& setting : model::policy_settings()) {
        const std::string name(setting.name);
        view.settings.push_back({.name = name,
                                 .value = setting.write(policy.now),
                                 .started_with = setting.write(policy.started_with),
                                 .is_set = policy.set.contains(name),
                                 .takes = std::string(setting.takes),
                                 .meaning = std::string(setting.meaning)});
    }
    return view;
}

std::string policy_json(const PolicyView& policy) { return document("Policy", policy, nullptr); }

base::Result<PolicyView> parse_policy(std::string_view text) {
    return parse_document<PolicyView>(text, ApiStyle("Policy", Reading::Lenient, nullptr));
}

}  // namespace berth::codec
