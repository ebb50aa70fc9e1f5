// SPDX-License-Identifier: Apache-2.0
#include "kube/scheduler/binds/binder.h"

#include <algorithm>
#include <utility>

#include "kube/cluster/asks.h"
#include "kube/objects/receipts.h"

namespace berth::kube::scheduler {
namespace {

using client::BindFate;
using client::Outcome;
using cluster::Gang;
using objects::Pod;

constexpr base::Duration kStartsLook = std::chrono::milliseconds(500);
constexpr std::string_view kJobFinalizer = "batch.kubernetes.io/job-tracking";
// As many as the Job controller ends about as fast.
constexpr int kFewVictims = 8;

const Pod* living(const Gang& gang, Uid uid) {
    const auto found = gang.pods.find(uid);
    return found == gang.pods.end() || found->second->is_over() ? nullptr : found->second;
}

client::ObjectName name_of_workload(const objects::Workload& workload) {
    return {workload.path(), objects::format(workload.meta.uid), workload.meta.version};
}

// It is done, or about a pod that is gone.
bool is_over(const Outcome& outcome) {
    return outcome.is_done() || outcome.code == 404 || outcome.code == 409;
}

bool has_failed(const Gang& gang, Uid uid) {
    const auto found = gang.pods.find(uid);
    return found != gang.pods.end() && found->second->phase == objects::Phase::Failed;
}

}  // namespace

Binder::Binder(client::Requests& requests, client::Timers& timers, GangOf gang_of, NotesOf notes_of,
               IsFor is_for, WhyNot why_not)
    : requests_(requests),
      timers_(timers),
      gang_of_(std::move(gang_of)),
      notes_of_(std::move(notes_of)),
      is_for_(std::move(is_for)),
      why_not_(std::move(why_not)),
      starts_(timers) {}

// --- the launcher

void Binder::start(const ports::LaunchOrder& order) {
    Attempt& attempt = with_places(order.attempt, order.tasks);
    attempt.is_reported_running = false;
    review_begun(attempt);
}

void Binder::resize(const ports::BegunAttempt& resized) {
    if (find(resized.id) != nullptr) review(with_places(resized.id, resized.tasks));
}

void Binder::recover(std::span<const ports::BegunAttempt> attempts) {
    for (const ports::BegunAttempt& begun : attempts) {
        Attempt& attempt = with_places(begun.id, begun.tasks);
        const Gang* gang = gang_of_(begun.id.job);
        if (gang == nullptr) continue;
        std::vector<Place> bound;
        for (const auto& [uid, pod] : gang->pods) {
            if (pod->is_bound()) bound.push_back({0, *pod->node, Fill::Bound, uid});
        }
        keep_pods(attempt, bound);
        review_begun(attempt);
    }
}

// From now on its pods have to come.
void Binder::review_begun(Attempt& attempt) {
    attempt.came = timers_.now();
    if (!starts_.is_running()) starts_.start(kStartsLook, [this] { look_at_starts(); });
    review(attempt);
}

Binder::Attempt& Binder::with_places(ports::AttemptId id,
                                     const std::vector<ports::TaskLaunch>& tasks) {
    if (find(id) == nullptr) attempts_[id.job] = Attempt{.id = id, .places = {}};
    Attempt& attempt = attempts_.at(id.job);
    const std::vector<Place> before = std::exchange(attempt.places, {});
    attempt.places.reserve(tasks.size());
    for (const ports::TaskLaunch& task : tasks) {
        attempt.places.push_back({task.rank, task.node, {}, {}});
    }
    keep_pods(attempt, before);
    return attempt;
}

// Who had a place has one on its node; which of those that ask the same makes no difference.
void Binder::keep_pods(Attempt& attempt, const std::vector<Place>& before) const {
    const Gang* gang = gang_of_(attempt.id.job);
    if (gang == nullptr || before.empty()) return;
    std::map<std::string_view, std::vector<Place*>> free;
    for (Place& place : attempt.places) free[place.node].push_back(&place);
    base::Result<model::JobSpec> asks;
    const Pod* last = nullptr;
    for (const Place& known : before) {
        const auto pod = gang->pods.find(known.pod);
        if (known.fill == Fill::Free || pod == gang->pods.end()) continue;
        if (last == nullptr || last->ask != pod->second->ask)
            asks = cluster::spec_of(*pod->second->ask);
        last = pod->second;
        std::vector<Place*>& here = free[known.node];
        const auto find = [&](cluster::Sizes sizes) {
            return std::ranges::find_if(here, [&](const Place* each) {
                return asks && is_for_(attempt.id.job, each->task, *asks, sizes);
            });
        };
        auto place = find(cluster::Sizes::Same);
        if (place == here.end()) place = find(cluster::Sizes::Any);
        if (place == here.end()) continue;
        (*place)->fill = known.fill;
        (*place)->pod = known.pod;
        here.erase(place);
    }
}

void Binder::stop(ports::AttemptId id, ports::StopReason, base::Duration grace) {
    Attempt* attempt = find(id);
    if (attempt == nullptr) return;
    attempt->is_stopping = true;
    const Gang* gang = gang_of_(id.job);
    if (gang != nullptr && !gang->is_owned) remove_pods(*attempt, grace.count() / 1000);
    review(*attempt);
}

// --- what the caches say

void Binder::gang_changed(model::JobId job) {
    const auto found = attempts_.find(job);
    if (found != attempts_.end()) review(found->second);
}

void Binder::give_up_pause(const Gang& gang, std::function<void()> then) {
    if (gang.workload == nullptr || gang.workload->end != objects::Workload::End::None) return;
    auto receipt = objects::receipt_of(*gang.workload->meta.annotations);
    if (!receipt || !receipt->is_in_force || !giving_up_.insert(gang.uid).second) return;
    receipt->is_in_force = false;
    requests_.send(
        client::merge_patch(name_of_workload(*gang.workload), R"({"spec":{"suspend":false}})",
                            {{std::string(objects::kLastPause), objects::format(*receipt)}}),
        [this, here = std::weak_ptr(is_here_), uid = gang.uid,
         then = std::move(then)](const Outcome&) {
            if (here.expired()) return;
            // The cache has it by then.
            later(kBindAgain, [this, uid, then] {
                giving_up_.erase(uid);
                then();
            });
        });
}

std::optional<int> Binder::task_of(model::JobId job, Uid pod) const {
    const auto found = attempts_.find(job);
    if (found == attempts_.end()) return {};
    const auto& places = found->second.places;
    const auto place = std::ranges::find(places, pod, &Place::pod);
    return place == places.end() ? std::nullopt : std::optional(place->task);
}

std::vector<int> Binder::tasks_without_pods(model::JobId job) const {
    std::vector<int> tasks;
    if (!goes_on(job)) return tasks;
    for (const Place& place : attempts_.at(job).places) {
        if (place.fill == Fill::Free) tasks.push_back(place.task);
    }
    return tasks;
}

bool Binder::goes_on(model::JobId job) const {
    const auto found = attempts_.find(job);
    return found != attempts_.end() && found->second.has_run && !found->second.is_stopping;
}

// Ends the attempt, or brings it on.
void Binder::review(Attempt& attempt) {
    const Gang* gang = gang_of_(attempt.id.job);
    if (gang == nullptr) return end(attempt, {.stop_asked = attempt.is_stopping, .detail = {}});
    look_at_places(attempt, *gang);
    const bool is_empty = attempt.is_empty();
    if (gang->is_over() && is_empty) {
        const bool is_failure =
            attempt.has_failed &&
            (gang->workload == nullptr || gang->workload->end != objects::Workload::End::Complete);
        return end(attempt, {.exit_code = is_failure ? 1 : 0, .detail = {}});
    }
    const bool is_owned = gang->workload != nullptr;
    if (attempt.is_stopping) {
        if (is_empty) return end(attempt, {.stop_asked = true, .detail = {}});
        const bool ends_soon = is_owned && gang->workload->has_its_last_pods;
        if (is_owned && !ends_soon && !gang->workload->is_suspended) suspend(attempt, *gang, true);
        return;
    }
    if (is_owned && gang->workload->is_suspended) {
        // By us, before this start; or by a user, whose pods are going and who brings them back.
        if (gang->is_paused() && is_empty) return suspend(attempt, *gang, false);
        if (is_empty) end(attempt, {.detail = "a user suspended it"});
        return;
    }
    if (is_owned && gang->workload->is_scaled_to_zero && gang->living() == 0) {
        attempt.lost_because = "it is scaled to zero";
        return end(attempt, {});
    }
    if (!gang->is_owned && is_empty && gang->waiting().empty()) {
        attempt.lost_because = "its pod cannot be bound any more";
        return end(attempt, {});
    }
    if (!are_pods_there(attempt, *gang)) return;
    std::string why_not = fill_places(attempt, *gang);
    if (!why_not.empty()) return give_back(attempt, std::move(why_not));
    note_bound(attempt);
}

void Binder::look_at_places(Attempt& attempt, const Gang& gang) {
    for (Place& place : attempt.places) {
        if (place.fill == Fill::Free) continue;
        const Pod* pod = living(gang, place.pod);
        const bool is_elsewhere = pod != nullptr && !pod->node->empty() && *pod->node != place.node;
        if (pod != nullptr && !is_elsewhere) {
            if (!pod->node->empty()) place.fill = Fill::Bound;
            continue;
        }
        attempt.has_failed |= has_failed(gang, place.pod);
        place.fill = Fill::Free;
        place.pod = {};
    }
}

// A gang that was resumed gets its pods one by one: nothing of it is bound before the last is
// there.
bool Binder::are_pods_there(Attempt& attempt, const Gang& gang) {
    const int there = gang.placeable();
    if (there > attempt.pods_there) attempt.came = timers_.now();
    attempt.pods_there = there;
    return attempt.has_run || !attempt.is_empty() || there >= std::ssize(attempt.places);
}

// Why it cannot be; empty: as many places are filled as there are pods.
std::string Binder::fill_places(Attempt& attempt, const Gang& gang) {
    std::set<Uid> placed;
    for (const Place& place : attempt.places) placed.insert(place.pod);
    const auto is_free = [](const Place& place) { return place.fill == Fill::Free; };
    auto first = std::ranges::find_if(attempt.places, is_free);
    base::Result<model::JobSpec> asks;
    const Pod* before = nullptr;
    for (const Pod* pod : gang.waiting()) {
        if (placed.contains(pod->meta.uid)) continue;
        first = std::find_if(first, attempt.places.end(), is_free);
        if (first == attempt.places.end()) break;
        if (before == nullptr || before->ask != pod->ask) asks = cluster::spec_of(*pod->ask);
        before = pod;
        const auto place = std::find_if(first, attempt.places.end(), [&](const Place& each) {
            return is_free(each) && asks &&
                   is_for_(attempt.id.job, each.task, *asks, cluster::Sizes::Same);
        });
        if (place == attempt.places.end()) return "its pods have other requests now";
        std::string why_not = why_not_(*asks, place->node);
        if (!why_not.empty()) return why_not;
        place->pod = pod->meta.uid;
        place->fill = Fill::Sent;
        send_bind(attempt, *place);
    }
    return {};
}

void Binder::note_bound(Attempt& attempt) {
    const auto bound =
        static_cast<int>(std::ranges::count(attempt.places, Fill::Bound, &Place::fill));
    const bool is_whole = bound == std::ssize(attempt.places);
    attempt.has_run |= is_whole;
    if (bound == 0 || attempt.has_run) {
        attempt.partly_since.reset();
    } else if (!attempt.partly_since || bound > attempt.bound) {
        attempt.partly_since = timers_.now();
    }
    attempt.bound = bound;
    if (!is_whole || std::exchange(attempt.is_reported_running, true)) return;
    listener_->on_running(attempt.id);
}

void Binder::look_at_starts() {
    std::vector<model::JobId> late;
    std::vector<model::JobId> empty;
    bool is_any_begun = false;
    for (auto& [job, attempt] : attempts_) {
        if (attempt.is_reported_running || attempt.is_stopping) continue;
        is_any_begun = true;
        if (attempt.partly_since && timers_.now() - *attempt.partly_since >= kPartlyBoundMost) {
            late.push_back(job);
        } else if (attempt.is_empty() && timers_.now() - attempt.came >= kPodsWithin) {
            empty.push_back(job);
        }
    }
    for (const model::JobId job : late)
        give_back(attempts_.at(job), "only some of its pods could be bound");
    // When its pods come it is handed in again.
    for (const model::JobId job : empty)
        end(attempts_.at(job), {.detail = "its pods were not created in time"});
    if (is_any_begun) starts_.start(kStartsLook, [this] { look_at_starts(); });
}

// --- binds

void Binder::send_bind(const Attempt& attempt, const Place& place) {
    const client::PodName name = name_of(attempt.id, place.pod);
    if (name.name.empty()) return;  // gone; the place is free with the next look at it
    requests_.send(client::bind(name, place.node, {}),
                   [this, here = std::weak_ptr(is_here_), id = attempt.id,
                    pod = place.pod](const Outcome& outcome) {
                       if (!here.expired()) take_bind(id, pod, outcome);
                   });
}

void Binder::take_bind(ports::AttemptId id, Uid pod, const Outcome& outcome) {
    Place* place = place_of(id, pod);
    if (place == nullptr) return;
    Attempt& attempt = *find(id);
    switch (outcome.kind) {
        case Outcome::Kind::Done:
            ++counts_.bound;
            place->fill = Fill::Bound;
            return note_bound(attempt);
        case Outcome::Kind::NotSent:
            return bind_later(id, pod, outcome.retry_after.value_or(kBindAgain));
        case Outcome::Kind::Unknown: ++counts_.unknown; return ask_bind(id, pod);
        case Outcome::Kind::Refused: break;
    }
    if (outcome.code == 429) return bind_later(id, pod, outcome.retry_after.value_or(kBindAgain));
    ++counts_.refused;
    // Bound by a request of ours whose answer was lost, or by another program, or another pod now.
    if (outcome.code == 409 || outcome.code == 404) return ask_bind(id, pod);
    place->fill = Fill::Free;
    place->pod = {};
    give_back(attempt, "the API server refused to bind it: " + outcome.message);
}

void Binder::ask_bind(ports::AttemptId id, Uid pod) {
    const Place* place = place_of(id, pod);
    if (place == nullptr) return;
    const client::PodName name = name_of(id, pod);
    if (name.name.empty()) return;
    requests_.send(client::read_pod(name), [this, here = std::weak_ptr(is_here_), id, pod, name,
                                            node = place->node](const Outcome& outcome) {
        if (here.expired()) return;
        take_fate(id, pod, client::read_bind(outcome, name, node));
    });
}

void Binder::take_fate(ports::AttemptId id, Uid pod, BindFate fate) {
    Place* place = place_of(id, pod);
    if (place == nullptr) return;
    switch (fate) {
        case BindFate::Bound:
            ++counts_.bound;
            place->fill = Fill::Bound;
            return note_bound(*find(id));
        case BindFate::NotBound: return bind_later(id, pod, kBindAgain);
        case BindFate::Unclear: return later(kBindAgain, [this, id, pod] { ask_bind(id, pod); });
        case BindFate::Elsewhere:
        case BindFate::Gone:
            // The watch tells who is there instead.
            place->fill = Fill::Free;
            place->pod = {};
            return;
    }
}

void Binder::bind_later(ports::AttemptId id, Uid pod, base::Duration wait) {
    later(wait, [this, id, pod] {
        const Place* place = place_of(id, pod);
        const Attempt* attempt = find(id);
        if (place == nullptr || place->fill != Fill::Sent || attempt->is_stopping) return;
        send_bind(*attempt, *place);
    });
}

// --- giving back

// Nothing of it is kept: what is bound of it leaves, and the core decides anew.
void Binder::give_back(Attempt& attempt, std::string why) {
    if (attempt.is_stopping) return;
    ++counts_.given_back;
    attempt.is_stopping = true;
    attempt.lost_because = std::move(why);
    const Gang* gang = gang_of_(attempt.id.job);
    if (gang != nullptr && !gang->is_owned) remove_pods(attempt, {});
    review(attempt);
}

void Binder::remove_pods(const Attempt& attempt, std::optional<std::int64_t> grace_s) {
    for (const Place& place : attempt.places) {
        if (place.fill != Fill::Free) remove_pod(attempt.id, place.pod, grace_s);
    }
}

// Again until it is done: of many some wait in line for longer than a request may.
void Binder::remove_pod(ports::AttemptId id, Uid pod, std::optional<std::int64_t> grace_s) {
    const client::PodName name = name_of(id, pod);
    if (name.name.empty() || place_of(id, pod) == nullptr) return;  // the watch says so
    requests_.send(client::remove_pod(name, "", grace_s),
                   [this, here = std::weak_ptr(is_here_), id, pod, grace_s](const Outcome& got) {
                       if (here.expired() || is_over(got)) return;
                       later(got.retry_after.value_or(kBindAgain),
                             [this, id, pod, grace_s] { remove_pod(id, pod, grace_s); });
                   });
}

void Binder::suspend(Attempt& attempt, const Gang& gang, bool is_suspended) {
    if (std::exchange(attempt.is_patching, true)) return;
    const std::string fields =
        std::string(R"({"spec":{"suspend":)") + (is_suspended ? "true" : "false") + "}}";
    const auto done = [this, here = std::weak_ptr(is_here_), id = attempt.id,
                       is_suspended](const Outcome& got) {
        if (here.expired()) return;
        if (Attempt* mine = find(id); mine != nullptr && got.is_done() && is_suspended)
            end_pods(*mine);
        // What is said of the Job now comes with the watch; a patch of an older one is made again.
        later(got.is_done() ? base::Duration{0} : got.retry_after.value_or(kBindAgain),
              [this, id, is_done = got.is_done()] {
                  Attempt* mine = find(id);
                  if (mine == nullptr) return;
                  mine->is_patching = false;
                  if (!is_done) review(*mine);
              });
    };
    requests_.send(client::merge_patch(name_of_workload(*gang.workload), fields,
                                       notes_of_(attempt.id.job, is_suspended)),
                   done);
}

// The Job controller takes its finalizer off the pods of a suspended Job, so that their end counts
// as nothing, and deletes them: two of its 20 requests a second for each. Of many victims we do it
// ourselves.
void Binder::end_pods(const Attempt& attempt) {
    const auto stopping =
        std::ranges::count_if(attempts_, [](const auto& each) { return each.second.is_stopping; });
    const Gang* gang = gang_of_(attempt.id.job);
    const bool is_job = gang != nullptr && gang->workload != nullptr &&
                        gang->workload->kind == objects::WorkloadKind::Job;
    if (stopping <= kFewVictims || !is_job) return;
    for (const Place& place : attempt.places) {
        if (place.fill != Fill::Free) end_pod(attempt.id, place.pod);
    }
}

void Binder::end_pod(ports::AttemptId id, Uid pod) {
    const client::PodName name = name_of(id, pod);
    if (name.name.empty() || place_of(id, pod) == nullptr) return;  // the watch says so
    requests_.send(client::take_finalizer(name, kJobFinalizer),
                   [this, here = std::weak_ptr(is_here_), id, pod](const Outcome& got) {
                       if (here.expired()) return;
                       if (got.is_done()) return remove_pod(id, pod, {});
                       if (is_over(got)) return;
                       later(got.retry_after.value_or(kBindAgain),
                             [this, id, pod] { end_pod(id, pod); });
                   });
}

void Binder::end(const Attempt& attempt, const ports::AttemptExit& exit) {
    const ports::AttemptId id = attempt.id;
    const std::string lost = attempt.lost_because;
    attempts_.erase(id.job);
    if (lost.empty()) return listener_->on_exit(id, exit);
    listener_->on_lost(id, lost);
}

// --- the small things

Binder::Attempt* Binder::find(ports::AttemptId id) {
    const auto found = attempts_.find(id.job);
    const bool is_it = found != attempts_.end() && found->second.id == id;
    return is_it ? &found->second : nullptr;
}

// Null when it has none any more.
Binder::Place* Binder::place_of(ports::AttemptId id, Uid pod) {
    Attempt* attempt = find(id);
    if (attempt == nullptr) return nullptr;
    const auto found = std::ranges::find(attempt->places, pod, &Place::pod);
    return found == attempt->places.end() ? nullptr : &*found;
}

client::PodName Binder::name_of(ports::AttemptId id, Uid pod) const {
    client::PodName name{{}, {}, objects::format(pod)};
    const Gang* gang = gang_of_(id.job);
    const auto found = gang == nullptr ? decltype(gang->pods.end()){} : gang->pods.find(pod);
    if (gang == nullptr || found == gang->pods.end()) return name;
    name.name_space = *found->second->meta.name_space;
    name.name = found->second->meta.name;
    return name;
}

void Binder::later(base::Duration wait, std::function<void()> then) {
    timers_.start(wait, [here = std::weak_ptr(is_here_), then = std::move(then)] {
        if (!here.expired()) then();
    });
}

}  // namespace berth::kube::scheduler
