// SPDX-License-Identifier: Apache-2.0
#include "lifecycle/apply.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/check.h"
#include "base/gpu_time.h"
#include "cluster/gang.h"
#include "lifecycle/charging.h"
#include "lifecycle/check.h"
#include "lifecycle/idle/idle_rule.h"
#include "lifecycle/losses.h"
#include "lifecycle/parts.h"

namespace berth::lifecycle {
namespace {

using model::JobRecord;
using model::JobState;
using model::TaskPlacement;

std::vector<int> ranks_of(const std::vector<TaskPlacement>& tasks) {
    std::vector<int> ranks;
    for (const TaskPlacement& task : tasks) ranks.push_back(task.task);
    return ranks;
}

// Where it is paused by the order of its project: what that knew of both.
std::optional<model::OrderReceipt> receipt_of_order(const State& state,
                                                    const model::PauseRequested& request) {
    const cluster::Job* other = state.cluster.find_job(request.beneficiary);
    if (request.rule != model::Rule::Preempt || other == nullptr) return {};
    const cluster::Job& job = state.cluster.job(request.job);
    const bool is_by_rank = other->project == job.project && other->preemptible &&
                            job.preemptible && other->priority == job.priority;
    if (!is_by_rank) return {};
    const auto receipt = cluster::order_receipt(state.cluster, job.id, other->id);
    if (receipt.by == model::JobOrder::Age) return {};
    return receipt;
}

std::vector<int> active_ranks(const JobRecord& record) {
    std::vector<int> ranks = ranks_of(record.tasks);
    std::erase_if(ranks, [&](int rank) {
        return std::ranges::find(record.releasing, rank) != record.releasing.end();
    });
    return ranks;
}

std::int64_t milli_gpus(const std::vector<TaskPlacement>& tasks) {
    std::int64_t milli = 0;
    for (const TaskPlacement& task : tasks) milli += task.gpus().value;
    return milli;
}

void note_staleness(State& state, JobRecord& record, model::TimePoint now) {
    const bool is_stale = state.cluster.job(record.id).is_short();
    if (is_stale == record.stale_since.has_value()) return;
    record.stale_since = is_stale ? std::optional(now) : std::nullopt;
    std::map<model::JobId, cluster::Stale>& stale = state.cluster.history().stale;
    stale.erase(record.id);
    if (is_stale) stale[record.id] = {now, record.spec.stale_grace};
}

// Folds events one by one; every method is the meaning of one event.
class Fold {
  public:
    Fold(State& state, const model::Event& event) : state_(state), event_(event) {}

    void operator()(const model::LevelsSet& set) { state_.cluster.set_levels(set.levels); }
    void operator()(const model::PoolSet& set) { state_.cluster.set_pool(set.pool); }
    void operator()(const model::PoolRemoved& removed) {
        state_.cluster.remove_pool(state_.cluster.find_pool(removed.pool));
    }
    void operator()(const model::NodeSet& set) { state_.cluster.set_node(set.node); }
    void operator()(const model::NodeUsedByOthers& used) {
        state_.cluster.set_others(state_.cluster.find_node(used.node), used.use);
    }
    void operator()(const model::NodeMoved& moved) {
        cluster::move_node(state_.cluster, {moved.node, moved.pool, moved.replaces});
    }
    void operator()(const model::ProjectSet& set) { state_.cluster.set_project(set.project); }

    void operator()(const model::ProjectRemoved& removed) {
        state_.cluster.remove_project(state_.cluster.find_project(removed.project));
    }
    void operator()(const model::PolicySet& set) {
        state_.policy = model::merged(state_.policy, set.settings);
        order_by(set.order);
    }

    void operator()(const model::LogBegun& begun) {
        state_.incarnations.push_back(begun.incarnation);
        state_.last_job = std::max(state_.last_job, begun.last_job);
        order_by(begun.order);
    }

