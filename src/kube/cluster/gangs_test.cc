// SPDX-License-Identifier: Apache-2.0
#include "kube/cluster/gangs.h"

#include <doctest/doctest.h>

#include <regex>

#include "kube/cluster/asks.h"
#include "kube/cluster/described.h"
#include "kube/cluster/parts.h"
#include "kube/cluster/projects.h"
#include "kube/cluster/strangers.h"
#include "kube/cluster/written_objects.h"

using namespace berth;
using namespace berth::kube;
using cluster::Gang;
using cluster::Objects;
using objects::Uid;

namespace {

const std::string kThree = R"(,"spec":{"parallelism":3,"completions":3})";

}  // namespace

TEST_CASE("a Job's pods are a gang that is complete when all of them wait") {
    Objects objects;
    objects.gangs.take(nullptr, objects.pod("train-0", 10, Objects::owned_by(1)));
    CHECK_FALSE(objects.gang(1).is_complete());  // their number is not known yet
    objects.gangs.take(nullptr, objects.job(1, kThree));
    objects.gangs.take(nullptr, objects.pod("train-1", 11, Objects::owned_by(1)));
    CHECK_FALSE(objects.gang(1).is_complete());
    objects.gangs.take(nullptr, objects.pod("train-2", 12, Objects::owned_by(1)));
    CHECK(objects.gang(1).is_complete());
    CHECK(objects.gang(1).name() == "ml/job/train");
    REQUIRE(objects.gang(1).waiting().size() == 3);
    CHECK(objects.gang(1).waiting().front()->meta.name == "train-0");
}

TEST_CASE("pods that are gated, leaving, bound or over do not wait") {
    Objects objects;
    objects.gangs.take(nullptr,
                       objects.pod("gated", 1, "", R"(,"schedulingGates":[{"name":"x"}])"));
    objects.gangs.take(nullptr,
                       objects.pod("leaving", 2, R"(,"deletionTimestamp":"2026-03-01T12:00:30Z")"));
    objects.gangs.take(nullptr, objects.pod("bound", 3, "", R"(,"nodeName":"n1")"));
    objects.gangs.take(nullptr, objects.pod("over", 4, "", "", "Succeeded"));
    for (const int pod : {1, 2, 3, 4}) CHECK_FALSE(objects.gang(pod).is_complete());
    CHECK(objects.gang(4).is_over());
    CHECK_FALSE(objects.gang(3).is_over());
}

TEST_CASE("a suspended Job is not complete, an ended one is over when its pods are") {
    Objects objects;
    const auto* suspended = objects.job(1, R"(,"spec":{"parallelism":1,"suspend":true})");
    const auto* pod = objects.pod("train-0", 10, Objects::owned_by(1));
    objects.gangs.take(nullptr, suspended);
    objects.gangs.take(nullptr, pod);
    CHECK_FALSE(objects.gang(1).is_complete());
    const auto* ended =
        objects.job(1, R"(,"status":{"conditions":[{"type":"Complete","status":"True"}]})");
    objects.gangs.take(suspended, ended);
    CHECK_FALSE(objects.gang(1).is_over());
    objects.gangs.take(pod, static_cast<const objects::Pod*>(nullptr));
    CHECK(objects.gang(1).is_over());
    objects.gangs.take(ended, static_cast<const objects::Workload*>(nullptr));
    CHECK(objects.gangs.all().empty());
}

TEST_CASE("a pod that its Job leaves behind is one by itself, and forgotten with its end") {
    Objects objects;
    const auto* owned = objects.pod("train-0", 10, Objects::owned_by(1));
    const auto* orphan = objects.pod("train-0", 10);
    objects.gangs.take(nullptr, owned);
    objects.gangs.take(owned, orphan);
    REQUIRE(objects.gangs.all().size() == 1);
    CHECK_FALSE(objects.gang(10).is_owned);
    objects.gangs.take(orphan, static_cast<const objects::Pod*>(nullptr));
    CHECK(objects.gangs.all().empty());
}

