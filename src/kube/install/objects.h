// SPDX-License-Identifier: Apache-2.0
//
// What does an installation consist of? Every object that lies on the API server because of it, in
// the order in which they are made: the kinds that people declare, the scheduler with its rights,
// the admission policies last, so that no pod is given to a scheduler that is not there. Taken away
// in the opposite order.
//
// No webhook and no finalizer is among them: a cluster without Berth's processes goes on.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace berth::kube::install {

// Of every object, with the value kPartOf.
inline constexpr std::string_view kPartOfLabel = "app.kubernetes.io/part-of";
inline constexpr std::string_view kPartOf = "berth";

inline constexpr std::string_view kNamespace = "berth-system";
// Of the ServiceAccount that the scheduler runs as, of its roles, its Deployment and its Lease.
inline constexpr std::string_view kSchedulerName = "berth-scheduler";
// Who may read what is declared: part of the cluster's own view, edit and admin.
inline constexpr std::string_view kReaderRole = "berth-view";
// What pods say who want to be scheduled by us.
inline constexpr std::string_view kPodSchedulerName = "berth";
// On a pod, with the value "true": it is left to the scheduler that it has without Berth.
inline constexpr std::string_view kIgnoreLabel = "berth.dev/ignore";

struct Object {
    std::string path;  // /apis/apps/v1/namespaces/berth-system/deployments/berth-scheduler
    std::string title;  // Deployment berth-scheduler
    std::string json;
    bool is_definition = false;  // a CustomResourceDefinition
    bool is_namespaced = false;
};

struct InstallOptions {
    std::string image;  // of the scheduler
};
std::vector<Object> objects_of(const InstallOptions& options);

}  // namespace berth::kube::install
