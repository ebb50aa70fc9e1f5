// SPDX-License-Identifier: Apache-2.0
#include "kube/objects/node.h"

#include <doctest/doctest.h>

using namespace berth::kube::objects;
using berth::codec::JsonReader;

TEST_CASE("a node: what it offers, its taints, and since when it is ready") {
    NodePools pools;
    JsonReader reader(R"({
        "metadata": {"name": "n1", "uid": "01234567-89ab-cdef-fedc-ba9876543210",
                     "labels": {"kubernetes.io/hostname": "n1"}},
        "spec": {"unschedulable": true, "providerID": "x", "taints": [
            {"key": "gpu", "value": "yes", "effect": "NoSchedule"}]},
        "status": {"capacity": {"cpu": "64"}, "images": [{"names": ["a"], "sizeBytes": 12}],
                   "allocatable": {"cpu": "63500m", "memory": "512Gi", "pods": "110",
                                   "nvidia.com/gpu": "8"},
                   "conditions": [
                       {"type": "MemoryPressure", "status": "True"},
                       {"type": "Ready", "status": "True",
                        "lastTransitionTime": "2026-03-01T12:00:00Z"}]}})");
    const Node node = read_node(reader, pools);
    reader.finish();
    REQUIRE_MESSAGE(!reader.is_failed(), reader.error());
    CHECK(node.is_unschedulable);
    REQUIRE(node.taints.size() == 1);
    CHECK(*node.taints[0].effect == "NoSchedule");
    CHECK(node.allocatable->of("pods") == 110);
    CHECK(node.allocatable->cpu().value == 63500);
    CHECK(node.is_ready);
    CHECK(node.ready_since.has_value());
}

TEST_CASE("a node that says nothing is not ready") {
    NodePools pools;
    JsonReader reader(
        R"({"metadata": {"name": "n1", "uid": "01234567-89ab-cdef-fedc-ba9876543210"}})");
    const Node node = read_node(reader, pools);
    CHECK_FALSE(reader.is_failed());
    CHECK_FALSE(node.is_ready);
    CHECK(node.allocatable->all().empty());
}
