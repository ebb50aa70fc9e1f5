// SPDX-License-Identifier: Apache-2.0
#include "kube/cluster/owners.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>

#include "base/hash.h"
#include "model/job/job.h"

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

// A user may name any object as the owner of its own.
bool are_apart(const objects::Meta& owner, const objects::Meta& owned) {
    return *owner.name_space != *owned.name_space;
}

// A group has no object that is sure to be there, so its uid is made of its name.
Uid uid_of(const std::string& name_space, const std::string& group) {
    const std::string name = name_space + "/" + group;
    return {base::hash("group " + name), base::hash(name)};
}

}  // namespace

base::Result<int> group_size(const objects::Meta& pod) {
    for (const std::string_view name : kGroupSizes) {
        const std::string* text = find_said(pod, name);
        if (text == nullptr) continue;
        int size = 0;
        const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), size);
        const bool is_number = error == std::errc{} && end == text->data() + text->size();
        if (is_number && size >= 1 && size <= model::kTasksMax) return size;
        return base::invalid(std::string(name) + ": wanted a number of pods from 1 to " +
                             std::to_string(model::kTasksMax) + ", found \"" + *text + "\"");
    }
    return 1;
}

std::string group_of(const objects::Meta& pod) {
    for (const std::string_view name : kGroups) {
        if (const std::string* group = find_said(pod, name)) return *group;
    }
    return {};
}

void Owners::set(const objects::Workload& workload) {
    const Uid uid = workload.meta.uid;
    workloads_[uid] = &workload;
    const objects::Owner& owner = *workload.meta.owner;
    if (objects::workload_that_is(owner) != nullptr) made_[owner.uid].insert(uid);
}

void Owners::remove(Uid workload) {
    const objects::Workload* known = find(workload);
    if (known == nullptr) return;
    const auto made = made_.find(known->meta.owner->uid);
    if (made != made_.end() && made->second.erase(workload) > 0 && made->second.empty())
        made_.erase(made);
    workloads_.erase(workload);
}

std::vector<const objects::Workload*> Owners::made_by(const objects::Workload& workload) const {
    std::vector<const objects::Workload*> all;
    const auto made = made_.find(workload.meta.uid);
    if (made == made_.end()) return all;
    for (const Uid uid : made->second) {
        const objects::Workload* one = find(uid);
        if (one != nullptr && !are_apart(workload.meta, one->meta)) all.push_back(one);
    }
    return all;
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
        const objects::Workload* above = find(workload->meta.owner->uid);
        if (above != nullptr && are_apart(above->meta, workload->meta)) return uid;
        uid = workload->meta.owner->uid;
    }
}

Uid Owners::gang_of(const objects::Pod& pod) const {
    const objects::Owner& owner = *pod.meta.owner;
    if (objects::workload_that_is(owner) != nullptr) {
        const objects::Workload* workload = find(owner.uid);
        const bool is_foreign = workload != nullptr && are_apart(workload->meta, pod.meta);
        return is_foreign ? pod.meta.uid : top_of(owner.uid);
    }
    const std::string group = group_of(pod.meta);
    return group.empty() ? pod.meta.uid : uid_of(*pod.meta.name_space, group);
}

}  // namespace berth::kube::cluster