TEST_CASE("the Jobs of a JobSet are one gang, whichever is seen first") {
    Objects objects;
    const std::string set_owner = Objects::owned_by(1, "JobSet", "jobset.x-k8s.io/v1alpha2");
    const std::string two = R"(,"spec":{"parallelism":1,"completions":1})";
    objects.gangs.take(nullptr, objects.pod("a-0", 10, Objects::owned_by(2)));
    objects.gangs.take(nullptr, objects.job(2, two, set_owner));
    objects.gangs.take(nullptr, objects.job(3, two, set_owner));
    objects.gangs.take(nullptr, objects.pod("b-0", 11, Objects::owned_by(3)));
    CHECK_FALSE(objects.gang(1).is_complete());  // the JobSet is not there yet
    objects.gangs.take(nullptr, objects.workload(objects::WorkloadKind::JobSet, 1,
                                                 R"(,"spec":{"replicatedJobs":[{"name":"w",
        "replicas":2,"template":{"spec":{"parallelism":1,"completions":1}}}]})"));
    CHECK(objects.gangs.all().size() == 1);
    CHECK(objects.gang(1).is_complete());
    CHECK(objects.gang(1).name() == "ml/jobset/train");
}

TEST_CASE("a RayJob's cluster is one with it; the Job that hands in its work is another") {
    Objects objects;
    using objects::WorkloadKind;
    const std::string by_job = Objects::owned_by(1, "RayJob", "ray.io/v1");
    const std::string spec = R"({"headGroupSpec":{},"workerGroupSpecs":[{"replicas":1}]})";
    objects.gangs.take(nullptr, objects.workload(WorkloadKind::RayJob, 1,
                                                 R"(,"spec":{"rayClusterSpec":)" + spec + "}"));
    objects.gangs.take(nullptr,
                       objects.workload(WorkloadKind::RayCluster, 2, R"(,"spec":)" + spec, by_job));
    objects.gangs.take(nullptr, objects.job(3, R"(,"spec":{"parallelism":1})", by_job));
    for (const int pod : {10, 11}) {
        objects.gangs.take(nullptr, objects.pod("ray-" + std::to_string(pod), pod,
                                                Objects::owned_by(2, "RayCluster", "ray.io/v1")));
    }
    objects.gangs.take(nullptr, objects.pod("submitter", 12, Objects::owned_by(3)));
    CHECK(objects.gang(1).is_complete());
    CHECK(objects.gang(1).pods.size() == 2);
    CHECK(objects.gang(3).pods.size() == 1);
}

TEST_CASE("pods without an owner that name a group are a gang of the size that they say") {
    Objects objects;
    const std::string group = R"(,"labels":{"kueue.x-k8s.io/pod-group-name":"g"},)"
                              R"("annotations":{"kueue.x-k8s.io/pod-group-total-count":"2"})";
    objects.gangs.take(nullptr, objects.pod("one", 10, group));
    REQUIRE(objects.gangs.all().size() == 1);
    CHECK_FALSE(objects.gangs.all().begin()->second.is_complete());
    objects.gangs.take(nullptr, objects.pod("two", 11, group));
    REQUIRE(objects.gangs.all().size() == 1);
    const Gang& gang = objects.gangs.all().begin()->second;
    CHECK(gang.is_complete());
    CHECK_FALSE(gang.is_owned);
    CHECK_FALSE(cluster::job_of(gang, {"vision"})->preemptible);
}

