// SPDX-License-Identifier: Apache-2.0
#include "kube/objects/workload.h"

#include <doctest/doctest.h>

using namespace berth::kube::objects;
using berth::codec::JsonReader;

namespace {

const std::string kJobMeta =
    R"("metadata": {"name": "train", "uid": "01234567-89ab-cdef-fedc-ba9876543210"})";

Workload workload_of(WorkloadKind kind, PodPools& pools, const std::string& rest) {
    const std::string text = "{" + kJobMeta + rest + "}";
    JsonReader reader(text);
    Workload workload = read_workload(kind, reader, pools);
    reader.finish();
    REQUIRE_MESSAGE(!reader.is_failed(), reader.error());
    return workload;
}

Workload job_of(PodPools& pools, const std::string& rest) {
    return workload_of(WorkloadKind::Job, pools, rest);
}

// A pod's template that asks for `gpus`.
std::string template_of(int gpus) {
    return R"("template": {"spec": {"containers": [{"resources": {"limits": {"nvidia.com/gpu": ")" +
           std::to_string(gpus) + R"("}}}]}})";
}

}  // namespace

TEST_CASE("a Job: how many pods at once, suspended since when, and how far") {
    PodPools pools;
    const Workload job = job_of(pools, R"(, "spec": {"parallelism": 4, "completions": 10,
        "suspend": true, "managedBy": "kubernetes.io/job-controller", "template": {"spec": {
            "containers": [{"resources": {"requests": {"cpu": "1"},
                                          "limits": {"cpu": "4", "nvidia.com/gpu": "2"}}}]}}},
        "status": {"succeeded": 3, "conditions": [
            {"type": "Suspended", "status": "True", "lastTransitionTime": "2026-03-01T12:00:00Z"},
            {"type": "Failed", "status": "False"}]})");
    CHECK(job.pods_wanted() == 4);
    CHECK(job.is_suspended);
    CHECK_FALSE(job.is_managed_elsewhere);
    CHECK(job.end == Workload::End::None);
    CHECK(job.suspended_since.has_value());
    // As the server writes it into the pods: what has a limit alone is requested.
    CHECK(job.parts[0].ask->requests.of("nvidia.com/gpu") == 2);
    CHECK(job.parts[0].ask->requests.cpu() == berth::base::MilliCpu{1000});
}

TEST_CASE("a Job near its end has fewer pods than it may have at once") {
    PodPools pools;
    CHECK(job_of(pools, R"(, "spec": {"parallelism": 4, "completions": 10},
                            "status": {"succeeded": 8})")
              .pods_wanted() == 2);
    CHECK(job_of(pools, R"(, "spec": {"parallelism": 9, "completions": 9},
                            "status": {"succeeded": 1, "failedIndexes": "1,3-5"})")
              .pods_wanted() == 4);
    const std::string queue = R"(, "spec": {"parallelism": 4, "completions": null}, "status": )";
    CHECK(job_of(pools, queue + R"({"failed": 3})").pods_wanted() == 4);
    CHECK_FALSE(job_of(pools, queue + R"({"failed": 3})").has_its_last_pods);
    CHECK(job_of(pools, queue + R"({"succeeded": 1})").pods_wanted() == 0);
    CHECK(job_of(pools, queue + R"({"succeeded": 1})").has_its_last_pods);
    CHECK(job_of(pools, "").pods_wanted() == 1);
}

TEST_CASE("a Job that has ended, and one that another controller runs") {
    PodPools pools;
    CHECK(job_of(pools, R"(, "status": {"conditions": [{"type": "Complete", "status": "True"}]})")
              .end == Workload::End::Complete);
    CHECK(job_of(pools, R"(, "status": {"conditions": [{"type": "Failed", "status": "True"}]})")
              .end == Workload::End::Failed);
    CHECK(job_of(pools, R"(, "spec": {"managedBy": "kueue.x-k8s.io/multikueue"})")
              .is_managed_elsewhere);
}