    void operator()(const model::JobSubmitted& submitted) {
        model::JobSpec spec = submitted.spec;
        spec.packed.reset();  // its profile says
        state_.cluster.add_job(submitted.job, spec, event_.time,
                               {submitted.user, submitted.command});
        state_.last_job = std::max(state_.last_job, submitted.job);
        JobRecord& record = state_.jobs.emplace(submitted.job, {});
        record_ = &record;
        record.id = submitted.job;
        record.spec = std::move(spec);
        record.user = submitted.user;
        record.command = submitted.command;
        record.created = record.waiting_since = event_.time;
        if (!record.spec.may_share) return;
        state_.sharing.insert(record.id);
        pack(record);
    }

    void operator()(const model::JobStarting& starting) {
        JobRecord& record = settle(starting.job);
        const bool grows = !record.tasks.empty();
        unreserve(record);
        state_.cluster.place(starting.job, pool_of(starting.job, starting.tasks), starting.tasks);
        record.tasks.insert(record.tasks.end(), starting.tasks.begin(), starting.tasks.end());
        count_use(record, starting.tasks, +1);
        begin_attempt(record, starting.attempt);
        state_.cluster.set_pinned(starting.job, {});  // placed there, or its processes are lost
        // Its processes go on until they have saved and stopped.
        if (record.is_resizing()) return;
        record.state = JobState::Starting;
        if (grows) return;  // what its other tasks have not saved is as old as before
        note_start(record);
    }

    void operator()(const model::JobResized& resized) {
        JobRecord& record = settle(resized.job);
        free_releasing(record, resized.saved);
        record.frozen.clear();
        record.lost_gpu_ms += resized.lost_gpu_ms;
        begin_attempt(record, resized.attempt);
        record.state = JobState::Starting;
        note_start(record);
    }

    void operator()(const model::JobSizeSet& set) {
        JobRecord& record = settle(set.job);
        unreserve(record);
        count_use(record, record.tasks, -1);
        state_.cluster.vacate(set.job, set.ended);
        const bool has_place = state_.cluster.job(set.job).active > 0;
        // It goes on without those that have ended.
        const int needed = record.spec.tasks_min - static_cast<int>(set.ended.size());
        const int least = has_place ? std::clamp(needed, 1, set.tasks) : set.tasks;
        set_size(record, least, set.tasks);
        record.tasks.clear();
        for (const cluster::PlacedTask& task : state_.cluster.job(set.job).placed) {
            record.tasks.push_back(task.place);
        }
        record.started_tasks =
            std::min(record.started_tasks, static_cast<int>(record.tasks.size()));
        count_use(record, record.tasks, +1);
    }

    void operator()(const model::JobRequestSet& set) {
        JobRecord& record = settle(set.job);
        record.next_request = set.request;
        if (!set.requeue || record.tasks.empty()) take_next_request(record);
    }

    void operator()(const model::JobRunning& running) {
        JobRecord& record = settle(running.job);
        record.state = JobState::Running;
        record.frozen.clear();
        if (running.pause_way.rung == model::PauseRung::Unknown) return;
        record.pause_way = running.pause_way;
    }

    void operator()(const model::JobReserved& reserved) {
        JobRecord& record = settle(reserved.job);
        state_.cluster.reserve(reserved.job, pool_of(reserved.job, reserved.tasks), reserved.tasks,
                               reserved.deadline, reserved.rule);
        record.reserved = reserved.tasks;
        record.hold_deadline = reserved.deadline;
        record.hold_rule = reserved.rule;
    }

    void operator()(const model::ReservationDropped& dropped) { unreserve(settle(dropped.job)); }

