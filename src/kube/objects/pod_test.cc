// SPDX-License-Identifier: Apache-2.0
#include "kube/objects/pod.h"

#include <doctest/doctest.h>

using namespace berth::kube::objects;
using berth::codec::JsonReader;

namespace {

const std::string kMeta =
    R"("metadata": {"name": "p", "uid": "01234567-89ab-cdef-fedc-ba9876543210"})";

Pod read(PodPools& pools, const std::string& rest) {
    const std::string text = "{" + kMeta + ", " + rest + "}";
    JsonReader reader(text);
    Pod pod = read_pod(reader, pools);
    reader.finish();
    REQUIRE_MESSAGE(!reader.is_failed(), reader.error());
    return pod;
}

}  // namespace

TEST_CASE("a pod: what it asks, where it is and how far") {
    PodPools pools;
    const Pod pod = read(pools, R"(
        "spec": {"nodeName": "n7", "schedulerName": "berth", "priority": 50,
                 "priorityClassName": "train", "preemptionPolicy": "Never",
                 "terminationGracePeriodSeconds": 120,
                 "schedulingGates": [],
                 "nodeSelector": {"gpu": "H100"},
                 "tolerations": [
                    {"key": "gpu", "operator": "Exists", "effect": "NoSchedule"},
                    {"key": "node.kubernetes.io/not-ready", "operator": "Exists",
                     "effect": "NoExecute", "tolerationSeconds": 300},
                    {"key": "level", "operator": "Gt", "value": "5"}],
                 "containers": [{"name": "a", "resources": {"limits": {"cpu": "9"},
                    "requests": {"cpu": "500m", "memory": "1Gi", "nvidia.com/gpu": "8"}}}]},
        "status": {"phase": "Running", "nominatedNodeName": "n8", "conditions": [
            {"type": "Ready", "status": "False", "reason": "no"},
            {"type": "PodScheduled", "status": "True",
             "lastTransitionTime": "2026-03-01T12:00:00Z"}]})");
    CHECK(*pod.node == "n7");
    CHECK(*pod.nominated_node == "n8");
    CHECK(pod.phase == Phase::Running);
    CHECK_FALSE(pod.is_gated);
    CHECK(pod.scheduled_since.has_value());
    CHECK(pod.unscheduled_reason->empty());
    const PodAsk& ask = *pod.ask;
    CHECK(*ask.scheduler == "berth");
    CHECK(ask.priority == 50);
    CHECK(*ask.priority_class == "train");
    CHECK_FALSE(ask.may_preempt);
    CHECK(ask.grace_s == 120);
    CHECK(*find(ask.node_selector, "gpu") == "H100");
    // One that ends says for how long a pod stays, and that it may come. Of an operator that Berth
    // does not know it says nothing.
    CHECK(ask.tolerations.size() == 2);
    CHECK(ask.requests.cpu().value == 500);
    CHECK(ask.requests.memory().value == 1LL << 30);
    CHECK(ask.requests.of("nvidia.com/gpu") == 8);
    CHECK(ask.unsupported.empty());
    CHECK(pod.held() == ask.requests);
}

TEST_CASE("a pod requests as the Kubernetes scheduler counts it") {
    PodPools pools;
    // The sidecar runs beside the second init container and beside the containers.
    const Pod pod = read(pools, R"("spec": {
        "initContainers": [
            {"resources": {"requests": {"cpu": "5"}}},
            {"restartPolicy": "Always", "resources": {"requests": {"cpu": "1", "memory": "10"}}},
            {"resources": {"requests": {"cpu": "3", "memory": "500"}}}],
        "containers": [{"resources": {"requests": {"cpu": "1", "memory": "100"}}},
                       {"resources": {"requests": {"cpu": "1", "memory": "100"}}}],
        "overhead": {"cpu": "250m"}})");
    CHECK(pod.ask->requests.cpu().value == 5250);
    CHECK(pod.ask->requests.memory().value == 510);

    const Pod whole = read(pools, R"("spec": {
        "resources": {"requests": {"cpu": "7"}},
        "containers": [{"resources": {"requests": {"cpu": "1", "memory": "100"}}}]})");
    CHECK(whole.ask->requests.cpu().value == 7000);
    CHECK(whole.ask->requests.memory().value == 100);
}

