// SPDX-License-Identifier: Apache-2.0
#include "kube/cluster/asks.h"

#include <doctest/doctest.h>

using namespace berth;
using namespace berth::kube;

namespace {

base::Result<model::JobSpec> spec_from(const std::string& fields) {
    static objects::PodPools pools;
    const std::string text =
        R"({"metadata":{"name":"p","uid":"01234567-89ab-cdef-fedc-ba9876543210"},"spec":{)" +
        fields + "}}";
    codec::JsonReader reader(text);
    const objects::Pod pod = objects::read_pod(reader, pools);
    REQUIRE_MESSAGE(!reader.is_failed(), reader.error());
    return cluster::spec_of(*pod.ask);
}

std::string wrong(const std::string& fields) {
    const auto spec = spec_from(fields);
    REQUIRE_FALSE(spec.has_value());
    return spec.error().message;
}

std::string affinity(const std::string& term) {
    return R"("affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":)"
           R"({"nodeSelectorTerms":[)" +
           term + "]}}}";
}

}  // namespace

TEST_CASE("a pod asks for what it requests, and for no share of what it does not") {
    const auto spec = spec_from(R"("containers":[{"resources":{"requests":
        {"cpu":"4","memory":"16Gi","nvidia.com/gpu":"2","rdma/hca":"1"}}},
        {"resources":{"requests":{"cpu":"500m"}}}])");
    REQUIRE(spec);
    CHECK(spec->request.gpus == 2);
    CHECK(spec->request.cpu == base::MilliCpu{4500});
    CHECK(spec->request.memory == base::Bytes{std::int64_t{16} << 30});
    CHECK(spec->request.resources == model::Resources{{"rdma/hca", 1}});
    const auto nothing = spec_from(R"("containers":[{}])");
    REQUIRE(nothing);
    CHECK(nothing->request.gpus == 0);
    CHECK(nothing->request.cpu == base::MilliCpu{0});
    CHECK(nothing->request.memory == base::Bytes{0});
}

TEST_CASE("where a pod may run becomes labels, a filter and tolerations") {
    const auto spec = spec_from(
        R"("nodeSelector":{"gpu":"h100"},"tolerations":[{"key":"team","operator":"Equal",
           "value":"ml","effect":"NoSchedule"},{"operator":"Exists"}],)" +
        affinity(R"({"matchExpressions":[{"key":"disks","operator":"Gt","values":["4"]}],
                     "matchFields":[{"key":"metadata.name","operator":"In","values":["n1"]}]})"));
    REQUIRE(spec);
    CHECK(spec->node_labels == model::Labels{{"gpu", "h100"}});
    CHECK(model::format(spec->node_filter) == "disks>4,@name=n1");
    REQUIRE(spec->tolerations.size() == 2);
    CHECK(model::format(spec->tolerations[0]) == "team=ml:NoSchedule");
    CHECK(model::format(spec->tolerations[1]) == "*");
}

TEST_CASE("a term that no node satisfies leaves the others as they are") {
    const auto spec =
        spec_from(affinity(R"({}, {"matchExpressions":[{"key":"a","operator":"Exists"},
                                            {"key":"a","operator":"Gt","values":["x"]}]},
                    {"matchExpressions":[{"key":"b","operator":"Exists"}]})"));
    REQUIRE(spec);
    CHECK(model::format(spec->node_filter) == "b");
}

TEST_CASE("what Berth does not do is refused by the field's name") {
    CHECK(wrong(R"("containers":[{"ports":[{"hostPort":80}]}])").find("hostPort") !=
          std::string::npos);
    CHECK(wrong(R"("topologySpreadConstraints":[{"whenUnsatisfiable":"DoNotSchedule"}])")
              .find("topologySpreadConstraints") != std::string::npos);
    CHECK(wrong(affinity("{}")).find("no node satisfies") != std::string::npos);
    CHECK(wrong(affinity(R"({"matchExpressions":[{"key":"a","operator":"Gt","values":["x"]}]})"))
              .find("whole number") != std::string::npos);
    CHECK(wrong(affinity(R"({"matchExpressions":[{"key":"a","operator":"Near"}]})"))
              .find("operator") != std::string::npos);
    CHECK(
        wrong(R"("containers":[{"resources":{"requests":{"nvidia.com/gpu":"65"}}}])").find("64") !=
        std::string::npos);
}

TEST_CASE("a PriorityClass is the priority, and a high one is not preemptible") {
    const auto low = spec_from(R"("priorityClassName":"low","priority":10)");
    REQUIRE(low);
    CHECK(low->priority == 10);
    CHECK(low->preemptible);
    const auto high = spec_from(R"("priorityClassName":"system","priority":2000000000)");
    REQUIRE(high);
    CHECK(high->priority == 1'000'000);
    CHECK_FALSE(high->preemptible);
    CHECK(spec_from(R"("priority":0)")->priority == 50);
}