    void operator()(const model::PauseRequested& request) {
        JobRecord& record = settle(request.job);
        const std::vector<int> ranks = request.whole_job ? active_ranks(record) : request.tasks;
        const auto order = receipt_of_order(state_, request);
        state_.cluster.release(request.job, ranks);
        for (const int rank : ranks) record.releasing.push_back(rank);
        if (request.whole_job) record.state = JobState::Pausing;
        unreserve(record);  // no job grows while it is asked to leave
        record.last_pause = model::PauseReceipt{.time = event_.time,
                                                .rule = request.rule,
                                                .beneficiary = request.beneficiary,
                                                .actor = event_.actor,
                                                .cost = request.cost,
                                                .deadline = request.deadline,
                                                .stopped = {},
                                                .is_wasteful = request.is_wasteful,
                                                .order = order};
        state_.cluster.set_paused(request.job, event_.time);
        if (request.is_wasteful) {
            charge_waste(pool_of(record.id, record.tasks), event_.time,
                         request.cost.unsaved_gpu_ms);
        }
    }

    void operator()(const model::JobParked& parked) {
        JobRecord& record = settle(parked.job);
        unreserve(record);
        record.last_pause = model::PauseReceipt{.time = event_.time,
                                                .rule = model::Rule::Park,
                                                .beneficiary = {},
                                                .actor = event_.actor,
                                                .cost = {},
                                                .deadline = event_.time,
                                                .stopped = event_.time,
                                                .saved = true,
                                                .frozen = parked.frozen};
        state_.cluster.set_paused(parked.job, event_.time);
        record.frozen = record.tasks;
        leave_gpus(record);
        stay_where_frozen(state_, record);
        record.parked_since = event_.time;
        leave_or_join_line(record);
        record.state = JobState::Paused;
        ++record.pauses;
        wait_from_now(record);
    }

    void operator()(const model::JobWoken& woken) {
        JobRecord& record = settle(woken.job);
        record.parked_since.reset();
        leave_or_join_line(record);
        wait_from_now(record);
    }

    void operator()(const model::JobPaused& paused) {
        JobRecord& record = settle(paused.job);
        if (paused.saved) record.losses = losses_in_a_row(record, event_.time);
        record.frozen = paused.frozen ? record.tasks : std::vector<TaskPlacement>{};
        free_releasing(record, paused.saved);
        if (record.last_pause) {
            record.last_pause->frozen = paused.frozen;
            record.last_pause->detail = paused.detail;
            if (!paused.saved) record.lost_gpu_ms += record.last_pause->cost.unsaved_gpu_ms;
        }
        stay_where_frozen(state_, record);
        if (!record.tasks.empty()) return;
        record.state = JobState::Paused;
        record.started_tasks = 0;
        ++record.pauses;
        start_whole(record);
        if (record.frozen.empty()) take_next_request(record);
        wait_from_now(record);
        pack(record);
    }

    void operator()(const model::JobHeld& held) {
        JobRecord& record = settle(held.job);
        record.held = true;
        unreserve(record);  // a promise to a job that may not run keeps GPUs idle
        leave_or_join_line(record);
    }

    void operator()(const model::JobReleased& released) {
        JobRecord& record = settle(released.job);
        record.held = false;
        wait_from_now(record);
        leave_or_join_line(record);
    }

    void operator()(const model::CheckpointSaved& saved) {
        JobRecord& record = settle(saved.job);
        record.last_checkpoint = event_.time;
        record.losses = 0;
        state_.cluster.set_saved(saved.job, event_.time, record.saves_when_asked);
    }

    void operator()(const model::CancelRequested& cancel) {
        JobRecord& record = settle(cancel.job);
        state_.cluster.set_may_run(cancel.job, false);
        const std::vector<int> ranks = active_ranks(record);
        state_.cluster.release(cancel.job, ranks);
        for (const int rank : ranks) record.releasing.push_back(rank);
        unreserve(record);
        record.state = JobState::Cancelling;
        record.ended_for = cancel.reason;
    }

