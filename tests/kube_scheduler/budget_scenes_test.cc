// SPDX-License-Identifier: Apache-2.0
//
// What becomes of Jobs that a PodDisruptionBudget selects, when an owner wants its quota back, and
// when the budget comes and goes.
#include <doctest/doctest.h>

#include "kube_scheduler/scene.h"

namespace berth::tests::kube_scheduler {
namespace {

// 16 GPUs of which a project with a quota of 8 uses all, with two Jobs; another one has the rest of
// the quota.
class Lent : public Scene {
  public:
    Lent() {
        set_node("n1");
        set_node("n2");
        set_project("owner", 8);
        set_project("borrower", 8);
    }
    void add_serving(const std::string& name) {
        Object made;
        made.resource = "jobs";
        made.name_space = "borrower";
        made.name = name;
        made.gpus = 8;
        made.parallelism = 1;
        made.app = "serve";
        server.store.create(made);
    }
    bool is_suspended(const std::string& key) const { return job(key)->is_suspended; }
    // Of the first pod of a Job.
    Held waiting(const std::string& key) { return pods_of(*job(key)).front(); }
};

TEST_CASE("of two Jobs the one without a disruption budget is paused for an owner") {
    Lent scene;
    scene.set_budget("borrower", "serve");
    scene.pass(1);
    SUBCASE("the older") {
        scene.add_job("borrower", "train", 1, 8);
        scene.pass(3);
        scene.add_serving("serve");
    }
    SUBCASE("the younger") {
        scene.add_serving("serve");
        scene.pass(3);
        scene.add_job("borrower", "train", 1, 8);
    }
    scene.pass(3);
    REQUIRE(scene.bound("borrower/serve") + scene.bound("borrower/train") == 2);
    scene.add_job("owner", "urgent", 1, 8);
    scene.pass(5);
    CHECK(scene.bound("owner/urgent") == 1);
    CHECK(scene.is_suspended("borrower/train"));
    CHECK(scene.bound("borrower/serve") == 1);
}

TEST_CASE(
    "a Job that a disruption budget selects waits for its quota and says so, until that goes") {
    Lent scene;
    scene.set_budget("borrower", "serve");
    scene.add_serving("first");
    scene.pass(3);
    REQUIRE(scene.bound("borrower/first") == 1);
    scene.add_serving("second");
    scene.pass(5);
    CHECK(scene.bound("borrower/second") == 0);
    CHECK(scene.waiting("borrower/second")->reason == "QuotaExceeded");
    CHECK(
        scene.waiting("borrower/second")->message ==
        "borrower uses 8 of the quota of 8 GPUs that work which cannot be paused may take, this "
        "asks 8 more; it cannot be paused because PodDisruptionBudget \"serve\" selects its pods");
    scene.remove("poddisruptionbudgets", "borrower/serve");
    scene.pass(3);
    CHECK(scene.bound("borrower/second") == 1);
}

TEST_CASE("a Job above a quota of nothing hears of the disruption budget; a bare pod does not") {
    Lent scene;
    scene.set_project("borrower", 0);
    scene.set_budget("borrower", "serve");
    scene.add_serving("job");
    Object pod = *scene.job("borrower/job");
    pod.resource = "pods";
    pod.name = "bare";
    scene.server.store.create(pod);
    scene.pass(5);
    const std::string words = "PodDisruptionBudget";
    CHECK(scene.waiting("borrower/job")->reason == "QuotaExceeded");
    CHECK(scene.waiting("borrower/job")->message.find(words) != std::string::npos);
    CHECK(scene.pod("borrower/bare")->reason == "QuotaExceeded");
    CHECK(scene.pod("borrower/bare")->message.find(words) == std::string::npos);
}

TEST_CASE("a paused Job that a disruption budget selects from then on borrows no more") {
    Lent scene;
    scene.set_project("borrower", 0);
    scene.set_project("owner", 16);
    scene.add_serving("serve");
    scene.pass(3);
    scene.add_job("owner", "urgent", 2, 8);
    scene.pass(5);
    REQUIRE(scene.is_suspended("borrower/serve"));
    scene.set_budget("borrower", "serve");
    scene.pass(2);
    scene.remove("jobs", "owner/urgent");
    scene.pass(10);
    CHECK(scene.bound("borrower/serve") == 0);
    CHECK(scene.waiting("borrower/serve")->reason == "QuotaExceeded");
    scene.remove("poddisruptionbudgets", "borrower/serve");
    scene.pass(5);
    CHECK(scene.bound("borrower/serve") == 1);
}

TEST_CASE("who takes over pauses no Job that a disruption budget selects, within its quota") {
    Lent scene;
    scene.set_budget("borrower", "serve");
    scene.pass(2);
    scene.add_serving("first");
    scene.pass(3);
    scene.add_job("borrower", "train", 1, 8);
    scene.pass(3);
    REQUIRE(scene.bound("borrower/first") + scene.bound("borrower/train") == 2);
    scene.fail_over();
    scene.add_job("owner", "urgent", 1, 8);
    scene.pass(10);
    CHECK(scene.bound("owner/urgent") == 1);
    CHECK(scene.bound("borrower/first") == 1);
}

TEST_CASE("a disruption budget that comes while its Jobs borrow takes nothing from the owner") {
    Lent scene;
    scene.add_serving("first");
    scene.pass(3);
    scene.add_serving("second");
    scene.pass(3);
    REQUIRE(scene.bound("borrower/first") + scene.bound("borrower/second") == 2);
    scene.set_budget("borrower", "serve");
    SUBCASE("at once") { scene.pass(2); }
    SUBCASE("beyond a failover") { scene.fail_over(); }
    scene.add_job("owner", "urgent", 1, 8);
    scene.pass(10);
    CHECK(scene.bound("owner/urgent") == 1);
    CHECK(scene.bound("borrower/first") + scene.bound("borrower/second") == 1);
}

}  // namespace
}  // namespace berth::tests::kube_scheduler
