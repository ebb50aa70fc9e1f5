// SPDX-License-Identifier: Apache-2.0
//
// What becomes of a gang whose pods end one by one, or of which its owner comes to want more or
// fewer, whatever else goes on.
#include <doctest/doctest.h>

#include "kube_scheduler/scene.h"

namespace berth::tests::kube_scheduler {
namespace {

TEST_CASE("GPUs of pods that have succeeded are others' while the rest of the Job runs") {
    Scene scene;
    scene.set_node("n1");
    scene.set_project("ml", 8);
    scene.add_job("ml", "train", 8, 1);
    scene.pass(5);
    REQUIRE(scene.bound("ml/train") == 8);
    scene.add_job("ml", "next", 2, 1);
    scene.pass(3);
    REQUIRE(scene.bound("ml/next") == 0);
    scene.succeed_one_of("ml/train");
    scene.succeed_one_of("ml/train");
    scene.pass(3);
    CHECK(scene.bound("ml/next") == 2);
    CHECK(scene.bound("ml/train") == 6);
    CHECK(scene.suspensions == 0);
    for (int left = 6; left > 0; --left) scene.succeed_one_of("ml/train");
    scene.pass(2);
    CHECK(scene.job("ml/train")->end == "Complete");
    CHECK(scene.used()["n1"] == 2);
    scene.add_job("ml", "last", 6, 1);
    scene.pass(4);
    CHECK(scene.bound("ml/last") == 6);
}

TEST_CASE("a place whose pod is to be made again stays the gang's") {
    Scene scene;
    scene.set_node("n1");
    scene.set_project("ml", 8);
    scene.add_job("ml", "train", 8, 1);
    scene.pass(5);
    scene.add_job("ml", "next", 1, 1);
    scene.pass(3);
    scene.are_jobs_controlled = false;
    scene.server.store.remove(scene.pods_of(*scene.job("ml/train")).front());
    scene.pass(5);
    CHECK(scene.bound("ml/next") == 0);
    scene.are_jobs_controlled = true;
    scene.pass(2);
    CHECK(scene.bound("ml/train") == 8);
}

TEST_CASE("a Job that is scaled up while it runs grows into what no gang waits for") {
    Scene scene;
    scene.set_node("n1");
    scene.set_project("ml", 8);
    scene.add_job("ml", "train", 2, 2);
    scene.add_job("ml", "other", 1, 4);
    scene.pass(4);
    REQUIRE(scene.bound("ml/train") == 2);
    REQUIRE(scene.bound("ml/other") == 1);
    scene.set_parallelism("ml/train", 4);
    scene.pass(4);
    CHECK(scene.bound("ml/train") == 2);
    CHECK(scene.waits_with("ml/train") ==
          "2 of its 4 pods run; for one more: asks 2 GPUs; 0 of 8 idle, and no running "
          "job may be preempted for it");
    scene.remove("jobs", "ml/other");
    scene.pass(4);
    CHECK(scene.bound("ml/train") == 4);
    CHECK(scene.suspensions == 0);
    scene.fail_over();
    scene.pass(5);
    CHECK(scene.bound("ml/train") == 4);
}

TEST_CASE("a Job takes nothing for pods that are not made, under any leader") {
    Scene scene;
    scene.set_node("n1");
    scene.set_project("ml", 4);
    scene.set_project("web", 4);
    scene.add_job("ml", "train", 1, 2);
    scene.pass(4);
    scene.are_jobs_controlled = false;  // as by a ResourceQuota
    scene.set_parallelism("ml/train", 8);
    scene.add_pod_of("ml/train");
    scene.pass(4);
    REQUIRE(scene.bound("ml/train") == 2);
    SUBCASE("") { scene.pass(100); }
    SUBCASE("beyond a failover") {
        scene.fail_over();
        scene.pass(100);
    }
    scene.add_pod("web", "next", 4);
    scene.pass(4);
    CHECK(scene.pod("web/next")->node == "n1");
    CHECK_FALSE(scene.job("ml/train")->is_suspended);
    CHECK(scene.bound("ml/train") == 2);
}

TEST_CASE("a quota that keeps a Job from growing is named") {
    Scene scene;
    scene.set_node("n1");
    scene.set_project("ml", 4, R"(,"limit":4)");
    scene.add_job("ml", "train", 2, 2);
    scene.pass(4);
    scene.set_parallelism("ml/train", 3);
    scene.pass(4);
    CHECK(scene.waits_with("ml/train") ==
          "2 of its 3 pods run; for one more: ml uses 4 of its limit of 4 GPUs, this asks 2 more");
}

TEST_CASE("a Job that is scaled down while it runs gives back what its pods have left") {
    Scene scene;
    scene.set_node("n1");
    scene.set_project("ml", 8);
    scene.add_job("ml", "train", 4, 2);
    scene.pass(4);
    scene.set_parallelism("ml/train", 1);
    scene.add_job("ml", "next", 3, 2);
    scene.pass(5);
    CHECK(scene.bound("ml/train") == 1);
    CHECK(scene.bound("ml/next") == 3);
    scene.set_parallelism("ml/train", 2);
    scene.remove("jobs", "ml/next");
    scene.pass(5);
    CHECK(scene.bound("ml/train") == 2);
}

TEST_CASE("a Job of which pods have succeeded is paused and resumed with those that are left") {
    Scene scene;
    scene.set_node("n1");
    scene.set_project("owner", 8);
    scene.set_project("borrower", 0);
    scene.add_job("borrower", "long", 4, 2);
    scene.pass(4);
    scene.succeed_one_of("borrower/long");
    scene.pass(100);
    scene.add_job("owner", "urgent", 1, 8);
    scene.pass(10);
    REQUIRE(scene.job("borrower/long")->is_suspended);
    REQUIRE(scene.bound("owner/urgent") == 1);
    scene.remove("jobs", "owner/urgent");
    scene.pass(8);
    CHECK(scene.bound("borrower/long") == 3);
    const auto& record = scene.jobs_of_the_core().begin()->second;
    CHECK(record.pauses == 1);
    CHECK(record.attained_gpu_ms > 600'000);
}

TEST_CASE("pods of a running gang that it cannot take say why") {
    Scene scene;
    scene.set_node("n1");
    scene.set_project("ml", 8);
    scene.add_job("ml", "head", 1, 0);
    scene.pass(3);
    REQUIRE(scene.bound("ml/head") == 1);
    Object worker;
    worker.resource = "pods";
    worker.name_space = "ml";
    worker.name = "worker";
    worker.gpus = 8;
    worker.owner = scene.job("ml/head")->uid;
    scene.are_jobs_controlled = false;
    scene.server.store.create(worker);
    scene.pass(3);
    CHECK(scene.waits_with("ml/head") ==
          "its request differs from the running pods of its gang; they are placed together when "
          "the gang is suspended and resumed");
}

TEST_CASE("a Job that is scaled to zero while it runs holds nothing, and may come back") {
    Scene scene;
    scene.set_node("n1");
    scene.set_project("ml", 8);
    scene.add_job("ml", "train", 2, 4);
    scene.pass(4);
    for (int times = 0; times < 5; ++times) {
        scene.set_parallelism("ml/train", 0);
        scene.add_job("ml", "next" + std::to_string(times), 1, 8);
        scene.pass(4);
        CHECK(scene.bound("ml/next" + std::to_string(times)) == 1);
        scene.remove("jobs", "ml/next" + std::to_string(times));
        scene.set_parallelism("ml/train", 2);
        scene.pass(8);
        CHECK(scene.bound("ml/train") == 2);
    }
}

TEST_CASE("a paused Job that comes to want more than there ever is says so") {
    Scene scene;
    scene.set_node("n1");
    scene.set_project("owner", 8);
    scene.set_project("borrower", 0);
    scene.add_job("borrower", "long", 1, 8);
    scene.pass(100);
    scene.add_job("owner", "urgent", 1, 8);
    scene.pass(5);
    REQUIRE(scene.job("borrower/long")->is_suspended);
    scene.set_parallelism("borrower/long", 5);
    scene.pass(5);
    CHECK(scene.waits_with("borrower/long").find("asks 40 GPUs") == 0);
    scene.set_parallelism("borrower/long", 1);
    scene.remove("jobs", "owner/urgent");
    scene.pass(10);
    CHECK(scene.bound("borrower/long") == 1);
}

TEST_CASE("a Job that would be complete if it were suspended ends by itself") {
    Scene scene;
    scene.set_node("n1");
    scene.set_project("owner", 8);
    scene.set_project("borrower", 0);
    scene.add_job("borrower", "queue", 4, 2);
    scene.pass(100);
    REQUIRE(scene.bound("borrower/queue") == 4);
    scene.succeed(scene.pods_of(*scene.job("borrower/queue")).front());
    scene.pass(2);
    scene.add_job("owner", "urgent", 1, 8);
    scene.pass(10);
    CHECK(scene.bound("borrower/queue") == 3);
    CHECK(scene.job("borrower/queue")->end.empty());
    for (int left = 3; left > 0; --left) {
        scene.succeed(scene.pods_of(*scene.job("borrower/queue")).front());
        scene.pass(1);
    }
    scene.pass(5);
    CHECK(scene.job("borrower/queue")->end == "Complete");
    CHECK(scene.bound("owner/urgent") == 1);
    CHECK(scene.suspensions == 0);
}

TEST_CASE("a Job that has grown is paused as a whole, and waits for all of it") {
    Scene scene;
    scene.set_node("n1");
    scene.set_project("owner", 8);
    scene.set_project("borrower", 4);
    scene.add_job("borrower", "long", 2, 2);
    scene.pass(4);
    scene.set_parallelism("borrower/long", 4);
    scene.pass(100);
    REQUIRE(scene.bound("borrower/long") == 4);
    scene.add_job("owner", "urgent", 1, 2);
    scene.pass(6);
    CHECK(scene.job("borrower/long")->is_suspended);
    scene.remove("jobs", "owner/urgent");
    scene.pass(8);
    CHECK(scene.bound("borrower/long") == 4);
}

TEST_CASE("a gang of which one pod was resized stays one gang, under any leader and growth") {
    Scene scene;
    scene.set_node("n1");
    scene.set_project("owner", 8);
    scene.set_project("borrower", 0);
    scene.add_job("borrower", "long", 2, 2);
    scene.pass(100);
    REQUIRE(scene.bound("borrower/long") == 2);
    Object resized = *scene.pods_of(*scene.job("borrower/long")).back();
    resized.cpu = 10;
    scene.server.store.change(resized);
    SUBCASE("") { scene.pass(2); }
    SUBCASE("beyond a failover") { scene.fail_over(); }
    scene.set_parallelism("borrower/long", 3);
    scene.pass(5);
    CHECK(scene.bound("borrower/long") == 3);
    scene.pass(100);
    scene.add_job("owner", "urgent", 1, 8);
    scene.pass(8);
    CHECK(scene.bound("owner/urgent") == 1);
    CHECK(scene.job("borrower/long")->is_suspended);
    scene.remove("jobs", "owner/urgent");
    scene.pass(8);
    CHECK(scene.bound("borrower/long") == 3);
    scene.add_job("borrower", "fills", 1, 2);
    scene.pass(5);
    CHECK(scene.bound("borrower/fills") == 1);
}

}  // namespace
}  // namespace berth::tests::kube_scheduler
