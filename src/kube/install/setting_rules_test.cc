// SPDX-License-Identifier: Apache-2.0
#include "kube/install/setting_rules.h"

#include <doctest/doctest.h>

using namespace berth;
using namespace berth::kube::install;

namespace {

SettingRule rule(std::string_view name) {
    const model::PolicySetting* setting = model::find_policy_setting(name);
    REQUIRE(setting != nullptr);
    return rule_of(*setting);
}

}  // namespace

TEST_CASE("every setting has words or a rule, with its bounds as they are read") {
    for (const model::PolicySetting& setting : model::policy_settings()) {
        CAPTURE(setting.name);
        CHECK(rule_of(setting).message.starts_with("wanted "));
    }
    CHECK(rule("order").words == std::vector<std::string>{"learned", "levels", "age"});
    CHECK(rule("consolidation_priced").words == std::vector<std::string>{"yes", "no"});
    CHECK(rule("order.tail").message == "wanted a whole number from 0 to 50");
    CHECK(rule("order.tail").rule ==
          "(self.matches('^[0-9]{1,7}$') && int(self) >= 0 && int(self) <= 50)");
    CHECK(rule("grace").message == "wanted a time such as 90s, 5m or 1h30m, at most 10m");
    CHECK(rule("usage_half_life").message ==
          "wanted a time such as 90s, 5m or 1h30m, from 1ms to 365d");
    CHECK(rule("park_after").message.ends_with("from 1ms to 365d, or never"));
    CHECK(rule("waste_budget").message ==
          "wanted a number from 0 to 1 with at most three decimals, or none");
}
