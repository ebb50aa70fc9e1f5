// SPDX-License-Identifier: Apache-2.0
#include "kube/cluster/gangs.h"

#include <algorithm>
#include <tuple>

#include "kube/cluster/receipts.h"

namespace berth::kube::cluster {
namespace {

using objects::Job;
using objects::Pod;

bool is_job(const objects::Owner& owner) {
    return *owner.kind == "Job" && owner.api_version->starts_with("batch/");
}

}  // namespace

bool is_waiting(const Pod& pod) {
    return pod.node->empty() && !pod.is_over() && !pod.is_gated && !pod.meta.deletion;
}

bool Gang::is_over() const {
    if (living() > 0) return false;
    if (kind == Kind::Pod) return true;
    return job == nullptr || job->end != Job::End::None;
}

std::string Gang::trouble() const {
    if (kind == Kind::Job && job != nullptr && job->is_managed_elsewhere)
        return "its Job is managed by another controller";
    const objects::PodAsk* first = nullptr;
    for (const auto& [its, pod] : pods) {
        if (pod->is_over() || pod->meta.deletion) continue;
        if (first != nullptr && *first != *pod->ask)
            return "its pods ask for different things, which Berth does not place as one gang";
        first = &*pod->ask;
    }
    return {};
}

std::vector<const Pod*> Gang::waiting() const {
    std::vector<const Pod*> found;
    for (const auto& [its, pod] : pods) {
        if (cluster::is_waiting(*pod)) found.push_back(pod);
    }
    std::ranges::sort(found, {},
                      [](const Pod* pod) { return std::tie(pod->meta.index, pod->meta.name); });
    return found;
}

int Gang::living() const {
    return static_cast<int>(
        std::ranges::count_if(pods, [](const auto& each) { return !each.second->is_over(); }));
}

int Gang::pods_wanted() const {
    if (kind == Kind::Pod) return 1;
    if (job == nullptr) return std::max(living(), 1);
    return job->pods_wanted();
}

bool Gang::is_complete() const {
    if (kind == Kind::Job && (job == nullptr || job->is_suspended)) return false;
    const auto placeable = std::ranges::count_if(pods, [](const auto& each) {
        return each.second->is_bound() || cluster::is_waiting(*each.second);
    });
    return !waiting().empty() && placeable >= pods_wanted();
}

bool Gang::is_paused() const {
    if (kind != Kind::Job || job == nullptr || !job->is_suspended) return false;
    const auto receipt = receipt_of(*job->meta.annotations);
    return receipt && receipt->is_in_force && job->end == Job::End::None;
}

const objects::PodAsk& Gang::ask() const {
    for (const auto& [its, pod] : pods) {
        if (!pod->is_over() && !pod->meta.deletion) return *pod->ask;
    }
    static const objects::PodAsk kNothing;
    return job != nullptr ? *job->ask : kNothing;
}

const objects::Meta& Gang::meta() const {
    static const objects::Meta kNone;
    if (job != nullptr) return job->meta;
    return pods.empty() ? kNone : pods.begin()->second->meta;
}

std::string Gang::name() const {
    const objects::Meta& its = meta();
    return *its.name_space + (kind == Kind::Pod ? "/pod/" : "/job/") + its.name;
}

Uid Gangs::gang_of(const Pod& pod) {
    const objects::Owner& owner = *pod.meta.owner;
    return is_job(owner) ? owner.uid : pod.meta.uid;
}

void Gangs::take(const Pod* before, const Pod* now) {
    const Pod& pod = now != nullptr ? *now : *before;
    if (!are_ours(pod)) return;
    const Uid uid = gang_of(pod);
    // Its Job was deleted and left it behind: it is one by itself now.
    if (before != nullptr && gang_of(*before) != uid) leave(*before);
    Gang& gang = gangs_[uid];
    gang.uid = uid;
    if (uid != pod.meta.uid) {
        gang.kind = Kind::Job;
        if (const auto job = jobs_.find(uid); job != jobs_.end()) gang.job = job->second;
    }
    if (now != nullptr) {
        gang.pods[pod.meta.uid] = now;
    } else {
        gang.pods.erase(pod.meta.uid);
    }
    changed_.insert(uid);
    forget_empty(uid);
}

void Gangs::leave(const Pod& pod) {
    const auto found = gangs_.find(gang_of(pod));
    if (found == gangs_.end()) return;
    found->second.pods.erase(pod.meta.uid);
    changed_.insert(found->first);
    forget_empty(found->first);
}

void Gangs::take(const Job* before, const Job* now) {
    const Uid uid = (now != nullptr ? now : before)->meta.uid;
    if (now != nullptr) {
        jobs_[uid] = now;
    } else {
        jobs_.erase(uid);
    }
    auto found = gangs_.find(uid);
    if (found == gangs_.end()) {
        const bool has_receipt =
            now != nullptr && objects::find(*now->meta.annotations, kLastPause) != nullptr;
        if (!has_receipt) return;
        found = gangs_.emplace(uid, Gang{.uid = uid, .kind = Kind::Job, .pods = {}}).first;
    }
    found->second.job = now;
    changed_.insert(uid);
    forget_empty(uid);
}

void Gangs::forget_empty(Uid gang) {
    const auto found = gangs_.find(gang);
    if (found->second.pods.empty() && found->second.job == nullptr) gangs_.erase(found);
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
