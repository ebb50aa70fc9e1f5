// SPDX-License-Identifier: Apache-2.0
//
// What does Berth keep of what makes pods and can be suspended: a Job, a JobSet, a RayCluster, a
// RayJob? Which pods it has at once and what they will ask, whether it is suspended, and whether it
// has ended.
//
// A kind is a row of the table here and a reader in workload.cc. All of them are suspended by
// spec.suspend.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kube/objects/pod.h"

namespace berth::kube::objects {

enum class WorkloadKind : std::uint8_t { Job, JobSet, RayCluster, RayJob };

struct WorkloadTraits {
    WorkloadKind kind;
    std::string_view group;  // with the slash: "batch/"
    std::string_view version;
    std::string_view name;  // "Job"
    std::string_view plural;  // "jobs"
    std::string_view word;  // for people: "job"
    // Who makes it, if that is a workload too: it is one with it.
    std::optional<WorkloadKind> made_by;
};
inline constexpr std::array<WorkloadTraits, 4> kWorkloads{{
    {WorkloadKind::Job, "batch/", "v1", "Job", "jobs", "job", WorkloadKind::JobSet},
    {WorkloadKind::JobSet, "jobset.x-k8s.io/", "v1alpha2", "JobSet", "jobsets", "jobset", {}},
    {WorkloadKind::RayCluster, "ray.io/", "v1", "RayCluster", "rayclusters", "raycluster",
     WorkloadKind::RayJob},
    {WorkloadKind::RayJob, "ray.io/", "v1", "RayJob", "rayjobs", "rayjob", {}},
}};
constexpr const WorkloadTraits& traits(WorkloadKind kind) {
    return kWorkloads[static_cast<std::size_t>(kind)];
}
// Of all namespaces: /apis/batch/v1/jobs
std::string list_path(const WorkloadTraits& kind);
// Null: it is of another kind.
const WorkloadTraits* workload_that_is(const Owner& owner);

struct Workload {
    // Pods that ask alike.
    struct Part {
        std::string name;  // in its workload; empty: it has one part
        std::int32_t pods = 1;  // at once, from now on
        Interned<PodAsk> ask;
        Interned<Labels> labels;  // that its template gives them
    };

    WorkloadKind kind = WorkloadKind::Job;
    Meta meta;
    std::vector<Part> parts;
    bool is_suspended = false;  // it is to be
    bool is_managed_elsewhere = false;  // by another controller
    bool is_scaled_to_zero = false;  // nothing of it is to run
    std::int32_t pods_done = 0;  // of those that it had at once at first
    // It makes no more pods and ends with those that are there: suspended, it would be complete.
    bool has_its_last_pods = false;
    // What is wrong with its spec, where its kind's definition lets through what is not one.
    std::string problem;
    enum class End { None, Complete, Failed };
    End end = End::None;
    std::optional<base::TimePoint> suspended_since;

    std::int32_t pods_wanted() const;
    // /apis/batch/v1/namespaces/ml/jobs/train
    std::string path() const;
};

Workload read_workload(WorkloadKind kind, codec::JsonReader& reader, PodPools& pools);

}  // namespace berth::kube::objects
