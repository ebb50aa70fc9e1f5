// SPDX-License-Identifier: Apache-2.0
//
// For tests: pods and workloads of the namespace ml as the API server writes them, kept as caches
// keep them, and the gangs that they make.
#pragma once

#include <doctest/doctest.h>

#include <cstdio>
#include <deque>
#include <string>

#include "kube/cluster/gangs.h"

namespace berth::kube::cluster {

struct Objects {
    static std::string uid(int number) {
        char text[40];
        std::snprintf(text, sizeof text, "00000000-0000-0000-0000-%012d", number);
        return text;
    }
    static std::string meta(const std::string& name, int number, const std::string& more = "") {
        return R"("metadata":{"name":")" + name + R"(","namespace":"ml","uid":")" + uid(number) +
               R"(","creationTimestamp":"2026-03-01T12:00:00Z")" + more + "}";
    }
    static std::string owned_by(int owner, const std::string& kind = "Job",
                                const std::string& version = "batch/v1") {
        return R"(,"ownerReferences":[{"apiVersion":")" + version + R"(","kind":")" + kind +
               R"(","name":"t","uid":")" + uid(owner) + R"(","controller":true}])";
    }

    const objects::Pod* pod(const std::string& name, int number, const std::string& owner = "",
                            const std::string& spec = "", const std::string& phase = "Pending",
                            int gpus = 1, const std::string& scheduler = "berth") {
        const std::string text = "{" + meta(name, number, owner) + R"(,"spec":{"schedulerName":")" +
                                 scheduler +
                                 R"(","containers":[{"resources":{"requests":{"nvidia.com/gpu":")" +
                                 std::to_string(gpus) + R"("}}}])" + spec +
                                 R"(},"status":{"phase":")" + phase + R"("}})";
        codec::JsonReader reader(text);
        pods.push_back(objects::read_pod(reader, pod_pools));
        REQUIRE_MESSAGE(!reader.is_failed(), reader.error());
        return &pods.back();
    }
    const objects::Workload* workload(objects::WorkloadKind kind, int number,
                                      const std::string& rest, const std::string& more = "") {
        const std::string text = "{" + meta("train", number, more) + rest + "}";
        codec::JsonReader reader(text);
        workloads.push_back(objects::read_workload(kind, reader, pod_pools));
        REQUIRE_MESSAGE(!reader.is_failed(), reader.error());
        return &workloads.back();
    }
    const objects::Workload* job(int number, const std::string& rest,
                                 const std::string& more = "") {
        return workload(objects::WorkloadKind::Job, number, rest, more);
    }
    const Gang& gang(int number) const { return *gangs.find(*Uid::parse(uid(number))); }

    objects::PodPools pod_pools;
    std::deque<objects::Pod> pods;
    std::deque<objects::Workload> workloads;
    Gangs gangs{"berth"};
};

}  // namespace berth::kube::cluster