    void operator()(const model::JobFinished& finished) {
        JobRecord& record = settle(finished.job, finished.ended.value_or(event_.time));
        hold_nothing(record);
        record.frozen.clear();
        record.state = finished.state;
        record.exit_code = finished.exit_code;
        record.detail = finished.detail;
        record.finished = record.settled;
        state_.cluster.remove_job(finished.job);
        state_.sharing.erase(finished.job);
        ended_ = std::move(record);
        record_ = nullptr;
        state_.jobs.erase(finished.job);
    }

    void operator()(const model::AttemptLost& lost) {
        JobRecord& record = settle(lost.job);
        record.losses = losses_in_a_row(record, event_.time) + 1;
        leave_gpus(record);
        record.frozen.clear();
        if (std::exchange(record.parked_since, {})) leave_or_join_line(record);
        state_.cluster.set_pinned(lost.job, {});
        start_whole(record);
        take_next_request(record);
        record.state = JobState::Queued;
        record.detail = lost.detail;
        wait_from_now(record);
        pack(record);
    }

    void operator()(const model::JobMeasured& measured) {
        const JobRecord& like = settle(measured.job);
        state_.profiles.learn(like, measured.profile, event_.time);
        for (const model::JobId id : state_.sharing) {
            JobRecord& record = state_.jobs.at(id);
            if (Profiles::are_alike(record, like)) pack(record);
        }
    }

    // Jobs like it share no more either, once they have left their GPUs.
    void operator()(const model::JobsParted& parted) {
        JobRecord& record = settle(parted.job);
        record.is_parted = true;
        state_.profiles.part(record);
    }

    void operator()(const model::JobEscaped& seen) { settle(seen.job).escaped = seen.detail; }

    void operator()(const model::JobIdle& idle) { settle(idle.job).idle = idle.warning; }
    void operator()(const model::JobBusy& busy) { settle(busy.job).idle.reset(); }
    void operator()(const model::JobUsed& used) { settle(used.job); }
    void operator()(const model::JobKept& kept) {
        JobRecord& record = settle(kept.job);
        record.kept_until = kept.until;
        record.idle.reset();
    }

    std::optional<JobRecord>& ended() { return ended_; }

    // What is kept of every event about a job: which state it was in and is in, and since when it
    // runs with fewer tasks than its minimum (rule R10).
    void note_job() {
        if (before_) --state_.count(*before_);
        if (record_ == nullptr) return;
        ++state_.count(record_->state);
        if (record_->state != JobState::Running) record_->idle.reset();
        note_staleness(state_, *record_, event_.time);
        cluster::note_attained(state_.cluster, record_->id, record_->attained_gpu_ms,
                               record_->settled);
    }

  private:
    base::PoolId pool_of(model::JobId job, const std::vector<TaskPlacement>& tasks) const {
        return cluster::pool_of(state_.cluster, state_.cluster.job(job), tasks);
    }

    // Credits the service received since the job's last event, then hands out its record.
    JobRecord& settle(model::JobId job) { return settle(job, event_.time); }

    // The same, up to a time between that event and this one.
    JobRecord& settle(model::JobId job, base::TimePoint until) {
        JobRecord& record = state_.jobs.at(job);
        record_ = &record;
        before_ = record.state;
        until = std::min(std::max(until, record.settled), event_.time);
        record.attained_gpu_ms = attained_gpu_ms(record, until);
        record.settled = until;
        return record;
    }

    // It counts as what is known of it by now.
    void pack(JobRecord& record) {
        const auto change = change_of_part(state_, record);
        if (!change) return;
        record.attained_gpu_ms = attained_gpu_ms(record, event_.time);
        record.settled = event_.time;
        count_use(record, record.tasks, -1);
        lifecycle::pack(state_, record, *change);
        count_use(record, record.tasks, +1);
        cluster::note_attained(state_.cluster, record.id, record.attained_gpu_ms, record.settled);
    }