TEST_CASE("what a pod requests is rounded up once, when all of it is summed up") {
    PodPools pools;
    const Pod pod = read(pools, R"("spec": {
        "containers": [{"resources": {"requests": {"memory": "100500m"}}},
                       {"resources": {"requests": {"memory": "0.25"}}}],
        "overhead": {"memory": "250m"}})");
    CHECK(pod.ask->requests.memory().value == 101);
}

TEST_CASE("a template's pods request what the server will write into them") {
    PodPools pools;
    const std::string text = R"({"spec": {
        "resources": {"limits": {"cpu": "4", "memory": "4Gi"}},
        "containers": [{"resources": {"requests": {"cpu": "1"}, "limits": {"cpu": "2"}}},
                       {"resources": {"limits": {"cpu": "500m"}}}]}})";
    JsonReader reader(text);
    const Interned<PodAsk> ask = read_template(reader, pools).ask;
    CHECK(ask->requests.cpu().value == 1500);
    CHECK(ask->requests.memory().value == 4LL << 30);
}

TEST_CASE("a pod that is resized holds the most of what it requests, was allocated and has") {
    PodPools pools;
    const std::string spec = R"("spec": {
        "initContainers": [
            {"name": "beside", "restartPolicy": "Always", "resources": {"requests": {"cpu": "1"}}},
            {"name": "before", "resources": {"requests": {"memory": "500"}}}],
        "containers": [
            {"name": "a", "resources": {"requests": {"cpu": "1", "memory": "100",
                                                     "nvidia.com/gpu": "1"}}},
            {"name": "b", "resources": {"requests": {"cpu": "4"}}}],
        "overhead": {"cpu": "250m"}})";
    const std::string status = R"(, "status": {
        "initContainerStatuses": [{"name": "beside", "allocatedResources": {"cpu": "500m"},
                                   "resources": {"requests": {"cpu": "1500m"}}}],
        "containerStatuses": [{"name": "a", "allocatedResources": {"cpu": "2", "memory": "100"},
                               "resources": {"requests": {"cpu": "1", "memory": "100"}}},
                              {"name": "b", "allocatedResources": {"cpu": "3"},
                               "resources": {"requests": {"cpu": "3"}}}])";
    const Pod pod = read(pools, spec + status + "}");
    CHECK(pod.ask->requests.cpu().value == 6250);
    CHECK(pod.held().cpu().value == 7750);  // 2 + 4 + 1.5 and the overhead
    CHECK(pod.held().memory().value == 500);
    CHECK(pod.held().of("nvidia.com/gpu") == 1);
    // That will never be, so what it requests does not count.
    const Pod infeasible = read(pools, spec + status + R"(, "conditions": [
        {"type": "PodResizePending", "status": "True", "reason": "Infeasible"}]})");
    CHECK(infeasible.held().cpu().value == 6750);
    const Pod as_asked = read(pools, spec + R"(, "status": {"containerStatuses": [
        {"name": "b", "allocatedResources": {"cpu": "4"}}]})");
    CHECK_FALSE(as_asked.resized);
}

