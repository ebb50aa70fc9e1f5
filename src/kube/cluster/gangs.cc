// SPDX-License-Identifier: Apache-2.0
#include "kube/cluster/gangs.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>
#include <tuple>

#include "base/hash.h"
#include "kube/cluster/receipts.h"
#include "model/job.h"

namespace berth::kube::cluster {
namespace {

using objects::Pod;

// Who comes from there says so by a label or an annotation: KAI, Kueue, Volcano.
constexpr std::array<std::string_view, 3> kGroups{"pod-group-name", "kueue.x-k8s.io/pod-group-name",
                                                  "scheduling.k8s.io/group-name"};
constexpr std::array<std::string_view, 2> kGroupSizes{"kueue.x-k8s.io/pod-group-total-count",
                                                      "kai.scheduler/batch-min-member"};

const std::string* find_said(const objects::Meta& meta, std::string_view name) {
    const std::string* label = objects::find(*meta.labels, name);
    return label != nullptr ? label : objects::find(*meta.annotations, name);
}

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

// A group has no object that is sure to be there, so its uid is made of its name.
Uid uid_of(const std::string& name_space, const std::string& group) {
    const std::string name = name_space + "/" + group;
    return {base::hash("group " + name), base::hash(name)};
}

}  // namespace

bool is_waiting(const Pod& pod) {
    return pod.node->empty() && !pod.is_over() && !pod.is_gated && !pod.meta.deletion;
}

bool in_order(const Pod* one, const Pod* other) {
    return std::tie(one->meta.index, one->meta.name) <
           std::tie(other->meta.index, other->meta.name);
}

bool Gang::is_over() const {
    if (living() > 0) return false;
    return workload == nullptr || workload->end != Workload::End::None;
}

std::string Gang::trouble() const {
    if (workload != nullptr && workload->is_managed_elsewhere)
        return "its " + std::string(objects::traits(workload->kind).name) +
               " is managed by another controller";
    return {};
}

std::vector<const Pod*> Gang::waiting() const {
    std::vector<const Pod*> found;
    for (const auto& [its, pod] : pods) {
        if (cluster::is_waiting(*pod)) found.push_back(pod);
    }
    std::ranges::sort(found, in_order);
    return found;
}

int Gang::living() const {
    return static_cast<int>(
        std::ranges::count_if(pods, [](const auto& each) { return !each.second->is_over(); }));
}

int Gang::pods_wanted() const {
    if (workload != nullptr) return workload->pods_wanted();
    const bool is_group = !is_owned && !pods.empty() && !group_of(meta()).empty();
    return std::max(living(), is_group ? group_size(meta()) : 1);
}

bool Gang::is_complete() const {
    if (is_owned && (workload == nullptr || workload->is_suspended)) return false;
    const auto placeable = std::ranges::count_if(pods, [](const auto& each) {
        return each.second->is_bound() || cluster::is_waiting(*each.second);
    });
    return !waiting().empty() && placeable >= pods_wanted();
}

bool Gang::is_paused() const {
    if (workload == nullptr || !workload->is_suspended) return false;
    const auto receipt = receipt_of(*workload->meta.annotations);
    return receipt && receipt->is_in_force && workload->end == Workload::End::None;
}

const objects::PodAsk& Gang::ask() const {
    for (const auto& [its, pod] : pods) {
        if (!pod->is_over() && !pod->meta.deletion) return *pod->ask;
    }
    static const objects::PodAsk kNothing;
    return workload != nullptr && !workload->parts.empty() ? *workload->parts.front().ask
                                                           : kNothing;
}

const objects::Meta& Gang::meta() const {
    static const objects::Meta kNone;
    if (workload != nullptr) return workload->meta;
    return pods.empty() ? kNone : pods.begin()->second->meta;
}

std::string Gang::name() const {
    const objects::Meta& its = meta();
    const std::string_view word = workload != nullptr ? objects::traits(workload->kind).word
                                  : is_owned          ? "job"
                                                      : "pod";
    return *its.name_space + "/" + std::string(word) + "/" + its.name;
}

// The workload that made it, or that made that one: those that are there and that the table names.
Uid Gangs::top_of(Uid uid) const {
    for (;;) {
        const auto found = workloads_.find(uid);
        if (found == workloads_.end()) return uid;
        const auto* maker = objects::workload_that_is(*found->second->meta.owner);
        const auto made_by = objects::traits(found->second->kind).made_by;
        if (maker == nullptr || made_by != maker->kind) return uid;
        uid = found->second->meta.owner->uid;
    }
}

Uid Gangs::gang_of(const Pod& pod) const {
    const objects::Owner& owner = *pod.meta.owner;
    if (objects::workload_that_is(owner) != nullptr) {
        // Anybody may write anything into a pod of his.
        const auto found = workloads_.find(owner.uid);
        const bool is_foreign =
            found != workloads_.end() && *found->second->meta.name_space != *pod.meta.name_space;
        return is_foreign ? pod.meta.uid : top_of(owner.uid);
    }
    const std::string group = group_of(pod.meta);
    return group.empty() ? pod.meta.uid : uid_of(*pod.meta.name_space, group);
}

void Gangs::take(const Pod* before, const Pod* now) {
    const Pod& pod = now != nullptr ? *now : *before;
    if (!are_ours(pod)) return;
    const Uid uid = gang_of(pod);
    // Its Job was deleted and left it behind, say: it is one by itself now.
    const auto home = homes_.find(pod.meta.uid);
    if (home != homes_.end() && (now == nullptr || home->second != uid)) leave(pod.meta.uid);
    if (now != nullptr) enter(uid, *now);
}

void Gangs::enter(Uid uid, const Pod& pod) {
    Gang& gang = gangs_[uid];
    gang.uid = uid;
    gang.is_owned = uid != pod.meta.uid && objects::workload_that_is(*pod.meta.owner) != nullptr;
    if (const auto found = workloads_.find(uid); found != workloads_.end())
        gang.workload = found->second;
    gang.pods[pod.meta.uid] = &pod;
    homes_[pod.meta.uid] = uid;
    changed_.insert(uid);
}

void Gangs::leave(Uid pod) {
    const auto home = homes_.find(pod);
    const auto found = gangs_.find(home->second);
    homes_.erase(home);
    found->second.pods.erase(pod);
    changed_.insert(found->first);
    forget_empty(found->first);
}

void Gangs::take(const Workload* before, const Workload* now) {
    const Uid uid = (now != nullptr ? now : before)->meta.uid;
    if (now != nullptr) {
        workloads_[uid] = now;
    } else {
        workloads_.erase(uid);
    }
    bring_home(uid);
    auto found = gangs_.find(uid);
    if (found == gangs_.end()) {
        const bool has_receipt =
            now != nullptr && objects::find(*now->meta.annotations, kLastPause) != nullptr;
        if (!has_receipt) return;
        found = gangs_.emplace(uid, Gang{.uid = uid, .is_owned = true, .pods = {}}).first;
    }
    found->second.workload = now;
    changed_.insert(uid);
    forget_empty(uid);
}

// Pods that came before their owner, or before what made it.
void Gangs::bring_home(Uid workload) {
    const auto found = gangs_.find(workload);
    if (found == gangs_.end()) return;
    for (const auto& [uid, pod] : std::map(found->second.pods)) {
        const Uid home = gang_of(*pod);
        if (home == workload) continue;
        leave(uid);
        enter(home, *pod);
    }
}

void Gangs::forget_empty(Uid gang) {
    const auto found = gangs_.find(gang);
    if (found->second.pods.empty() && found->second.workload == nullptr) gangs_.erase(found);
}

const Gang* Gangs::find(Uid gang) const {
    const auto found = gangs_.find(gang);
    return found == gangs_.end() ? nullptr : &found->second;
}

void Gangs::touch(std::string_view name_space) {
    for (const auto& [uid, gang] : gangs_) {
        if (*gang.meta().name_space == name_space) changed_.insert(uid);
    }
}

void Gangs::touch_all() {
    for (const auto& [uid, gang] : gangs_) changed_.insert(uid);
}

}  // namespace berth::kube::cluster