TEST_CASE("a JobSet: the pods of all its Jobs that have not succeeded") {
    PodPools pools;
    const Workload set = workload_of(WorkloadKind::JobSet, pools,
                                     R"(, "spec": {"suspend": true,
        "replicatedJobs": [
            {"name": "driver", "template": {"spec": {)" +
                                         template_of(0) + R"(}}},
            {"name": "workers", "replicas": 3, "template": {"spec": {"parallelism": 4,
             "completions": 4, )" + template_of(8) +
                                         R"(}}}]},
        "status": {"replicatedJobsStatus": [{"name": "workers", "succeeded": 1}],
            "conditions": [{"type": "Suspended", "status": "True",
                            "lastTransitionTime": "2026-03-01T12:00:00Z"}]})");
    REQUIRE(set.parts.size() == 2);
    CHECK(set.parts[0].pods == 1);
    CHECK(set.parts[1].pods == 8);
    CHECK(set.parts[1].ask->requests.of("nvidia.com/gpu") == 8);
    CHECK(set.pods_wanted() == 9);
    CHECK(set.is_suspended);
    CHECK(set.suspended_since.has_value());
    CHECK(workload_of(WorkloadKind::JobSet, pools,
                      R"(, "status": {"conditions": [{"type": "Completed", "status": "True"}]})")
              .end == Workload::End::Complete);
}

TEST_CASE("a RayCluster: its head, and its workers with all their hosts") {
    PodPools pools;
    const std::string spec = R"({"headGroupSpec": {"rayStartParams": {}, )" + template_of(0) +
                             R"(}, "workerGroupSpecs": [
        {"groupName": "a", "replicas": 2, "numOfHosts": 2, "minReplicas": 1, )" +
                             template_of(4) +
                             R"(}, {"groupName": "b", "replicas": 5, "suspend": true, )" +
                             template_of(1) + "}]}";
    const Workload cluster = workload_of(WorkloadKind::RayCluster, pools, R"(, "spec": )" + spec);
    REQUIRE(cluster.parts.size() == 3);
    CHECK(cluster.pods_wanted() == 1 + 4);
    CHECK(cluster.parts[1].ask->requests.of("nvidia.com/gpu") == 4);
    const Workload job = workload_of(WorkloadKind::RayJob, pools,
                                     R"(, "spec": {"suspend": true, "rayClusterSpec": )" + spec +
                                         R"(}, "status": {"jobDeploymentStatus": "Complete"})");
    CHECK(job.pods_wanted() == 5);
    CHECK(job.is_suspended);
    CHECK(job.end == Workload::End::Complete);
}

TEST_CASE("the labels that a workload's template gives its pods") {
    PodPools pools;
    const Workload job = job_of(pools, R"(, "spec": {"template": {"spec": {"containers": []},
        "metadata": {"labels": {"app": "train"}, "annotations": {"a": "b"}}}})");
    REQUIRE(job.parts[0].labels->size() == 1);
    CHECK(*find(*job.parts[0].labels, "app") == "train");
    CHECK(job_of(pools, "").parts[0].labels->empty());
}

TEST_CASE("where a workload is") {
    PodPools pools;
    const Workload set = workload_of(WorkloadKind::JobSet, pools, "");
    CHECK(set.path() == "/apis/jobset.x-k8s.io/v1alpha2/namespaces//jobsets/train");
}

TEST_CASE("a workload that is not as its kind should be has a problem, and stops no list") {
    PodPools pools;
    const std::string deep = std::string(3'000, '[') + std::string(3'000, ']');
    for (const std::string& spec :
         {std::string(R"({"replicatedJobs": "none"})"), std::string(R"({"suspend": "yes"})"),
          std::string(R"({"replicatedJobs": [{"replicas": 1e300}]})"),
          R"({"replicatedJobs": )" + deep + "}", std::string("[1, 2]")}) {
        const std::string text = "[{" + kJobMeta + R"(, "spec": )" + spec + "}, 7]";
        JsonReader reader(text);
        reader.begin_array();
        REQUIRE(reader.next_element());
        const Workload set = read_workload(WorkloadKind::JobSet, reader, pools);
        REQUIRE_MESSAGE(!reader.is_failed(), reader.error());
        CHECK(reader.next_element());
        CHECK(set.meta.name == "train");
        CHECK_MESSAGE(!set.problem.empty(), spec.substr(0, 60));
        CHECK(set.pods_wanted() == 0);
    }
}