    void take_next_request(JobRecord& record) {
        if (!record.next_request) return;
        unreserve(record);
        count_use(record, record.tasks, -1);
        if (!record.submitted_request) record.submitted_request = record.spec.request;
        record.spec.request = *std::exchange(record.next_request, {});
        count_as_asked(state_, record);
        count_use(record, record.tasks, +1);
    }

    void leave_or_join_line(const JobRecord& record) {
        lifecycle::leave_or_join_line(state_, record);
    }

    void wait_from_now(JobRecord& record) {
        record.waiting_since = event_.time;
        state_.cluster.set_waiting(record.id, event_.time);
    }

    void unreserve(JobRecord& record) {
        if (state_.cluster.job(record.id).reservation) state_.cluster.drop_reservation(record.id);
        record.reserved.clear();
        record.hold_deadline.reset();
    }

    void set_size(JobRecord& record, int least, int most) {
        record.spec.tasks_min = least;
        record.spec.tasks_max = most;
        state_.cluster.set_size(record.id, least, most);
    }

    // Off its GPUs one that grows waits for all that it wants; one that moves, for what it had.
    void start_whole(JobRecord& record) {
        const model::JobSpec& spec = record.spec;
        const bool grows = spec.elastic == model::Elastic::Grow && record.reserved.empty();
        if (grows && spec.tasks_min < spec.tasks_max)
            set_size(record, spec.tasks_max, spec.tasks_max);
    }

    // The same again, where frozen processes go on.
    void begin_attempt(JobRecord& record, int attempt) const {
        if (record.attempts == attempt) return;
        record.attempts = attempt;
        record.escaped.clear();
        record.incarnation = static_cast<int>(state_.incarnations.size());
    }

    // It is started with the tasks it has now; its work so far is saved or lost.
    void note_start(JobRecord& record) {
        record.started_tasks = static_cast<int>(record.tasks.size());
        state_.cluster.set_started(record.id, event_.time);
        record.last_start = event_.time;
        record.last_checkpoint.reset();
        if (!record.first_start) record.first_start = event_.time;
    }

    // The tasks that were asked to leave are gone.
    void free_releasing(JobRecord& record, bool saved) {
        if (record.last_pause && !record.releasing.empty()) {
            if (saved) refund_waste(record);
            record.last_pause->stopped = event_.time;
            record.last_pause->saved = saved;
            set_saves_when_asked(state_, record, saved);
        }
        state_.cluster.vacate(record.id, record.releasing);
        count_use(record, record.tasks, -1);
        std::erase_if(record.tasks, [&](const TaskPlacement& task) {
            return std::ranges::find(record.releasing, task.task) != record.releasing.end();
        });
        record.releasing.clear();
        count_use(record, record.tasks, +1);
    }

    void order_by(const std::optional<model::OrderRules>& rules) {
        if (rules) cluster::keep_ranks(state_.cluster, *rules, event_.time);
    }

    // These tasks are its project's use of their pool from now on, or no more.
    void count_use(const JobRecord& record, const std::vector<TaskPlacement>& tasks, int sign) {
        if (tasks.empty()) return;
        const base::ProjectId project = state_.cluster.job(record.id).project;
        state_.cluster.history().pools[pool_of(record.id, tasks).index()].use_of(project).change(
            event_.time, base::MilliGpu{milli_gpus(tasks)} * sign);
    }

    void charge_waste(base::PoolId pool, model::TimePoint time, std::int64_t gpu_ms) {
        cluster::Waste& waste = state_.cluster.history().pools[pool.index()].waste;
        const std::int64_t day = day_of(time);
        if (waste.day != day) waste = {day, 0};
        waste.gpu_ms = std::max<std::int64_t>(waste.gpu_ms + gpu_ms, 0);
    }

    // What was foreseen to be lost was saved; on a later day nothing of it counts any more.
    void refund_waste(const JobRecord& record) {
        if (!record.last_pause || !record.last_pause->is_wasteful) return;
        const model::PauseReceipt& pause = *record.last_pause;
        if (day_of(pause.time) != day_of(event_.time)) return;
        charge_waste(pool_of(record.id, record.tasks), event_.time, -pause.cost.unsaved_gpu_ms);
    }