TEST_CASE("a group whose pods disagree about its size, or say none, waits and says so") {
    Objects objects;
    const auto pod = [&](const std::string& name, int number, const std::string& size) {
        return objects.pod(name, number,
                           R"(,"labels":{"kueue.x-k8s.io/pod-group-name":"g"},"annotations":)"
                           R"({"kueue.x-k8s.io/pod-group-total-count":")" +
                               size + "\"}");
    };
    objects.gangs.take(nullptr, pod("one", 10, "1"));
    objects.gangs.take(nullptr, pod("two", 11, "2"));
    const Gang& gang = objects.gangs.all().begin()->second;
    CHECK_FALSE(gang.is_complete());
    CHECK(gang.trouble() == "its pods disagree about the size of their group: 1 and 2");
    for (const char* size : {"2.5", "0x10", "-5", "0", "1000000000", "99999999999999999999"}) {
        Objects others;
        const auto* odd = pod("odd", 10, size);
        others.gangs.take(nullptr, odd);
        const Gang& alone = others.gangs.all().begin()->second;
        CHECK_FALSE(alone.is_complete());
        CHECK(alone.trouble().ends_with("wanted a number of pods from 1 to 100000, found \"" +
                                        std::string(size) + "\""));
    }
}

TEST_CASE("a pod that has a node stays in its gang, whatever is written into it") {
    Objects objects;
    const std::string bound = R"(,"nodeName":"n1")";
    const auto in_group = [](const std::string& name) {
        return R"(,"labels":{"kueue.x-k8s.io/pod-group-name":")" + name + "\"}";
    };
    const auto* before = objects.pod("one", 10, in_group("g"), bound);
    objects.gangs.take(nullptr, before);
    const Uid group = objects.gangs.all().begin()->first;
    objects.gangs.take(before, objects.pod("one", 10, in_group("h"), bound));
    CHECK(objects.gangs.all().size() == 1);
    CHECK(objects.gangs.find(group)->pods.size() == 1);

    objects.gangs.take(nullptr, objects.job(1, kThree));
    const auto* owned = objects.pod("train-0", 11, Objects::owned_by(1), bound);
    objects.gangs.take(nullptr, owned);
    objects.gangs.take(owned, objects.pod("train-0", 11, "", bound));
    CHECK(objects.gang(1).pods.size() == 1);
}

