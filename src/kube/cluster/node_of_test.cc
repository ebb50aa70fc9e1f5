// SPDX-License-Identifier: Apache-2.0
#include "kube/cluster/node_of.h"

#include <doctest/doctest.h>

using namespace berth;
using namespace berth::kube;

namespace {

model::Node node_from(const std::string& labels, const std::string& rest) {
    static objects::NodePools pools;
    const std::string text =
        R"({"metadata":{"name":"n1","uid":"01234567-89ab-cdef-fedc-ba9876543210","labels":{)" +
        labels + "}}" + rest + "}";
    codec::JsonReader reader(text);
    const objects::Node node = objects::read_node(reader, pools);
    REQUIRE_MESSAGE(!reader.is_failed(), reader.error());
    return cluster::node_of(node, {"pods", "rdma/hca"});
}

const std::string kWell = R"(,"status":{"allocatable":{"cpu":"63500m","memory":"1Gi",
    "nvidia.com/gpu":"8","pods":"110","ephemeral-storage":"1Ti"},
    "conditions":[{"type":"Ready","status":"True"}]})";

}  // namespace

TEST_CASE("a node has the GPUs that it offers, and what feature discovery says of them") {
    const model::Node node = node_from(
        R"("nvidia.com/gpu.product":"H100","nvidia.com/gpu.memory":"81559",
           "topology.kubernetes.io/zone":"z1","rack":"r7")",
        kWell);
    CHECK(node.name == "n1");
    CHECK(node.gpus == 8);
    CHECK(node.gpu_model == "H100");
    CHECK(node.gpu_memory == base::Bytes{std::int64_t{81559} << 20});
    CHECK(node.cpu == base::MilliCpu{63500});
    CHECK(node.memory == base::Bytes{std::int64_t{1} << 30});
    CHECK(node.topology == model::Labels{{"zone", "z1"}});
    CHECK(node.labels.at("rack") == "r7");
    CHECK(node.health == model::NodeHealth::Ready);
    CHECK(node.resources == model::Resources{{"pods", 110}});  // of those that are counted
}

TEST_CASE("a cordoned node is tainted, once; one that is not ready is down") {
    const model::Node cordoned = node_from("", R"(,"spec":{"unschedulable":true})" + kWell);
    REQUIRE(cordoned.taints.size() == 1);
    CHECK(model::format(cordoned.taints[0]) == "node.kubernetes.io/unschedulable:NoSchedule");
    CHECK(cordoned.health == model::NodeHealth::Ready);
    const model::Node tainted = node_from("", R"(,"spec":{"unschedulable":true,"taints":[
        {"key":"node.kubernetes.io/unschedulable","effect":"NoSchedule"},
        {"key":"team","value":"ml","effect":"NoExecute"}]})" +
                                                  kWell);
    CHECK(tainted.taints.size() == 2);
    const model::Node alike = node_from("", R"(,"spec":{"unschedulable":true,"taints":[
        {"key":"node.kubernetes.io/unschedulable","effect":"PreferNoSchedule"},
        {"key":"node.kubernetes.io/unschedulable","value":"x","effect":"NoSchedule"}]})" +
                                                kWell);
    CHECK(alike.taints.size() == 3);
    CHECK(node_from("", "").health == model::NodeHealth::Down);
}

TEST_CASE("a node that does not say how many pods it takes takes none") {
    const model::Node node = node_from("", R"(,"status":{"allocatable":{"cpu":"1"}})");
    CHECK(node.resources == model::Resources{{"pods", 0}});
}
