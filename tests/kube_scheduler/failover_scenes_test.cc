// SPDX-License-Identifier: Apache-2.0
//
// What the next one who leads knows when the leader is killed: one scene each, as in
// scenes_test.cc.
#include <doctest/doctest.h>

#include <iterator>

#include "kube_scheduler/scene.h"

namespace berth::tests::kube_scheduler {
namespace {

TEST_CASE("a gang that runs with a pod missing goes on beyond a failover") {
    Scene scene;
    scene.set_node("n1");
    scene.set_node("n2");
    scene.set_project("ml", 16);
    scene.add_job("ml", "gang", 2, 8);
    scene.pass(3);
    REQUIRE(scene.bound("ml/gang") == 2);
    scene.are_jobs_controlled = false;
    scene.server.store.remove(scene.pods_of(*scene.job("ml/gang")).front());
    scene.pass(2);
    scene.fail_over();
    scene.pass(15);
    CHECK_FALSE(scene.job("ml/gang")->is_suspended);
    scene.are_jobs_controlled = true;
    scene.pass(3);
    CHECK(scene.bound("ml/gang") == 2);
}

TEST_CASE("whose victims still leave when the leader is killed gets what it was promised") {
    Scene scene;
    scene.set_node("n1");
    scene.set_project("owner", 8);
    scene.set_project("borrower", 0);
    scene.add_job("borrower", "long", 1, 8);
    scene.pass(100);
    REQUIRE(scene.bound("borrower/long") == 1);
    scene.add_job("owner", "urgent", 1, 8);
    scene.pass(1);
    scene.are_jobs_controlled = false;
    scene.pass(2);
    REQUIRE(scene.job("borrower/long")->is_suspended);
    REQUIRE(scene.bound("borrower/long") == 1);
    scene.fail_over();
    scene.pass(5);
    CHECK(scene.bound("owner/urgent") == 0);
    scene.are_jobs_controlled = true;
    scene.pass(6);
    CHECK(scene.bound("owner/urgent") == 1);
    CHECK(scene.job("borrower/long")->is_suspended);
    CHECK(scene.resumptions == 0);
    scene.remove("jobs", "owner/urgent");
    scene.pass(6);
    CHECK(scene.bound("borrower/long") == 1);
}

TEST_CASE("what a Job was paused for stays written when another one resumes it") {
    Scene scene;
    scene.set_node("n1");
    scene.set_project("owner", 8);
    scene.set_project("borrower", 0);
    scene.add_job("borrower", "long", 1, 8);
    scene.pass(100);
    const Held urgent = scene.add_job("owner", "urgent", 1, 8);
    scene.pass(5);
    std::string receipt = scene.job("borrower/long")->annotations.at("berth.dev/last-pause");
    REQUIRE(receipt.find(urgent->uid) != std::string::npos);
    scene.fail_over();
    scene.remove("jobs", "owner/urgent");
    scene.pass(8);
    REQUIRE(scene.bound("borrower/long") == 1);
    receipt.replace(receipt.find("true"), 4, "false");
    CHECK(scene.job("borrower/long")->annotations.at("berth.dev/last-pause") == receipt);
}

TEST_CASE("a gang keeps what it was promised when the leader is killed, whatever comes meanwhile") {
    Scene scene;
    scene.set_node("n1");
    scene.set_project("owner", 8);
    scene.set_project("borrower", 0);
    for (int number = 0; number < kNodeGpus; ++number)
        scene.add_job("borrower", "small-" + std::to_string(number), 1, 1);
    scene.pass(100);
    const auto victims = scene.all("pods");
    REQUIRE(scene.used()["n1"] == kNodeGpus);
    scene.add_job("owner", "gang", kNodeGpus, 1);
    scene.make_pods_once("owner/gang");
    scene.pass(1);
    REQUIRE(scene.job("borrower/small-0")->is_suspended);
    // Half of them leave before it is killed, the others after that.
    for (int gone = 0; gone < kNodeGpus / 2; ++gone)
        scene.remove("pods", std::next(victims.begin(), gone)->second->key());
    scene.process.reset();
    // One GPU goes before eight, by the order of jobs.
    scene.add_job("owner", "next", 1, 1);
    scene.make_pods_once("owner/next");
    SUBCASE("") {
        scene.fail_over();
        scene.are_jobs_controlled = true;
        scene.pass(10);
        CHECK(scene.bound("owner/gang") == kNodeGpus);
        CHECK(scene.bound("owner/next") == 0);
        CHECK(scene.suspensions == kNodeGpus);
        CHECK(scene.resumptions == 0);
        for (const auto& [id, job] : scene.jobs_of_the_core())
            CHECK(job.pauses == (job.spec.project == "borrower" ? 1 : 0));
    }
    SUBCASE("unless it is not there any more: then all is decided anew") {
        scene.remove("nodes", "/n1");
        scene.set_node("n2");
        scene.fail_over();
        // Pods that still leave a node that is gone belong to no gang.
        CHECK(scene.jobs_of_the_core().size() == kNodeGpus / 2 + 2);
        CHECK(scene.bound("owner/next") == 1);
    }
    SUBCASE("unless a stranger uses a GPU of it") {
        Object stranger;
        stranger.resource = "pods";
        stranger.name_space = "kube-system";
        stranger.name = "stranger";
        stranger.scheduler = "default-scheduler";
        stranger.node = "n1";
        stranger.gpus = 1;
        scene.server.store.create(stranger);
        scene.fail_over();
        CHECK(scene.jobs_of_the_core().size() == kNodeGpus + 2);
        CHECK(scene.bound("owner/next") == 1);
    }
}

TEST_CASE("what promises nothing, whatever it says, keeps no gang from anything") {
    const std::string begin = R"({"time":"2026-03-01T12:00:00Z","until":"2026-03-01T12:0)";
    for (const std::string& said :
         {std::string("x"), std::string("{}"),
          begin + R"(0:01Z","places":[{"node":"n1","pods":2}]})",
          begin + R"(9:00Z","places":[{"node":"n1","pods":1}]})",
          begin + R"(9:00Z","places":[{"node":"n1","pods":2000000000}]})",
          begin + R"(9:00Z","places":[{"node":"n1","pods":-2}]})",
          begin + R"(9:00Z","places":[{"node":"n1"},{"node":"","pods":2}]})",
          begin + R"(9:00Z","places":[{"node":"n2","pods":2}]})",
          std::string(R"({"until":"9999-12-31T23:59:59Z","places":[{"node":"n1","pods":2}]})")}) {
        CAPTURE(said);
        Scene scene;
        scene.process.reset();
        scene.set_node("n1");
        scene.set_project("ml", 8);
        Object gang = *scene.add_job("ml", "gang", 2, 4);
        gang.annotations["berth.dev/promise"] = said;
        scene.server.store.change(gang);
        scene.add_job("ml", "next", 1, 8);
        scene.fail_over();
        CHECK(scene.jobs_of_the_core().size() == 2);
        CHECK(scene.used()["n1"] == kNodeGpus);
    }
}