TEST_CASE("what a Job of a JobSet has done is wanted of the JobSet no more") {
    Objects objects;
    const std::string of_set = Objects::owned_by(1, "JobSet", "jobset.x-k8s.io/v1alpha2") +
                               R"(,"labels":{"jobset.sigs.k8s.io/replicatedjob-name":"workers"})";
    const std::string spec = R"("spec":{"parallelism":4,"completions":4})";
    const auto job = [&](int succeeded) {
        return objects.job(
            2, "," + spec + R"(,"status":{"succeeded":)" + std::to_string(succeeded) + "}", of_set);
    };
    const objects::Workload* begun = job(0);
    objects.gangs.take(nullptr, begun);
    objects.gangs.take(nullptr, objects.pod("w-3", 13, Objects::owned_by(2)));
    objects.gangs.take(nullptr, objects.workload(objects::WorkloadKind::JobSet, 1,
                                                 R"(,"spec":{"replicatedJobs":[
        {"name":"workers","replicas":2,"template":{)" +
                                                     spec + "}}]}"));
    CHECK(objects.gang(1).pods_wanted() == 8);
    const objects::Workload* later = job(3);
    objects.gangs.take(begun, later);
    CHECK(objects.gang(1).pods_wanted() == 5);
    objects.gangs.take(later, nullptr);
    CHECK(objects.gang(1).pods_wanted() == 8);
}

TEST_CASE("a Job that names a JobSet of another namespace as its owner is a gang by itself") {
    Objects objects;
    const std::string theirs_meta =
        std::regex_replace(Objects::meta("theirs", 1), std::regex("ml"), "other");
    const std::string text = "{" + theirs_meta + R"(,"spec":{}})";
    codec::JsonReader reader(text);
    const auto theirs =
        objects::read_workload(objects::WorkloadKind::JobSet, reader, objects.pod_pools);
    const std::string by_theirs = Objects::owned_by(1, "JobSet", "jobset.x-k8s.io/v1alpha2");
    objects.gangs.take(nullptr, objects.job(2, R"(,"spec":{"parallelism":1})", by_theirs));
    objects.gangs.take(nullptr, objects.pod("train-0", 10, Objects::owned_by(2)));
    objects.gangs.take(nullptr, &theirs);
    CHECK(objects.gang(2).is_complete());
    CHECK(objects.gang(2).name() == "ml/job/train");
}

TEST_CASE("pods of two namespaces are never one gang, whatever they name") {
    Objects objects;
    objects.gangs.take(nullptr, objects.pod("one", 10, Objects::owned_by(1)));
    const std::string text = std::regex_replace(
        "{" + Objects::meta("two", 11, Objects::owned_by(1)) +
            R"(,"spec":{"schedulerName":"berth","containers":[]},"status":{"phase":"Pending"}})",
        std::regex(R"("namespace":"ml")"), R"("namespace":"other")");
    codec::JsonReader reader(text);
    const auto two = objects::read_pod(reader, objects.pod_pools);
    objects.gangs.take(nullptr, &two);
    CHECK(objects.gang(1).pods.size() == 1);
    CHECK(objects.gang(11).pods.size() == 1);
}

TEST_CASE("a pod that names a Job of another namespace as its owner is one by itself") {
    Objects objects;
    const std::string text =
        "{" + std::regex_replace(Objects::meta("theirs", 1), std::regex("ml"), "other") + kThree +
        "}";
    codec::JsonReader reader(text);
    const auto theirs =
        objects::read_workload(objects::WorkloadKind::Job, reader, objects.pod_pools);
    SUBCASE("which is there") { objects.gangs.take(nullptr, &theirs); }
    objects.gangs.take(nullptr, objects.pod("evil", 10, Objects::owned_by(1)));
    objects.gangs.take(nullptr, &theirs);
    CHECK(objects.gang(10).is_complete());
    CHECK_FALSE(objects.gang(10).is_owned);
}

TEST_CASE("a gang of which pods are gated still is not complete") {
    Objects objects;
    objects.gangs.take(nullptr, objects.job(1, R"(,"spec":{"parallelism":2,"completions":2})"));
    objects.gangs.take(nullptr, objects.pod("train-0", 10, Objects::owned_by(1)));
    objects.gangs.take(nullptr, objects.pod("train-1", 11, Objects::owned_by(1),
                                            R"(,"schedulingGates":[{"name":"x"}])"));
    CHECK_FALSE(objects.gang(1).is_complete());
}

TEST_CASE("pods of other schedulers are in no gang") {
    Objects objects;
    objects.gangs.take(nullptr, objects.pod("p", 1, "", "", "Pending", 1, "default-scheduler"));
    CHECK(objects.gangs.all().empty());
}

TEST_CASE("pods of a gang without a GPU are companions of those that have some") {
    Objects objects;
    objects.gangs.take(nullptr, objects.job(1, kThree));
    const std::string owner = Objects::owned_by(1);
    objects.gangs.take(nullptr, objects.pod("a-driver", 10, owner, "", "Pending", 0));
    objects.gangs.take(nullptr, objects.pod("worker-0", 11, owner, "", "Pending", 8));
    objects.gangs.take(nullptr, objects.pod("worker-1", 12, owner, "", "Pending", 8));
    const auto spec = cluster::job_of(objects.gang(1), {"vision"});
    REQUIRE(spec.has_value());
    CHECK(spec->tasks_max == 2);
    CHECK(spec->request.gpus == 8);
    REQUIRE(spec->companions.size() == 1);
    CHECK(spec->companions[0].count == 1);
    CHECK(spec->companions[0].request.gpus == 0);
    CHECK(cluster::asks_alike(*spec, 0, *cluster::spec_of(*objects.pods[1].ask)));
    CHECK_FALSE(cluster::asks_alike(*spec, 0, *cluster::spec_of(*objects.pods[0].ask)));
    CHECK(cluster::asks_alike(*spec, 2, *cluster::spec_of(*objects.pods[0].ask)));
}

TEST_CASE("what runs of a gang with companions has the ranks of its kind") {
    Objects objects;
    cluster::Strangers strangers;
    objects.gangs.take(nullptr, objects.job(1, kThree));
    const std::string on_n1 = R"(,"nodeName":"n1")";
    const std::string owner = Objects::owned_by(1);
    objects.gangs.take(nullptr, objects.pod("a-driver", 10, owner, on_n1, "Running", 0));
    objects.gangs.take(nullptr, objects.pod("worker-0", 11, owner, "", "Pending", 4));
    objects.gangs.take(nullptr, objects.pod("worker-1", 12, owner, on_n1, "Running", 4));
    model::Node node;
    node.name = "n1";
    node.gpus = 8;
    const auto made = cluster::describe(
        objects.gangs, {{"n1", node}}, [](const Gang&) { return cluster::ProjectPools{"vision"}; },
        strangers, base::at_ms(0));
    REQUIRE(made.jobs.size() == 1);
    REQUIRE(made.jobs[0].tasks.size() == 3);
    CHECK(made.jobs[0].tasks[0].state == model::TaskState::Running);
    CHECK(made.jobs[0].tasks[1].state == model::TaskState::Pending);
    CHECK(made.jobs[0].tasks[2].state == model::TaskState::Running);
}

TEST_CASE("of pods with different GPUs the most of a kind are the tasks, the others companions") {
    Objects objects;
    objects.gangs.take(nullptr, objects.job(1, kThree));
    const std::string owner = Objects::owned_by(1);
    objects.gangs.take(nullptr, objects.pod("a-head", 10, owner, "", "Pending", 1));
    objects.gangs.take(nullptr, objects.pod("worker-0", 11, owner, "", "Pending", 8));
    objects.gangs.take(nullptr, objects.pod("worker-1", 12, owner, "", "Pending", 8));
    const auto spec = cluster::job_of(objects.gang(1), {"vision"});
    REQUIRE(spec.has_value());
    CHECK(spec->tasks_max == 2);
    CHECK(spec->request.gpus == 8);
    REQUIRE(spec->companions.size() == 1);
    CHECK(spec->companions[0].request.gpus == 1);
    CHECK(cluster::asks_alike(*spec, 2, *cluster::spec_of(*objects.pods[0].ask)));
    CHECK_FALSE(cluster::asks_alike(*spec, 2, *cluster::spec_of(*objects.pods[1].ask),
                                    cluster::Sizes::Any));
    CHECK(cluster::tasks_now(objects.gang(1), *spec).there == 2);
}

TEST_CASE("of one pod each, the one with more GPUs is the task") {
    Objects objects;
    objects.gangs.take(nullptr, objects.job(1, kThree));
    const std::string owner = Objects::owned_by(1);
    objects.gangs.take(nullptr, objects.pod("a-head", 10, owner, "", "Pending", 1));
    objects.gangs.take(nullptr, objects.pod("worker-0", 11, owner, "", "Pending", 8));
    const auto parts = cluster::parts_of(objects.gang(1));
    REQUIRE(parts.has_value());
    CHECK(parts->front().asks.request.gpus == 8);
}

TEST_CASE("a bare pod is never taken its GPUs from, unless it says that it may be deleted") {
    Objects objects;
    objects.gangs.take(nullptr, objects.pod("bare", 1));
    objects.gangs.take(
        nullptr, objects.pod("willing", 2, R"(,"annotations":{"berth.dev/preemptible":"true"})"));
    objects.gangs.take(nullptr, objects.job(3, R"(,"spec":{"parallelism":1})"));
    objects.gangs.take(nullptr, objects.pod("train-0", 10, Objects::owned_by(3)));
    CHECK_FALSE(cluster::job_of(objects.gang(1), {"vision"})->preemptible);
    CHECK(cluster::job_of(objects.gang(2), {"vision"})->preemptible);
    CHECK(cluster::job_of(objects.gang(3), {"vision"})->preemptible);
}

TEST_CASE("a gang is in the project of its label, else of its namespace") {
    cluster::Projects projects;
    Objects objects;
    const auto* plain = objects.pod("plain", 1);
    const auto* labelled = objects.pod("labelled", 2, R"(,"labels":{"berth.dev/project":"audio"})");
    CHECK(projects.project_of(plain->meta).empty());
    projects.set_listed("vision", {"ml", "web"});
    CHECK(projects.project_of(plain->meta) == "vision");
    CHECK(projects.set_namespace("ml", &*labelled->meta.labels));
    CHECK(projects.project_of(plain->meta) == "audio");
    CHECK_FALSE(projects.set_namespace("ml", &*labelled->meta.labels));
    CHECK(projects.set_namespace("ml", nullptr));
    CHECK(projects.project_of(labelled->meta).empty());  // the quota is not for its namespace
    projects.set_listed("audio", {"ml"});
    CHECK(projects.project_of(labelled->meta) == "audio");
    CHECK(projects.project_of(plain->meta) == "audio");
    projects.set_listed("audio", {});
    projects.set_listed("vision", {});
    CHECK(projects.project_of(plain->meta).empty());
}

TEST_CASE("strangers' use of a node is a sum, reported once for each change") {
    Objects objects;
    cluster::Strangers strangers;
    const auto* one = objects.pod("one", 1, "", R"(,"nodeName":"n1")", "Running", 2);
    const auto* other = objects.pod("other", 2, "", R"(,"nodeName":"n1")", "Running", 3);
    strangers.set(*one);
    strangers.set(*other);
    CHECK(strangers.on("n1").of("nvidia.com/gpu") == 5);
    CHECK(strangers.pods_on("n1") == 2);
    CHECK(strangers.take_changed() == std::set<std::string>{"n1"});
    strangers.set(*one);
    CHECK(strangers.take_changed().empty());
    strangers.clear(one->meta.uid);
    CHECK(strangers.on("n1").of("nvidia.com/gpu") == 3);
    strangers.clear(other->meta.uid);
    CHECK(strangers.on("n1").all().empty());
}

TEST_CASE("what is there becomes jobs that run and wait; what does not fit is a stranger") {
    Objects objects;
    cluster::Strangers strangers;
    objects.gangs.take(nullptr, objects.job(1, kThree));
    const std::string owner = Objects::owned_by(1);
    objects.gangs.take(nullptr, objects.pod("train-0", 10, owner, R"(,"nodeName":"n1")"));
    objects.gangs.take(nullptr, objects.pod("train-1", 11, owner));
    objects.gangs.take(nullptr, objects.pod("train-2", 12, owner));
    objects.gangs.take(nullptr, objects.pod("waits", 2));
    objects.gangs.take(nullptr,
                       objects.pod("too-much", 3, "", R"(,"nodeName":"n1")", "Running", 9));
    objects.gangs.take(nullptr, objects.pod("nowhere", 4, "", R"(,"nodeName":"n9")", "Running"));
    model::Node node;
    node.name = "n1";
    node.gpus = 8;
    const auto made = cluster::describe(
        objects.gangs, {{"n1", node}}, [](const Gang&) { return cluster::ProjectPools{"vision"}; },
        strangers, base::at_ms(0));
    REQUIRE(made.jobs.size() == 2);
    CHECK(made.jobs[0].spec.name == "ml/job/train");
    REQUIRE(made.jobs[0].tasks.size() == 3);
    CHECK(made.jobs[0].tasks[0].state == model::TaskState::Running);
    CHECK(made.jobs[0].tasks[0].node == "n1");
    CHECK(made.jobs[0].tasks[1].state == model::TaskState::Pending);
    CHECK(made.jobs[1].spec.name == "ml/pod/waits");
    CHECK(strangers.on("n1").of("nvidia.com/gpu") == 9);
    CHECK(strangers.on("n9").of("nvidia.com/gpu") == 1);
}
