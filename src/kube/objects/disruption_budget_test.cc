// SPDX-License-Identifier: Apache-2.0
#include "kube/objects/disruption_budget.h"

#include <doctest/doctest.h>

using namespace berth::kube::objects;
using berth::codec::JsonReader;

namespace {

const std::string kBudgetMeta =
    R"("metadata": {"name": "guard", "uid": "01234567-89ab-cdef-fedc-ba9876543210"})";

DisruptionBudget budget_of(MetaPools& pools, const std::string& spec) {
    const std::string text = "{" + kBudgetMeta + R"(, "spec": )" + spec + "}";
    JsonReader reader(text);
    DisruptionBudget budget = read_disruption_budget(reader, pools);
    reader.finish();
    REQUIRE_MESSAGE(!reader.is_failed(), reader.error());
    return budget;
}

Labels labels_of(MetaPools& pools, const std::string& text) {
    JsonReader reader(text);
    return *read_labels(reader, pools);
}

// A budget with one condition, on the label app.
std::string on_app(const std::string& op, const std::string& values) {
    return R"({"selector": {"matchExpressions": [{"key": "app", "operator": ")" + op +
           R"(", "values": )" + values + "}]}}";
}

}  // namespace

TEST_CASE("an empty selector selects every pod, none selects no pod") {
    MetaPools pools;
    const Labels train = labels_of(pools, R"({"app": "train"})");
    for (const char* spec : {R"({"selector": {}})", R"({"selector": {"matchLabels": {}}})",
                             R"({"selector": {"matchLabels": null, "matchExpressions": []}})"}) {
        CHECK_MESSAGE(selects(budget_of(pools, spec), train), spec);
        CHECK_MESSAGE(selects(budget_of(pools, spec), {}), spec);
    }
    for (const char* spec : {"{}", R"({"selector": null})", R"({"minAvailable": "50%"})"}) {
        CHECK_FALSE_MESSAGE(selects(budget_of(pools, spec), train), spec);
    }
}

TEST_CASE(
    "a selector holds as for every other controller: labels and four operators, all of them") {
    MetaPools pools;
    const Labels train = labels_of(pools, R"({"app": "train", "team": "vision"})");
    const Labels bare = labels_of(pools, R"({"team": "vision"})");
    const auto holds = [&](const std::string& spec) {
        const DisruptionBudget budget = budget_of(pools, spec);
        return std::pair(selects(budget, train), selects(budget, bare));
    };
    CHECK(holds(R"({"selector": {"matchLabels": {"app": "train"}}})") == std::pair(true, false));
    CHECK(holds(R"({"selector": {"matchLabels": {"app": "trai"}}})") == std::pair(false, false));
    CHECK(holds(R"({"selector": {"matchLabels": {"app": ""}}})") == std::pair(false, false));
    CHECK(holds(on_app("In", R"(["serve", "train"])")) == std::pair(true, false));
    CHECK(holds(on_app("NotIn", R"(["train"])")) == std::pair(false, true));
    CHECK(holds(on_app("Exists", "null")) == std::pair(true, false));
    CHECK(holds(on_app("DoesNotExist", "[]")) == std::pair(false, true));
    CHECK(holds(R"({"selector": {"matchLabels": {"team": "vision"},
                    "matchExpressions": [{"key": "app", "operator": "DoesNotExist"}]}})") ==
          std::pair(false, true));
}

TEST_CASE(
    "a condition on a label that tells pods of a set apart holds: Berth does not keep those") {
    MetaPools pools;
    const Labels kept = labels_of(pools, R"({"batch.kubernetes.io/job-completion-index": "3",
                                             "app": "train"})");
    CHECK(kept.size() == 1);
    CHECK(selects(budget_of(pools, R"({"selector": {"matchLabels": {"app": "train",
              "batch.kubernetes.io/job-completion-index": "3"}}})"),
                  kept));
}

TEST_CASE("a budget that cannot be read selects every pod, and stops no list") {
    MetaPools pools;
    for (const char* spec :
         {R"({"selector": "none"})", R"({"selector": {"matchLabels": ["app"]}})",
          R"({"selector": {"matchLabels": {"app": 7}}})", "[1, 2]",
          R"({"selector": {"matchExpressions": [{"key": "app", "operator": {}}]}})"}) {
        const std::string text = "[{" + kBudgetMeta + R"(, "spec": )" + spec + "}, 7]";
        JsonReader reader(text);
        reader.begin_array();
        REQUIRE(reader.next_element());
        const DisruptionBudget budget = read_disruption_budget(reader, pools);
        REQUIRE_MESSAGE(!reader.is_failed(), reader.error());
        CHECK(reader.next_element());
        CHECK_MESSAGE(!budget.problem.empty(), spec);
        CHECK_MESSAGE(selects(budget, labels_of(pools, R"({"app": "train"})")), spec);
    }
    CHECK(selects(budget_of(pools, on_app("IsLike", R"(["t.*"])")), {}));
}

TEST_CASE("what has no metadata is no budget") {
    MetaPools pools;
    for (const char* text : {R"({"spec": {"selector": {}}})",
                             R"({"metadata": {"uid": "01234567-89ab-cdef-fedc-ba9876543210"}})"}) {
        JsonReader reader(text);
        read_disruption_budget(reader, pools);
        CHECK_MESSAGE(reader.is_failed(), text);
    }
}