TEST_CASE("a Job that moves when the leader is killed goes where it was promised to") {
    Scene scene;
    scene.set_node("n1");
    scene.set_node("n2");
    scene.set_project("ml", 16);
    for (const char* name : {"a", "b", "c", "d"}) {
        scene.add_job("ml", name, 1, 4);
        scene.pass(2);
    }
    scene.pass(100);
    scene.remove("jobs", "ml/a");
    scene.remove("jobs", "ml/c");
    scene.pass(2);
    REQUIRE(scene.used()["n1"] == 4);
    REQUIRE(scene.used()["n2"] == 4);
    scene.add_job("ml", "large", 1, 8);
    scene.make_pods_once("ml/large");
    const auto moves = [&] {
        return scene.job("ml/b")->is_suspended || scene.job("ml/d")->is_suspended;
    };
    for (int second = 0; second < 600 && !moves(); ++second) scene.pass(1);
    REQUIRE(moves());
    scene.process.reset();
    scene.set_project("borrower", 0);
    scene.add_job("borrower", "next", 1, 1);
    scene.make_pods_once("borrower/next");
    scene.fail_over();
    CHECK(scene.bound("borrower/next") == 0);
    scene.are_jobs_controlled = true;
    scene.pass(10);
    CHECK(scene.bound("ml/large") == 1);
    CHECK(scene.bound("ml/b") == 1);
    CHECK(scene.bound("ml/d") == 1);
    CHECK(scene.suspensions == 1);
}