    // Whatever it held or was promised is free at once.
    void leave_gpus(JobRecord& record) {
        unreserve(record);
        state_.cluster.vacate(record.id, ranks_of(record.tasks));
        hold_nothing(record);
    }

    void hold_nothing(JobRecord& record) {
        count_use(record, record.tasks, -1);
        record.tasks.clear();
        record.releasing.clear();
        record.started_tasks = 0;
        record.reserved.clear();
        record.hold_deadline.reset();
    }

    State& state_;
    const model::Event& event_;
    JobRecord* record_ = nullptr;  // of the job that the event is about, unless it has ended
    std::optional<JobState> before_;
    std::optional<JobRecord> ended_;
};

}  // namespace

std::int64_t attained_gpu_ms(const JobRecord& record, model::TimePoint now) {
    const auto since = std::max(now - record.settled, model::Duration{0});
    return record.attained_gpu_ms + base::gpu_ms({milli_gpus(record.tasks)}, since);
}

void fill_in(model::JobSpec& spec, const model::Policy& policy) {
    const bool is_session = spec.kind == model::JobKind::Build && is_parkable(spec);
    if (is_session && !spec.park_after) spec.park_after = policy.park_after;
}

void leave_or_join_line(State& state, const JobRecord& record) {
    const bool is_stopped = record.held || record.state == JobState::Cancelling;
    const bool is_parked = record.parked_since.has_value();
    state.cluster.set_may_run(record.id, !is_stopped && !is_parked, !is_stopped && is_parked);
}

void set_saves_when_asked(State& state, JobRecord& record, bool saves) {
    record.saves_when_asked = saves;
    state.cluster.set_saved(record.id, state.cluster.job(record.id).last_saved, saves);
}

void stay_where_frozen(State& state, const JobRecord& record) {
    if (record.frozen.empty() || !record.tasks.empty()) return;
    base::Bytes memory{0};
    for (const TaskPlacement& task : record.frozen) memory += task.memory;
    if (record.last_pause && record.last_pause->frozen)
        memory += std::max(record.last_pause->frozen->gpu_memory, base::Bytes{0});
    const int tasks = state.cluster.job(record.id).tasks_among(record.frozen);
    const base::NodeId node = record.frozen.front().node;
    state.cluster.set_pinned(record.id,
                             cluster::Pinned::on(node, memory, static_cast<std::size_t>(tasks)));
}

std::int64_t day_of(model::TimePoint time) {
    return std::chrono::floor<std::chrono::days>(time).time_since_epoch().count();
}

std::optional<JobRecord> apply(State& state, const model::Event& event) {
    auto ended = try_apply(state, event);
    BERTH_CHECK(ended.has_value(), "only possible events reach the log");
    return std::move(*ended);
}

base::Result<std::optional<JobRecord>> try_apply(State& state, const model::Event& event) {
    BERTH_TRY_VOID(check_limits(state, event.body));
    return replay(state, event);
}

base::Result<std::optional<JobRecord>> replay(State& state, const model::Event& event) {
    BERTH_TRY_VOID(check_possible(state, event.body));
    cluster::keep_ranks(state.cluster, event.time);
    state.ledger.advance(event.time);
    const base::ShapeId before = shape_before(state, event.body);
    Fold fold(state, event);
    std::visit(fold, event.body);
    fold.note_job();
    charge(state, event, before, fold.ended() ? &*fold.ended() : nullptr);
    state.sequence = event.sequence;
    state.time = std::max(state.time, event.time);
    return std::move(fold.ended());
}

std::string_view name(JobState state) {
    return model::kJobStateNames[static_cast<std::size_t>(state)];
}

}  // namespace berth::lifecycle
