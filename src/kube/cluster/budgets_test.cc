// SPDX-License-Identifier: Apache-2.0
#include "kube/cluster/budgets.h"

#include <doctest/doctest.h>

#include <deque>

#include "kube/cluster/described.h"
#include "kube/cluster/written_objects.h"

using namespace berth;
using namespace berth::kube;
using cluster::Budgets;
using cluster::Objects;
using objects::DisruptionBudget;

namespace {

const std::string kServes = R"(,"labels":{"app":"serve"})";
const std::string kOfServe = R"({"matchLabels":{"app":"serve"}})";
const std::string kServeTemplate =
    R"("template":{"metadata":{"labels":{"app":"serve"}},"spec":{"containers":[]}})";

struct Declared {
    const DisruptionBudget* budget(int number, const std::string& selector,
                                   const std::string& name_space = "ml") {
        const std::string text = R"({"metadata":{"name":"guard-)" + std::to_string(number) +
                                 R"(","namespace":")" + name_space + R"(","uid":")" +
                                 Objects::uid(number) + R"("},"spec":{"selector":)" + selector +
                                 "}}";
        codec::JsonReader reader(text);
        made.push_back(objects::read_disruption_budget(reader, pools));
        REQUIRE_MESSAGE(!reader.is_failed(), reader.error());
        return &made.back();
    }

    objects::MetaPools pools;
    std::deque<DisruptionBudget> made;
    Budgets budgets;
};

}  // namespace

TEST_CASE("a gang is protected by a budget that selects one of its pods, while that is not over") {
    Objects objects;
    Declared declared;
    objects.gangs.take(nullptr, objects.job(1, R"(,"spec":{"parallelism":2})"));
    objects.gangs.take(nullptr, objects.pod("train-0", 10, Objects::owned_by(1)));
    declared.budgets.take(nullptr, declared.budget(90, kOfServe));
    CHECK_FALSE(declared.budgets.protects(objects.gang(1)));
    const auto* runs = objects.pod("train-1", 11, Objects::owned_by(1) + kServes);
    objects.gangs.take(nullptr, runs);
    REQUIRE(declared.budgets.protector_of(objects.gang(1)) != nullptr);
    CHECK(declared.budgets.protector_of(objects.gang(1))->meta.name == "guard-90");
    objects.gangs.take(runs,
                       objects.pod("train-1", 11, Objects::owned_by(1) + kServes, "", "Succeeded"));
    CHECK_FALSE(declared.budgets.protects(objects.gang(1)));
}

TEST_CASE("a budget is for its namespace, and until it is gone") {
    Objects objects;
    Declared declared;
    objects.gangs.take(nullptr, objects.pod("serve", 10, kServes));
    declared.budgets.take(nullptr, declared.budget(90, "{}", "web"));
    CHECK_FALSE(declared.budgets.protects(objects.gang(10)));
    const DisruptionBudget* here = declared.budget(91, "{}");
    declared.budgets.take(nullptr, here);
    CHECK(declared.budgets.protects(objects.gang(10)));
    declared.budgets.take(here, nullptr);
    CHECK_FALSE(declared.budgets.protects(objects.gang(10)));
}

TEST_CASE("of a gang without pods, the labels of its template are those of its pods") {
    Objects objects;
    Declared declared;
    const std::string receipt = R"(,"annotations":{"berth.dev/last-pause":"{\"paused\":true}"})";
    objects.gangs.take(
        nullptr, objects.job(1, R"(,"spec":{"suspend":true,)" + kServeTemplate + "}", receipt));
    declared.budgets.take(nullptr, declared.budget(90, kOfServe));
    CHECK(objects.gang(1).is_paused());
    CHECK(declared.budgets.protects(objects.gang(1)));
    // Those that are there say it themselves.
    objects.gangs.take(nullptr, objects.pod("train-0", 10, Objects::owned_by(1)));
    CHECK_FALSE(declared.budgets.protects(objects.gang(1)));
}

TEST_CASE("gangs are looked at again when a budget comes, goes or selects others") {
    Declared declared;
    const DisruptionBudget* first = declared.budget(90, kOfServe);
    const DisruptionBudget* same = declared.budget(90, kOfServe);
    const DisruptionBudget* other = declared.budget(90, "{}");
    CHECK(declared.budgets.take(nullptr, first));
    CHECK_FALSE(declared.budgets.take(first, same));  // its status was written
    CHECK(declared.budgets.take(same, other));
    CHECK(declared.budgets.take(other, nullptr));
}

TEST_CASE("the job of a protected gang is not preemptible") {
    Objects objects;
    objects.gangs.take(nullptr, objects.job(1, R"(,"spec":{"parallelism":1})"));
    objects.gangs.take(nullptr, objects.pod("train-0", 10, Objects::owned_by(1)));
    cluster::ProjectPools project{"vision"};
    CHECK(cluster::job_of(objects.gang(1), project)->preemptible);
    project.protected_since = base::TimePoint{};
    CHECK_FALSE(cluster::job_of(objects.gang(1), project)->preemptible);
}