TEST_CASE("the settings of the Policy hold for the next who leads") {
    Scene scene;
    const auto grace = [&] {
        return scene.process->replica.scheduler()->controller()->policy().pause_grace;
    };
    scene.set("policies", "default", R"("spec":{"settings":{"grace":"7s"}})");
    scene.pass(2);
    REQUIRE(grace() == seconds(7));
    scene.fail_over();
    CHECK(grace() == seconds(7));
}

TEST_CASE("a Job is left alone for its minimum run, under any leader") {
    Scene scene;
    scene.set_node("n1");
    scene.set_project("owner", 8);
    scene.set_project("borrower", 0, R"(,"reclaimMinRun":"60s")");
    scene.set("policies", "default", R"("spec":{"settings":{"min_runtime_binds_all":"yes"}})");
    scene.add_pod("owner", "first", 8);
    scene.add_job("borrower", "long", 1, 8);
    scene.pass(50);
    scene.remove("pods", "owner/first");
    scene.pass(5);
    REQUIRE(scene.bound("borrower/long") == 1);
    scene.fail_over();
    scene.add_job("owner", "urgent", 1, 8);
    // It has run for 60 s neither since it came nor since the new one leads, but since it started.
    scene.pass(30);
    CHECK_FALSE(scene.job("borrower/long")->is_suspended);
    scene.pass(15);
    CHECK(scene.job("borrower/long")->is_suspended);
}

TEST_CASE("a pod of a group that has succeeded leaves its GPU, also beyond a failover") {
    Scene scene;
    scene.set_node("n1");
    scene.set_project("ml", 8);
    for (const char* name : {"a", "b", "c", "d"}) scene.add_pod_of_group("ml", name, 2, "four", 4);
    scene.pass(3);
    REQUIRE(scene.used()["n1"] == 8);
    scene.succeed(scene.pod("ml/a"));
    scene.add_pod("ml", "next", 2);
    scene.pass(3);
    CHECK(scene.pod("ml/next")->node == "n1");
    scene.fail_over();
    scene.pass(300);
    CHECK(scene.used()["n1"] == 8);
}

TEST_CASE("a pod that is resized where it runs takes what it has then") {
    Scene scene;
    scene.set_node("n1");
    scene.set_project("ml", 8);
    Object grows = *scene.add_pod("ml", "grows", 1);
    scene.pass(3);
    grows = *scene.pod("ml/grows");
    REQUIRE(grows.node == "n1");
    grows.cpu = 62;  // of 64
    scene.server.store.change(grows);
    SUBCASE("") { scene.pass(1); }
    SUBCASE("also for the next who leads") { scene.fail_over(); }
    scene.add_pod("ml", "small", 1);
    scene.pass(3);
    CHECK(scene.pod("ml/small")->node.empty());
    grows = *scene.pod("ml/grows");
    grows.cpu = 60;
    scene.server.store.change(grows);
    scene.pass(3);
    CHECK(scene.pod("ml/small")->node == "n1");
}

}  // namespace
}  // namespace berth::tests::kube_scheduler
