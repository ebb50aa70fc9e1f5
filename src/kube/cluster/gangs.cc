// SPDX-License-Identifier: Apache-2.0
#include "kube/cluster/gangs.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <string_view>
#include <tuple>

#include "kube/objects/receipts.h"
#include "model/job/job.h"

namespace berth::kube::cluster {

using objects::Pod;

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
    if (workload != nullptr && !workload->problem.empty())
        return "its " + std::string(objects::traits(workload->kind).name) +
               " cannot be read: " + workload->problem;
    return is_group() ? disagreement() : "";
}

bool Gang::is_group() const {
    return !is_owned && !pods.empty() && !group_of(pods.begin()->second->meta).empty();
}

// Of a group whose pods do not say the same.
std::string Gang::disagreement() const {
    std::optional<int> said;
    for (const auto& [its, pod] : pods) {
        const auto size = group_size(pod->meta);
        if (!size) return size.error().message;
        if (said && *said != *size)
            return "its pods disagree about the size of their group: " + std::to_string(*said) +
                   " and " + std::to_string(*size);
        said = *size;
    }
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

int Gang::placeable() const {
    return static_cast<int>(std::ranges::count_if(pods, [](const auto& each) {
        return each.second->is_bound() || cluster::is_waiting(*each.second);
    }));
}

bool Gang::has_started() const {
    return std::ranges::any_of(pods, [](const auto& each) { return each.second->is_bound(); });
}

int Gang::pods_wanted() const {
    if (workload != nullptr && made.empty()) return workload->pods_wanted();
    if (workload != nullptr) {
        const auto parts = parts_wanted();
        return std::accumulate(parts.begin(), parts.end(), 0, [](int sum, const auto& part) {
            return std::min(sum + part.pods, model::kTasksMax + 1);
        });
    }
    // No controller makes those again that are gone, once it has started.
    const int size = is_group() && !has_started() ? group_size(meta()).value_or(1) : 1;
    return std::max(living(), size);
}

std::vector<Workload::Part> Gang::parts_wanted() const {
    if (workload == nullptr) return {};
    std::vector<Workload::Part> parts = workload->parts;
    for (const Workload* job : made) {
        const std::string* name = objects::find(*job->meta.labels, kPartOfJobSet);
        const bool is_done = job->end != Workload::End::None;  // its JobSet has counted it
        if (name == nullptr || is_done) continue;
        const auto part = std::ranges::find(parts, *name, &Workload::Part::name);
        if (part != parts.end()) part->pods = std::max(part->pods - job->pods_done, 0);
    }
    return parts;
}

bool Gang::is_complete() const {
    if (is_owned && (workload == nullptr || workload->is_suspended)) return false;
    if (is_group() && !disagreement().empty()) return false;
    return !waiting().empty() && placeable() >= pods_wanted();
}

bool Gang::is_paused() const { return workload != nullptr && objects::is_paused(*workload); }

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

void Gang::add(const Pod& pod) {
    if (pods.empty() && workload == nullptr)
        is_owned = uid != pod.meta.uid && objects::workload_that_is(*pod.meta.owner) != nullptr;
    pods[pod.meta.uid] = &pod;
}

Uid home_of(const Pod& pod, const Owners& owners, const std::map<Uid, Gang>& gangs) {
    const Uid named = owners.gang_of(pod);
    const auto there = gangs.find(named);
    const bool is_foreign =
        there != gangs.end() && *there->second.meta().name_space != *pod.meta.name_space;
    return is_foreign ? pod.meta.uid : named;
}

void Gangs::take(const Pod* before, const Pod* now) {
    const Pod& pod = now != nullptr ? *now : *before;
    if (!are_ours(pod)) return;
    Uid uid = home_of(pod, owners_, gangs_);
    const auto home = homes_.find(pod.meta.uid);
    if (home != homes_.end() && pod.is_bound() && !may_leave(gangs_.at(home->second)))
        uid = home->second;
    if (home != homes_.end() && (now == nullptr || home->second != uid)) leave(pod.meta.uid);
    if (now != nullptr) enter(uid, *now);
}

// A pod that has a node stays what it was, whatever is written into it: its place must not be given
// to another one. Only a workload that is gone leaves its pods behind.
bool Gangs::may_leave(const Gang& gang) { return gang.is_owned && gang.workload == nullptr; }

void Gangs::enter(Uid uid, const Pod& pod) {
    Gang& gang = gangs_[uid];
    gang.uid = uid;
    gang.add(pod);
    gang.workload = owners_.find(uid);
    if (gang.workload != nullptr) gang.made = owners_.made_by(*gang.workload);
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
        owners_.set(*now);
    } else {
        owners_.remove(uid);
    }
    bring_home(uid);
    const auto above = gangs_.find((now != nullptr ? now : before)->meta.owner->uid);
    if (above != gangs_.end() && above->second.workload != nullptr) {
        above->second.made = owners_.made_by(*above->second.workload);
        changed_.insert(above->first);
    }
    auto found = gangs_.find(uid);
    if (found == gangs_.end()) {
        const bool has_receipt =
            now != nullptr && objects::find(*now->meta.annotations, objects::kLastPause) != nullptr;
        if (!has_receipt) return;
        found = gangs_.emplace(uid, Gang{.uid = uid, .is_owned = true, .pods = {}}).first;
    }
    found->second.workload = now;
    found->second.made = now != nullptr ? owners_.made_by(*now) : std::vector<const Workload*>{};
    changed_.insert(uid);
    forget_empty(uid);
}

// Pods that came before their owner, or before what made it.
void Gangs::bring_home(Uid workload) {
    const auto found = gangs_.find(workload);
    if (found == gangs_.end()) return;
    for (const auto& [uid, pod] : std::map(found->second.pods)) {
        const Uid home = owners_.gang_of(*pod);
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
