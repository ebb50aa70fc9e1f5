// SPDX-License-Identifier: Apache-2.0
#include "kube/scheduler/facts/gang_jobs.h"

#include <algorithm>
#include <utility>

#include "kube/cluster/asks.h"
#include "kube/cluster/parts.h"
#include "model/job/companions.h"
#include "scheduling/explain/explain.h"

namespace berth::kube::scheduler {
namespace {

using cluster::Gang;
using model::JobState;

// A gang whose starts fail again and again waits for this time, doubled each time.
constexpr base::Duration kAgainLeast = std::chrono::seconds(5);
constexpr base::Duration kAgainMost = std::chrono::minutes(5);

bool has_attempt(JobState state) {
    return state == JobState::Starting || state == JobState::Running ||
           state == JobState::Pausing || state == JobState::Cancelling;
}

model::Submission submission_of(const Gang& gang, const model::JobSpec& spec) {
    model::Submission submission;
    submission.spec = spec;
    submission.launch.user = *gang.meta().name_space;
    submission.launch.pause.grace = cluster::grace_of(gang);
    return submission;
}

std::string text_of(const control::Refusal& refusal) {
    if (!refusal.verdict) return refusal.error.message;
    return scheduling::explain_text(*refusal.verdict);
}

}  // namespace

void GangJobs::adopt(Uid gang, model::JobId job, model::JobSpec spec) {
    taken_[gang] = {job, std::move(spec)};
    gangs_[job] = gang;
}

std::optional<Uid> GangJobs::uid_of(model::JobId job) const {
    const auto found = gangs_.find(job);
    return found == gangs_.end() ? std::nullopt : std::optional(found->second);
}

const Gang* GangJobs::gang_of(model::JobId job) const {
    const auto uid = uid_of(job);
    return uid ? parts_.gangs.find(*uid) : nullptr;
}

std::optional<model::JobId> GangJobs::job_of(Uid gang) const {
    const auto found = taken_.find(gang);
    return found == taken_.end() ? std::nullopt : found->second.job;
}

bool GangJobs::asks_as_taken(model::JobId job, int rank, const model::JobSpec& pod,
                             cluster::Sizes sizes) const {
    const model::JobRecord* known = parts_.controller.state().jobs.get(job);
    return known != nullptr && cluster::asks_alike(known->spec, rank, pod, sizes);
}

std::string GangJobs::refusal_of(Uid gang) const {
    const auto found = refusals_.find(gang);
    if (found != refusals_.end()) return found->second;
    const bool is_strange = strange_.contains(gang) && !taken_.contains(gang);
    return is_strange ? "some of its pods are on nodes that Berth did not choose: it waits "
                        "until they are deleted"
                      : "";
}

void GangJobs::review(Uid uid) {
    const Gang* gang = parts_.gangs.find(uid);
    const auto taken = taken_.find(uid);
    // Who has a place from now on is no stranger.
    if (const auto job = job_of(uid)) parts_.binder.gang_changed(*job);
    count_strangers(uid, gang);
    if (taken != taken_.end()) {
        review_taken(uid, gang, taken->second);
    } else if (gang != nullptr && (gang->is_complete() || gang->is_paused()) &&
               !strange_.contains(uid)) {
        if (!is_resting(uid)) refusals_.erase(uid);  // it may be mended
        hand_in(uid, *gang);
    } else {
        refusals_.erase(uid);
    }
    if (gang != nullptr) {
        look_at_pause(uid, *gang);
    } else {
        failures_.erase(uid);
        over_quota_.erase(uid);
    }
}

// A user has resumed it, and may suspend it again; or nothing will ever resume it, so its pods come
// and say why they wait.
void GangJobs::look_at_pause(Uid uid, const Gang& gang) {
    const bool is_resumed = gang.workload != nullptr && !gang.workload->is_suspended;
    const bool is_nobodys = gang.is_paused() && refusals_.contains(uid);
    if (is_resumed || is_nobodys) parts_.binder.give_up_pause(gang, [this, uid] { review(uid); });
}

void GangJobs::review_taken(Uid uid, const Gang* gang, Taken& taken) {
    if (!taken.job || taken.is_leaving) {
        taken.was_touched = true;  // it is looked at again with the answer
        return;
    }
    const model::JobRecord* job = parts_.controller.state().jobs.get(*taken.job);
    if (job == nullptr) return;
    if (has_attempt(job->state)) {
        if (gang != nullptr) look_at_size(uid, *gang, *job);
        return;
    }
    const auto tasks = strange_.contains(uid) ? std::nullopt : size_it_waits_with(gang, taken);
    if (tasks == taken.spec.tasks_min) return;
    if (tasks) return set_size(uid, *tasks, {});
    taken.is_leaving = true;
    parts_.controller.cancel(*taken.job, std::string(control::kMachine), base::Duration{0},
                             [this, here = std::weak_ptr(is_here_), uid](const base::Status& done) {
                                 if (here.expired() || done) return;
                                 // It started meanwhile.
                                 const auto found = taken_.find(uid);
                                 if (found == taken_.end()) return;
                                 found->second.is_leaving = false;
                                 review(uid);
                             });
}

// Pods of a gang that runs end for good, and others come. The place of one that will come again is
// kept; nothing is taken for pods that are not made yet.
void GangJobs::look_at_size(Uid uid, const Gang& gang, const model::JobRecord& job) {
    const int size = job.spec.tasks_max;
    const bool is_alone = size == 1 && gang.pods.size() <= 1;  // as most are
    if (is_alone || !parts_.binder.goes_on(job.id)) return;
    const auto is_task = [&](int rank) { return rank < size; };
    const cluster::TasksNow now = cluster::tasks_now(gang, job.spec);
    const auto placed =
        static_cast<int>(std::ranges::count_if(job.tasks, is_task, &model::TaskPlacement::task));
    std::vector<int> ended = parts_.binder.tasks_without_pods(job.id);
    std::erase_if(ended, [&](int rank) { return !is_task(rank); });
    const int filled = placed - static_cast<int>(ended.size());
    const int kept = std::max({1, filled, std::min(now.wanted, placed)});
    ended.resize(static_cast<std::size_t>(placed - kept));
    const int tasks = std::max(kept, now.there);
    if (tasks != size) set_size(uid, tasks, std::move(ended));
}

void GangJobs::set_size(Uid uid, int tasks, std::vector<int> ended) {
    Taken& taken = taken_.at(uid);
    if (std::exchange(taken.is_resizing, true)) return;
    parts_.controller.set_size(
        {*taken.job, tasks, std::move(ended)}, std::string(control::kMachine),
        [this, here = std::weak_ptr(is_here_), uid, tasks](const base::Status& done) {
            if (here.expired()) return;
            const auto found = taken_.find(uid);
            if (found == taken_.end()) return;
            found->second.is_resizing = false;
            if (done) {
                found->second.spec.tasks_min = found->second.spec.tasks_max = tasks;
                refusals_.erase(uid);
            } else if (done.error().code == base::ErrorCode::Invalid) {
                refusals_[uid] = "it continues unchanged: " + done.error().message;
            }
        });
}

// None where it has to be taken out. Off its GPUs its pods are made again when it goes on, perhaps
// fewer; one that wants more is handed in anew, and refused where that number never fits.
std::optional<int> GangJobs::size_it_waits_with(const Gang* gang, const Taken& taken) const {
    if (gang == nullptr || gang->is_over()) return {};
    if (!gang->is_complete() && !gang->is_paused()) return {};
    std::string why;
    const auto spec = cluster::job_of(*gang, parts_.project_of(*gang, why));
    if (!spec) return {};
    // What its template does not say, its pods did.
    const bool is_as_taken = gang->is_paused() ? cluster::ask_alike(*spec, taken.spec) &&
                                                     spec->project == taken.spec.project &&
                                                     spec->preemptible == taken.spec.preemptible
                                               : *spec == taken.spec;
    const bool fits = spec->tasks_min <= taken.spec.tasks_min;
    return is_as_taken && fits ? std::optional(spec->tasks_min) : std::nullopt;
}

void GangJobs::hand_in(Uid uid, const Gang& gang) {
    if (refusals_.contains(uid)) return;
    over_quota_.erase(uid);
    std::string why;
    const cluster::ProjectPools project = parts_.project_of(gang, why);
    if (project.name.empty()) {
        refusals_[uid] = why;
        return;
    }
    auto spec = cluster::job_of(gang, project);
    if (!spec) {
        refusals_[uid] = spec.error().message;
        return;
    }
    parts_.controller.submit(submission_of(gang, *spec),
                             [this, here = std::weak_ptr(is_here_),
                              uid](const tl::expected<model::JobId, control::Refusal>& answer) {
                                 if (!here.expired()) take_answer(uid, answer);
                             });
    taken_[uid] = {{}, std::move(*spec)};
}

void GangJobs::take_answer(Uid uid, const tl::expected<model::JobId, control::Refusal>& answer) {
    if (answer) {
        Taken& taken = taken_[uid];
        taken.job = *answer;
        gangs_[*answer] = uid;
        if (std::exchange(taken.was_touched, false)) review(uid);
        return;
    }
    taken_.erase(uid);
    refusals_[uid] = text_of(answer.error());
    const auto& verdict = answer.error().verdict;
    if (verdict && is_about_quota(verdict->reason)) over_quota_.insert(uid);
    if (const Gang* gang = parts_.gangs.find(uid)) look_at_pause(uid, *gang);
}

void GangJobs::ended(const model::JobFinished& end) {
    const auto found = gangs_.find(end.job);
    if (found == gangs_.end()) return;
    const Uid uid = found->second;
    gangs_.erase(found);
    taken_.erase(uid);
    const Gang* gang = parts_.gangs.find(uid);
    const bool has_failed_to_start = end.state == JobState::Failed && gang != nullptr &&
                                     (gang->is_complete() || gang->is_paused());
    if (!has_failed_to_start) {
        failures_.erase(uid);
        return review(uid);
    }
    refusals_[uid] = end.detail;
    Failures& failures = failures_[uid];
    failures.is_resting = true;
    const auto doublings = std::min(failures.starts++, 10);
    timers_.start(std::min<base::Duration>(kAgainLeast * (1 << doublings), kAgainMost),
                  [this, here = std::weak_ptr(is_here_), uid] {
                      if (here.expired()) return;
                      if (const auto failed = failures_.find(uid); failed != failures_.end())
                          failed->second.is_resting = false;
                      review(uid);
                  });
}

bool GangJobs::is_resting(Uid gang) const {
    const auto found = failures_.find(gang);
    return found != failures_.end() && found->second.is_resting;
}

void GangJobs::forget_refusals() {
    std::vector<Uid> refused;
    for (const auto& [uid, why] : refusals_) {
        if (!is_resting(uid)) refused.push_back(uid);
    }
    for (const Uid uid : refused) refusals_.erase(uid);
    for (const Uid uid : refused) review(uid);
}

void GangJobs::count_strangers(Uid uid, const Gang* gang) {
    const auto job = job_of(uid);
    const model::JobRecord* record = job ? parts_.controller.state().jobs.get(*job) : nullptr;
    static const decltype(Gang::pods) kNone;
    std::set<Uid> now;
    for (const auto& [pod_uid, pod] : gang == nullptr ? kNone : gang->pods) {
        if (!pod->is_bound()) continue;
        const auto task = record ? parts_.binder.task_of(record->id, pod_uid) : std::nullopt;
        if (task) {
            const auto& asked = model::request_of(record->spec, *task);
            const objects::Amounts more = cluster::beside(pod->held(), asked);
            if (more.all().empty()) continue;
            parts_.strangers.set_beside(*pod, more);
        } else {
            parts_.strangers.set(*pod);
        }
        now.insert(pod_uid);
    }
    const auto known = strange_.find(uid);
    if (known == strange_.end() && now.empty()) return;
    if (known != strange_.end()) {
        for (const Uid gone : known->second) {
            if (!now.contains(gone)) parts_.strangers.clear(gone);
        }
    }
    if (now.empty()) {
        strange_.erase(uid);
    } else {
        strange_[uid] = std::move(now);
    }
}

}  // namespace berth::kube::scheduler
