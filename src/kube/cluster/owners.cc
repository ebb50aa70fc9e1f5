// SPDX-License-Identifier: Apache-2.0
#include "kube/cluster/owners.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>

#include "base/hash.h"
#include "model/job.h"

namespace berth::kube::cluster {
namespace {

using objects::Uid;

// Who comes from there says so by a label or an annotation: KAI, Kueue, Volcano.
constexpr std::array<std::string_view, 3> kGroups{"pod-group-name", "kueue.x-k8s.io/pod-group-name",
                                                  "scheduling.k8s.io/group-name"};
constexpr std::array<std::string_view, 2> kGroupSizes{"kueue.x-k8s.io/pod-group-total-count",
                                                      "kai.scheduler/batch-min-member"};

const std::string* find_said(const objects::Meta& meta, std::string_view name) {
    const std::string* label = objects::find(*meta.labels, name);
    return label != nullptr ? label : objects::find(*meta.annotations, name);
}

// A group has no object that is sure to be there, so its uid is made of its name.
Uid uid_of(const std::string& name_space, const std::string& group) {
    const std::string name = name_space + "/" + group;
    return {base::hash("group " + name), base::hash(name)};
}

}  // namespace

int group_size(const objects::Meta& pod) {
    for (const std::string_view name : kGroupSizes) {
        const std::string* text = find_said(pod, name);
        int size = 0;
        if (text != nullptr) std::from_chars(text->data(), text->data() + text->size(), size);
        if (size > 0) return std::min(size, model::kTasksMax);
    }
    return 1;
}

std::string group_of(const objects::Meta& pod) {
    for (const std::string_view name : kGroups) {
        if (const std::string* group = find_said(pod, name)) return *group;
    }
    return {};
}

const objects::Workload* Owners::find(Uid workload) const {
    const auto found = workloads_.find(workload);
    return found == workloads_.end() ? nullptr : found->second;
}

Uid Owners::top_of(Uid uid) const {
    for (;;) {
        const objects::Workload* workload = find(uid);
        if (workload == nullptr) return uid;
        const auto* maker = objects::workload_that_is(*workload->meta.owner);
        const auto made_by = objects::traits(workload->kind).made_by;
        if (maker == nullptr || made_by != maker->kind) return uid;
        uid = workload->meta.owner->uid;
    }
}

Uid Owners::gang_of(const objects::Pod& pod) const {
    const objects::Owner& owner = *pod.meta.owner;
    if (objects::workload_that_is(owner) != nullptr) {
        // Anybody may write anything into a pod of his.
        const objects::Workload* workload = find(owner.uid);
        const bool is_foreign =
            workload != nullptr && *workload->meta.name_space != *pod.meta.name_space;
        return is_foreign ? pod.meta.uid : top_of(owner.uid);
    }
    const std::string group = group_of(pod.meta);
    return group.empty() ? pod.meta.uid : uid_of(*pod.meta.name_space, group);
}

}  // namespace berth::kube::cluster