TEST_CASE(
    "a pod that is resized as a whole holds the most of what it requests, was allocated and has") {
    PodPools pools;
    const std::string spec = R"("spec": {"overhead": {"cpu": "250m"},
        "resources": {"requests": {"cpu": "2", "memory": "100"}},
        "containers": [{"name": "a"}]}, "status": {)";
    const std::string status =
        R"("allocatedResources": {"cpu": "1", "memory": "60"},
           "resources": {"requests": {"cpu": "3", "memory": "50", "nvidia.com/gpu": "1"}})";
    const Pod pod = read(pools, spec + status + "}");
    CHECK(pod.held().cpu().value == 3250);
    CHECK(pod.held().memory().value == 100);
    CHECK(pod.held().of("nvidia.com/gpu") == 0);  // one of its containers', if any
    const Pod infeasible = read(pools, spec + status + R"(, "conditions": [
        {"type": "PodResizePending", "status": "True", "reason": "Infeasible"}]})");
    CHECK(infeasible.held().memory().value == 60);
    CHECK_FALSE(read(pools, spec + "}").resized);
}

TEST_CASE("node affinity: any of the terms, all of a term") {
    PodPools pools;
    const Pod pod = read(pools, R"("spec": {"affinity": {"nodeAffinity": {
        "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1}],
        "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
            {"matchExpressions": [{"key": "zone", "operator": "In", "values": ["a", "b"]},
                                  {"key": "old", "operator": "DoesNotExist"}]},
            {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n1"]}]},
            {"matchExpressions": [{"key": "x", "operator": "Sometimes"}]}]}}}})");
    const auto& terms = pod.ask->node_terms;
    REQUIRE(terms.size() == 3);
    REQUIRE(terms[0].size() == 2);
    CHECK(terms[0][0].op == Operator::In);
    CHECK(*terms[0][0].values[1] == "b");
    CHECK(terms[0][1].op == Operator::DoesNotExist);
    CHECK(terms[1][0].on == Requirement::On::Field);
    CHECK(terms[2][0].op == Operator::Unknown);
}

TEST_CASE("what Berth does not do is noted, each once and only where it is required") {
    PodPools pools;
    const Pod none = read(pools, R"("spec": {
        "affinity": {"podAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [{}]}},
        "topologySpreadConstraints": [{"whenUnsatisfiable": "ScheduleAnyway"}],
        "volumes": [{"name": "a", "emptyDir": {}}, {"name": "b", "nfs": {}}],
        "containers": [{"ports": [{"containerPort": 80}]}]})");
    CHECK(none.ask->unsupported.empty());
    const Pod all = read(pools, R"("spec": {
        "resourceClaims": [{"name": "gpu"}],
        "volumes": [{"persistentVolumeClaim": {"claimName": "a"}}, {"ephemeral": {}}, {"iscsi": {}},
                    {"rbd": {}}, {"gcePersistentDisk": {}}, {"awsElasticBlockStore": {}}],
        "containers": [{"ports": [{"hostPort": 80}]}],
        "topologySpreadConstraints": [{"topologyKey": "zone"}],
        "affinity": {
            "podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [{}]},
            "podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [{}]}}})");
    using enum Unsupported;
    CHECK(all.ask->unsupported == std::vector<Unsupported>{PodAffinity, PodAntiAffinity,
                                                           TopologySpread, HostPort, VolumeClaim,
                                                           Disk, ResourceClaim});
}

TEST_CASE("a pod that waits says why; one with gates is gated") {
    PodPools pools;
    const Pod pod = read(pools, R"(
        "spec": {"schedulingGates": [{"name": "later"}]},
        "status": {"phase": "Pending", "conditions": [
            {"type": "PodScheduled", "status": "False", "reason": "SchedulingGated"}]})");
    CHECK(pod.is_gated);
    CHECK(*pod.unscheduled_reason == "SchedulingGated");
    CHECK(pod.node->empty());
}

TEST_CASE("pods of one template share what they ask") {
    PodPools pools;
    const std::string spec = R"("spec": {"nodeName": "N", "containers": [
        {"resources": {"requests": {"nvidia.com/gpu": "1"}}}]})";
    const Pod first = read(pools, spec);
    const Pod second = read(pools, spec);
    CHECK(first.ask == second.ask);
    CHECK(pools.asks.size() == 1);
}
