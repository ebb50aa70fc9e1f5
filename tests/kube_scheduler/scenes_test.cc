// SPDX-License-Identifier: Apache-2.0
//
// What people do to a cluster on purpose and otherwise, and what becomes of it: one scene each, in
// virtual time, beside an API server in memory.
#include <doctest/doctest.h>

#include "kube/scheduler/metrics.h"
#include "kube_scheduler/scene.h"

namespace berth::tests::kube_scheduler {
namespace {

TEST_CASE("a node's GPUs are used as soon as it offers them, whatever runs there before") {
    Scene scene;
    scene.set_project("ml", 8);
    scene.set_node("n1", 0);
    scene.add_pod("ml", "cpu", 0);
    scene.pass(2);
    REQUIRE(scene.pod("ml/cpu")->node == "n1");
    scene.set_node("n1", 8);
    scene.add_job("ml", "train", 1, 8);
    scene.pass(3);
    CHECK(scene.bound("ml/train") == 1);
}

TEST_CASE("more GPUs of a node in use are used once it is not") {
    Scene scene;
    scene.set_project("ml", 8);
    scene.set_node("n1", 4);
    scene.add_pod("ml", "first", 4);
    scene.pass(2);
    scene.set_node("n1", 8);
    scene.add_job("ml", "train", 1, 8);
    scene.pass(3);
    scene.remove("pods", "ml/first");
    scene.pass(4);
    CHECK(scene.bound("ml/train") == 1);
}

TEST_CASE("a project moves below another one while its jobs run and wait") {
    Scene scene;
    scene.set_node("n1");
    scene.set_project("research", 8);
    scene.set_project("ml", 8);
    scene.add_job("ml", "first", 1, 8);
    scene.add_job("ml", "second", 1, 8);
    scene.pass(100);
    const std::string runs = scene.bound("ml/first") == 1 ? "ml/first" : "ml/second";
    REQUIRE(scene.bound(runs) == 1);
    scene.set_project("ml", 8, R"(,"parent":"research")");
    const auto suspensions = scene.suspensions;
    scene.pass(10);
    CHECK(scene.parent_of("ml") == "research");
    CHECK(scene.bound(runs) == 1);
    CHECK(scene.suspensions == suspensions);
    scene.remove("jobs", runs);
    scene.pass(4);
    CHECK(scene.used()["n1"] == 8);
}

TEST_CASE("a project that gets projects below it keeps its jobs until they end") {
    Scene scene;
    scene.set_node("n1");
    scene.set_project("research", 8);
    scene.add_job("research", "runs", 1, 8);
    scene.pass(100);
    scene.set_project("ml", 8, R"(,"parent":"research")");
    scene.add_job("ml", "new", 1, 8);
    scene.pass(100);
    CHECK(scene.bound("research/runs") == 1);
    scene.remove("jobs", "research/runs");
    scene.pass(4);
    CHECK(scene.bound("ml/new") == 1);
}

TEST_CASE("the nodes of a pool that is deleted are in the default one") {
    Scene scene;
    scene.set_node("n1");
    scene.set("pools", "apart", R"("spec":{"nodeSelector":{"app":"train"}})");
    scene.set_project("ml", 8);
    scene.add_job("ml", "train", 1, 8);
    scene.pass(100);
    REQUIRE(scene.bound("ml/train") == 0);
    scene.remove("pools", "/apart");
    scene.pass(10);
    CHECK(scene.bound("ml/train") == 1);
}

TEST_CASE("pools that are gone leave room for others") {
    Scene scene;
    scene.set_node("n1");
    scene.set_project("ml", 0);
    scene.pass(60);
    for (int number = 0; number < 260; ++number) {
        const std::string name = "p" + std::to_string(number);
        scene.set("pools", name, R"("spec":{"nodeSelector":{"x":"y"}})");
        scene.pass(1);
        scene.remove("pools", "/" + name);
        scene.pass(1);
    }
    scene.set("pools", "last", R"("spec":{"nodeSelector":{"app":"train"}})");
    scene.set_project("ml", 0, R"(,"pools":{"last":{"quota":8}})");
    scene.add_job("ml", "train", 1, 8);
    scene.pass(70);
    CHECK(scene.bound("ml/train") == 1);
}

TEST_CASE("a pool may name its spares before they are declared") {
    Scene scene;
    scene.set("pools", "a", R"("spec":{"nodeSelector":{"a":"b"},"spares":"b"})");
    scene.pass(2);
    scene.set("pools", "b", R"("spec":{"nodeSelector":{"c":"d"}})");
    scene.pass(3);
    const auto& core = scene.core();
    CHECK(core.pool(core.find_pool("a")).spares == "b");
}

TEST_CASE("resources that no node has keep no gang from those that nodes have") {
    Scene scene;
    scene.set_node("n1");
    scene.set_project("ml", 8);
    for (int number = 0; number < 9; ++number) {
        Object pod;
        pod.resource = "pods";
        pod.name_space = "ml";
        pod.name = "odd-" + std::to_string(number);
        pod.asks = ",\"example.org/odd-" + std::to_string(number) + "\":\"1\"";
        scene.server.store.create(pod);
    }
    scene.pass(2);
    scene.set_node("n2", 8, R"(,"rdma/hca":"1")");
    Object pod;
    pod.resource = "pods";
    pod.name_space = "ml";
    pod.name = "fast";
    pod.asks = R"(,"rdma/hca":"1")";
    scene.server.store.create(pod);
    scene.pass(3);
    CHECK(scene.pod("ml/fast")->node == "n2");
    CHECK(scene.pod("ml/odd-0")->node.empty());
}

TEST_CASE("a Job that its user resumed and then suspends is the user's") {
    Scene scene;
    scene.set_node("n1");
    scene.set_project("owner", 8);
    scene.set_project("borrower", 0);
    scene.add_job("borrower", "long", 1, 8);
    scene.pass(3);
    scene.add_job("owner", "urgent", 1, 8);
    scene.pass(5);
    REQUIRE(scene.job("borrower/long")->is_suspended);
    scene.set_suspended("borrower/long", false);
    scene.pass(3);
    scene.set_suspended("borrower/long", true);
    scene.pass(3);
    scene.remove("jobs", "owner/urgent");
    scene.pass(10);
    CHECK(scene.job("borrower/long")->is_suspended);
    scene.set_suspended("borrower/long", false);
    scene.pass(3);
    CHECK(scene.bound("borrower/long") == 1);
}

TEST_CASE("a paused Job whose project goes is given back: its pods say why they wait") {
    Scene scene;
    scene.set_node("n1");
    scene.set_project("owner", 8);
    scene.set_project("borrower", 0);
    scene.add_job("borrower", "long", 1, 8);
    scene.pass(3);
    scene.add_job("owner", "urgent", 1, 8);
    scene.pass(5);
    REQUIRE(scene.job("borrower/long")->is_suspended);
    SUBCASE("at once") {}
    SUBCASE("while no replica leads") { scene.process.reset(); }
    scene.remove("projects", "/borrower");
    if (!scene.process) scene.fail_over();
    scene.pass(20);
    CHECK_FALSE(scene.job("borrower/long")->is_suspended);
    const auto pods = scene.pods_of(*scene.job("borrower/long"));
    REQUIRE(pods.size() == 1);
    CHECK(pods[0]->node.empty());
    CHECK(pods[0]->reason == "Unschedulable");
    SUBCASE("and when it is there again it goes on") {
        scene.set_project("borrower", 8);
        scene.remove("jobs", "owner/urgent");
        scene.pass(5);
        CHECK(scene.bound("borrower/long") == 1);
    }
}

TEST_CASE("a gang that is resumed starts when all its pods have come, however long that takes") {
    Scene scene;
    for (const char* node : {"n1", "n2", "n3"}) scene.set_node(node);
    scene.set_project("owner", 24);
    scene.set_project("borrower", 0);
    scene.add_job("borrower", "long", 24, 1);
    scene.pass(10);
    REQUIRE(scene.bound("borrower/long") == 24);
    scene.add_job("owner", "urgent", 3, 8);
    scene.pass(5);
    REQUIRE(scene.bound("borrower/long") == 0);
    scene.remove("jobs", "owner/urgent");
    scene.pass(6);
    CHECK(scene.bound("borrower/long") == 0);  // none before the last
    scene.pass(6);
    CHECK(scene.bound("borrower/long") == 24);
    CHECK(scene.suspensions == 1);
}

TEST_CASE("a victim's end that the server has no time for is asked for again") {
    Scene scene;
    scene.set_node("n1");
    scene.set_project("owner", 8);
    scene.set_project("borrower", 0);
    Object victim;
    victim.resource = "pods";
    victim.name_space = "borrower";
    victim.name = "willing";
    victim.gpus = 8;
    victim.annotations["berth.dev/preemptible"] = "true";
    scene.server.store.create(victim);
    scene.pass(3);
    REQUIRE(scene.pod("borrower/willing")->node == "n1");
    scene.add_job("owner", "urgent", 1, 8);
    scene.control_jobs();
    scene.server.faults.too_many = 1000;
    scene.pass(2);
    scene.server.faults.too_many = 0;
    scene.pass(20);
    CHECK(scene.bound("owner/urgent") == 1);
}

TEST_CASE("a gang below which a node goes away is placed anew as a whole") {
    Scene scene;
    for (const char* node : {"n1", "n2", "n3"}) scene.set_node(node);
    scene.set_project("ml", 24);
    scene.add_job("ml", "gang", 2, 8);
    scene.pass(4);
    REQUIRE(scene.bound("ml/gang") == 2);
    const std::string lost = scene.pods_of(*scene.job("ml/gang")).front()->node;
    scene.remove("nodes", "/" + lost);
    scene.server.store.remove(scene.pods_of(*scene.job("ml/gang")).front());
    scene.pass(15);
    CHECK(scene.bound("ml/gang") == 2);
    CHECK(scene.used()[lost] == 0);
}

TEST_CASE("a pod that a user binds by hand is counted, once, until it is gone") {
    Scene scene;
    scene.set_node("n1");
    scene.set_project("ml", 0);  // it waits for a quota
    Object pod = *scene.add_pod("ml", "p", 6);
    scene.pass(2);
    pod = *scene.pod("ml/p");
    pod.node = "n1";
    scene.server.store.change(pod);
    scene.set_project("ml", 16);
    scene.pass(2);
    scene.add_pod("ml", "large", 4);
    scene.add_pod("ml", "small", 2);
    scene.pass(3);
    CHECK(scene.pod("ml/large")->node.empty());
    CHECK(scene.pod("ml/small")->node == "n1");
    scene.remove("pods", "ml/p");
    scene.pass(3);
    CHECK(scene.pod("ml/large")->node == "n1");
}

TEST_CASE("a reason that the server did not take is written again") {
    Scene scene;
    scene.set_node("n1");
    scene.set_project("ml", 8);
    scene.server.faults.conflicts = 1000;  // of each write
    scene.add_pod("ml", "large", 9);
    scene.pass(3);
    REQUIRE(scene.pod("ml/large")->reason.empty());
    scene.server.faults = {};
    scene.pass(10);
    CHECK(scene.pod("ml/large")->reason == "Unschedulable");
}

TEST_CASE("a gang of which another program bound a pod waits until that is gone, and says so") {
    Scene scene;
    scene.set_node("n1");
    scene.set_node("n2", 4);
    scene.set_project("ml", 16);
    scene.add_pod("ml", "first", 8);
    scene.pass(3);
    scene.add_job("ml", "gang", 2, 4);
    scene.pass(1);
    const Held bound = scene.pods_of(*scene.job("ml/gang")).front();
    Object elsewhere = *bound;
    elsewhere.node = "n2";
    scene.server.store.change(elsewhere);
    scene.remove("pods", "ml/first");
    scene.pass(5);
    CHECK(scene.used()["n2"] == 4);
    CHECK(scene.bound("ml/gang") == 1);
    const auto pods = scene.pods_of(*scene.job("ml/gang"));
    REQUIRE(pods.size() == 2);
    const Held& waits = pods[pods[0]->name == bound->name ? 1 : 0];
    CHECK(waits->reason == "Unschedulable");
    // Another pod comes in its place before it is gone.
    scene.add_pod_of("ml/gang");
    scene.pass(2);
    scene.remove("pods", bound->key());
    scene.pass(5);
    CHECK(scene.bound("ml/gang") == 2);
}

TEST_CASE("a gang that failed to start is placed when its project is there again") {
    Scene scene;
    scene.set_node("n1");
    scene.set_project("ml", 8);
    scene.server.is_bind_allowed = false;
    scene.add_pod("ml", "train", 8);
    scene.server.break_all();
    scene.pass(2);
    scene.remove("projects", "/ml");
    scene.server.is_bind_allowed = true;
    scene.pass(30);
    REQUIRE(scene.pod("ml/train")->node.empty());
    scene.set_project("ml", 8);
    scene.pass(5);
    CHECK(scene.pod("ml/train")->node == "n1");
}

TEST_CASE("a pod above a quota of nothing says that it is the quota") {
    Scene scene;
    scene.set_node("n1");
    scene.set_project("ml", 0);
    scene.add_pod("ml", "bare", 1);
    scene.pass(3);
    CHECK(scene.pod("ml/bare")->reason == "QuotaExceeded");
}

TEST_CASE("a gang whose pods do not come says how many are there, and what has no owner, that") {
    Scene scene;
    scene.set_node("n1");
    scene.set_project("ml", 8);
    scene.add_job("ml", "gang", 4, 1);
    scene.control_jobs();  // it makes three at once
    scene.are_jobs_controlled = false;
    Object lost = *scene.pods_of(*scene.job("ml/gang")).front();
    lost.name = "lost";
    lost.owner = "01234567-89ab-4def-8edc-ba9876543210";
    scene.server.store.create(lost);
    scene.pass(15);
    CHECK(scene.pods_of(*scene.job("ml/gang")).front()->reason == "Unschedulable");
    CHECK(scene.pod("ml/lost")->reason == "Unschedulable");
}

TEST_CASE("a node that is made again under its name is there") {
    Scene scene;
    scene.set_node("n1");
    scene.set_project("ml", 8);
    scene.pass(2);
    scene.server.is_down = true;
    scene.server.break_all();
    scene.remove("nodes", "/n1");
    scene.set_node("n1");
    scene.server.store.compact(0);
    scene.pass(5);
    scene.server.is_down = false;
    scene.pass(40);
    scene.add_job("ml", "train", 1, 8);
    scene.pass(3);
    CHECK(scene.bound("ml/train") == 1);
}

// Among its metrics.
bool says(const Process& process, const std::string& line) {
    const std::string text = kube::scheduler::metrics_text(process.replica);
    return text.find("\n" + line + "\n") != std::string::npos;
}

TEST_CASE("what was counted stays when it begins again") {
    Scene scene;
    scene.set_node("n1");
    scene.set_project("research", 8);
    scene.set_project("ml", 8);
    scene.add_job("ml", "train", 2, 1);
    scene.pass(100);
    const auto has = [&](const std::string& line) { return says(*scene.process, line); };
    CHECK(has("berth_leads 1"));
    CHECK(has("berth_pods_bound_total 2"));
    CHECK(has("berth_jobs{state=\"running\"} 1"));
    CHECK_FALSE(has("berth_decision_seconds_count 0"));
    scene.set_project("ml", 8, R"(,"parent":"research")");
    scene.pass(10);
    REQUIRE(scene.parent_of("ml") == "research");
    CHECK(has("berth_pods_bound_total 2"));
    CHECK(has("berth_jobs{state=\"running\"} 1"));
}

TEST_CASE("a replica is ready when it decides, and when it could take over from another one") {
    Scene scene;
    const auto ready = [](const Process& process) {
        return kube::scheduler::readiness_of(process.replica);
    };
    CHECK(ready(*scene.process).is_ready);
    Process other(scene.server, scene.time, 7);
    CHECK_FALSE(ready(other).is_ready);
    CHECK(ready(other).words == "asks who leads");
    scene.pass(1);
    CHECK(ready(other).is_ready);
    CHECK(ready(other).words == "waits: 1 leads");
    CHECK(says(other, "berth_leads 0"));
    scene.server.is_down = true;
    scene.server.break_all();
    scene.pass(2);
    CHECK_FALSE(ready(*scene.process).is_ready);
    CHECK_FALSE(ready(other).is_ready);
}

}  // namespace
}  // namespace berth::tests::kube_scheduler
