// SPDX-License-Identifier: Apache-2.0
#include "model/policy/policy_settings.h"

#include <doctest/doctest.h>

#include <set>

namespace berth::model {
namespace {

std::string refusal(std::string_view name, std::string_view text) {
    Policy policy = berth_policy();
    const base::Status read = find_policy_setting(name)->read(policy, text);
    CHECK(policy == berth_policy());
    return read ? "accepted" : read.error().message;
}

std::string written(std::string_view name, std::string_view text) {
    Policy policy;
    const base::Status read = find_policy_setting(name)->read(policy, text);
    REQUIRE_MESSAGE(read.has_value(), name << "=" << text);
    return find_policy_setting(name)->write(policy);
}

TEST_CASE("what a setting writes it reads back, in every profile") {
    for (const Policy& profile : {berth_policy(), classic_policy()}) {
        Policy copy = profile == berth_policy() ? classic_policy() : berth_policy();
        for (const PolicySetting& setting : policy_settings()) {
            INFO(setting.name);
            CHECK(setting.read(copy, setting.write(profile)).has_value());
            CHECK(setting.write(copy) == setting.write(profile));
        }
        CHECK(copy == profile);  // each field in which they differ has a setting
    }
}

TEST_CASE("each setting has a name of its own, a form and a meaning that fit in a table") {
    std::set<std::string_view> names;
    for (const PolicySetting& setting : policy_settings()) {
        INFO(setting.name);
        CHECK(names.insert(setting.name).second);
        if (!setting.formerly.empty()) CHECK(names.insert(setting.formerly).second);
        CHECK(find_policy_setting(setting.name) == &setting);
        CHECK_FALSE(setting.takes.empty());
        CHECK(setting.meaning.size() <= 40);
        CHECK_FALSE(setting.meaning.ends_with('.'));
    }
    CHECK(find_policy_setting("min-run") == nullptr);
}

TEST_CASE("a setting that was renamed is read under its former name") {
    for (const PolicySetting& setting : policy_settings()) {
        if (setting.formerly.empty()) continue;
        INFO(setting.formerly);
        CHECK(find_policy_setting(setting.formerly) == &setting);
        const std::string text = setting.write(classic_policy());
        const std::string now(setting.name);
        const std::string then(setting.formerly);
        CHECK(changed_policy(berth_policy(), {{then, text}}).value() ==
              changed_policy(berth_policy(), {{now, text}}).value());
        CHECK(under_new_names({{then, text}}) == PolicyChanges{{now, text}});
        CHECK(under_new_names({{then, "1"}, {now, "2"}}) == PolicyChanges{{now, "2"}});
        CHECK(merged({{then, "1"}}, {{now, "2"}}) == PolicyChanges{{now, "2"}});
        CHECK(merged({{now, "1"}}, {{then, {}}}).empty());
    }
}

TEST_CASE("a time is written without loss") {
    CHECK(written("min_runtime", "90m") == "1h30m");
    CHECK(written("min_runtime", "1h30m15s") == "5415s");
    CHECK(written("min_runtime", "1s5ms") == "1005ms");
    CHECK(written("min_runtime", "0") == "0s");
    CHECK(written("stale_grace", "never") == "never");
    CHECK(written("park_after", "never") == "never");
    CHECK(written("waste_budget", "none") == "none");
    CHECK(written("gpu_prices", "H100:2.5,GeForce: 4090:1") == "GeForce: 4090:1,H100:2.5");
    CHECK(written("gpu_prices", "none") == "none");
    CHECK(written("waste_budget", "0.050") == "0.05");
    CHECK(written("consolidate_above", "0.6") == "0.6");
    CHECK(written("consolidation_max_jobs", "007") == "7");
    CHECK(written("train", "spread") == "spread");
}

TEST_CASE("what is out of range is refused and says the range") {
    CHECK(refusal("order.tail", "51") == "wanted a whole number from 0 to 50, found \"51\"");
    CHECK(refusal("order", "fifo") == "wanted learned or levels or age, found \"fifo\"");
    CHECK(refusal("order.tail", "two") == "wanted a whole number from 0 to 50, found \"two\"");
    CHECK(refusal("order.tail", "4 ") == "wanted a whole number from 0 to 50, found \"4 \"");
    CHECK(refusal("consolidation_max_jobs", "-1") ==
          "wanted a whole number from 0 to 1000, found \"-1\"");
    CHECK(refusal("grace", "11m") == "wanted a time from 0s to 10m, found \"11m\"");
    CHECK(refusal("min_runtime", "400d") == "wanted a time from 0s to 365d, found \"400d\"");
    CHECK(refusal("usage_half_life", "0") == "wanted a time from 1ms to 365d, found \"0\"");
    CHECK(refusal("reservation_hold", "30") ==
          "wanted a time such as 90s, 5m, 2h or 1h30m, found \"30\"");
    CHECK(refusal("waste_budget", "1.5") ==
          "wanted a number from 0 to 1 with at most three decimals, found \"1.5\"");
    CHECK(refusal("measured_usage", "true") == "wanted no or yes, found \"true\"");
    const std::string prices = "wanted MODEL:PRICE,... or none, such as H100:2.5,A100:1.2, found ";
    CHECK(refusal("gpu_prices", "H100") == prices + "\"H100\"");
    CHECK(refusal("gpu_prices", "H100:-1") == prices + "\"H100:-1\"");
    CHECK(refusal("gpu_prices", "H100:1,") == prices + "\"H100:1,\"");
    CHECK(refusal("gpu_prices", "A:1,A:2") ==
          "wanted at most 100 models, each once, found \"A:1,A:2\"");
    CHECK(refusal("train", "pack") == "wanted binpack or spread, found \"pack\"");
}

TEST_CASE("changes hold together, and a name that is not known lists those that are") {
    const auto changed = changed_policy(
        berth_policy(),
        {{"consolidation_max_jobs", "0"}, {"min_runtime", "10m"}, {"reservation_hold", {}}});
    REQUIRE(changed.has_value());
    Policy wanted = berth_policy();
    wanted.moves_max = 0;
    wanted.min_run = Duration{600'000};
    CHECK(*changed == wanted);
    const auto unknown = changed_policy(berth_policy(), {{"min-run", "10m"}});
    REQUIRE_FALSE(unknown.has_value());
    CHECK(unknown.error().code == base::ErrorCode::NotFound);
    CHECK(unknown.error().message.starts_with("unknown setting \"min-run\"; known are order "));
    CHECK(changed_policy(berth_policy(), {{"consolidation_max_jobs", "many"}}).error().message ==
          "consolidation_max_jobs: wanted a whole number from 0 to 1000, found \"many\"");
}

TEST_CASE("a setting that is gone is refused with what holds instead, and passed over in logs") {
    const auto refused = changed_policy(berth_policy(), {{"sticky_plans", "no"}});
    REQUIRE_FALSE(refused.has_value());
    CHECK(refused.error().code == base::ErrorCode::NotFound);
    CHECK(refused.error().message ==
          "setting \"sticky_plans\" is gone: GPUs that are freed for a job are always reserved for "
          "it");
    CHECK(under_new_names({{"sticky_plans", "no"}, {"grace", "1m"}}) ==
          PolicyChanges{{"grace", "1m"}});
    CHECK(merged({{"sticky_plans", "no"}}, {{"grace", "1m"}}) == PolicyChanges{{"grace", "1m"}});
    for (const std::string name :
         {"sticky_plans", "tiers", "first_tier", "tier_factor", "tier_patience"}) {
        INFO(name);
        CHECK(find_policy_setting(name) == nullptr);
        REQUIRE(gone_setting(name).has_value());
        CHECK(gone_setting(name) == changed_policy(berth_policy(), {{name, "4"}}).error().message);
        CHECK(under_new_names({{name, "4"}}).empty());
    }
    for (const PolicySetting& setting : policy_settings()) {
        CHECK_FALSE(gone_setting(setting.name).has_value());
        CHECK_FALSE(gone_setting(setting.formerly).has_value());
    }
    CHECK_FALSE(gone_setting("tier").has_value());
}

}  // namespace
}  // namespace berth::model
