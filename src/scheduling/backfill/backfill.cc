// SPDX-License-Identifier: Apache-2.0
#include "scheduling/backfill/backfill.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <utility>

#include "scheduling/order/queue_order.h"
#include "scheduling/place/companions.h"
#include "scheduling/rights/minimum_run.h"
#include "scheduling/rights/quota_gate.h"

namespace berth::scheduling {
namespace {

using cluster::Job;
using model::Duration;
using model::TaskPlacement;

// GPUs are kept, not what a task takes beside them.
constexpr ShapeId kNoShape;

void write_down(model::BackfillReservation& reservation, const PoolView& view, const Job& job,
                std::span<const TaskWindow> windows) {
    reservation.job = job.id;
    reservation.start = view.now;
    reservation.unknown = 0;
    reservation.tasks.clear();
    for (const TaskWindow& window : windows) {
        reservation.start = std::max(reservation.start, window.expected);
        reservation.unknown += window.unknown;
        const int rank = static_cast<int>(reservation.tasks.size());
        reservation.tasks.push_back({rank, window.node, window.mask, base::kWholeGpu, {}, {}});
    }
}

// A job that has run since `start` without a declared run time is expected to run as long again:
// from when on to this time or longer?
TimePoint expected_to_last(TimePoint start, TimePoint until) {
    const Duration run = until - start;
    return std::min(until - kShortestRun, start + (run + run % Duration{2}) / 2);
}

// When one of those who wait, or run and wait for more, would be gone, as declared, before a job
// that has not declared its end is expected to be: that expectation grows as it runs. A job that
// has the CPU beside idle GPUs is always expected to have it for kShortestRun. Jobs that could use
// what is kept idle; where nothing is, those of its project, which leave it its share.
std::optional<TimePoint> first_to_end_before(const PoolView& view,
                                             const model::BackfillReservation& reservation,
                                             bool keeps_gpus) {
    const cluster::Claim& own_claim = view.claim(view.cluster.job(reservation.job).project);
    std::optional<TimePoint> oldest;
    for (const TaskPlacement& window : reservation.tasks) {
        for (const JobId id : view.cluster.jobs_on(window.node)) {
            const Job& job = view.cluster.job(id);
            const bool is_in_the_way =
                std::ranges::any_of(job.placed, [&](const cluster::PlacedTask& task) {
                    return task.place.node == window.node &&
                           (task.place.gpu_mask & window.gpu_mask) != 0 && !task.is_releasing;
                });
            if (!is_in_the_way || end_of(run_of(job), view.now).is_declared) continue;
            oldest = std::min(oldest.value_or(job.last_start), job.last_start);
        }
    }
    if (reservation.unknown == 0) return {};
    std::optional<TimePoint> first;
    const auto consider = [&](TimePoint time) {
        if (time > view.now) first = std::min(first.value_or(time), time);
    };
    for (const cluster::Claim& claim : view.cluster.pool(view.pool).claims) {
        if (!keeps_gpus && &claim != &own_claim) continue;
        for (const auto& [key, job_class] : claim.queue) {
            const Duration run{std::int64_t{key.minutes} * 60'000};
            if (key.minutes == 0) continue;
            if (key.gang_phase == 0) {
                if (oldest) consider(*oldest + run);
                continue;
            }
            for (const auto& [created, job] : job_class) {
                const TimePoint end = view.cluster.job(job).last_start + run;
                consider(oldest ? expected_to_last(*oldest, end) : end - kShortestRun);
            }
        }
    }
    return first;
}

// Whether its companions have no room when it stands there. When CPU and memory of a node come free
// is not looked for: they need them now.
bool lack_companions_room(const PoolView& view, const Job& job,
                          std::span<const TaskWindow> windows) {
    Places beside;
    for (const TaskWindow& window : windows) {
        beside.push_back(view.cluster.task_on(job.shape, window.node, window.mask));
        beside.back().gpu_mask = 0;  // which others may use yet
    }
    return add_companions(view, job, View::Coming, beside).has_value();
}

MilliGpu gpus_of(std::span<const TaskPlacement> tasks) {
    MilliGpu sum{0};
    for (const TaskPlacement& task : tasks) sum += task.gpus();
    return sum;
}

int gpus_on(std::span<const TaskPlacement> tasks, NodeId node) {
    int gpus = 0;
    for (const TaskPlacement& task : tasks) {
        if (task.node == node) gpus += std::popcount(task.gpu_mask);
    }
    return gpus;
}

// Started, or promised its GPUs.
bool is_served(const Job& job) { return job.active > 0 || !job.is_waiting(); }

// What a project has to so much more.
enum class Right { None, FairShare, Quota };

Right right_to(const PoolView& view, ProjectId project, MilliGpu amount) {
    const MilliGpu in_use = view.allocated(project) + amount;
    if (in_use <= view.quota(project)) return Right::Quota;
    return in_use <= view.shares.fair[project.index()] ? Right::FairShare : Right::None;
}

// Whom rule R2 serves first, as they stand.
bool is_served_before(const PoolView& view, ProjectId project, ProjectId other) {
    return is_before(service_key(view, parting(view, project, other), {}),
                     service_key(view, parting(view, other, project), {}));
}

// Which GPUs of a domain come free together is not looked for: gangs that have to stand in one, as
// a whole or by groups, reserve none. Nor do those of two GPU requests.
bool is_gang(const cluster::Cluster& cluster, const cluster::JobClassKey& key) {
    if (key.gang_phase != 0 || key.preference != 0) return false;
    const cluster::Shape& shape = cluster.shape(key.shape);
    const bool is_bound = shape.required >= 0 || !shape.groups.empty() ||
                          cluster::has_two_gpu_requests(cluster, shape);
    return shape.request.is_whole() && shape.request.gpus * key.ask > 1 && !is_bound;
}

// Of those of one project that ranks tell apart; not valid when none waits.
JobId first_by_rank(const cluster::Claim& claim) {
    const cluster::JobClassKey* best = nullptr;
    std::pair<TimePoint, JobId> first;
    for (const auto& [key, job_class] : claim.queue) {
        if (!key.preemptible) continue;
        if (best && (key.priority_key != best->priority_key || key.gang_phase != best->gang_phase))
            break;
        first = best ? std::min(first, *job_class.begin()) : *job_class.begin();
        best = &key;
    }
    return first.second;
}

// One that runs in its own project can be paused for it: where ranks tell jobs apart, it is
// by those that it is decided who has the GPUs.
bool gives_way(const PoolView& view, const Job& job, const Job& entry) {
    return job.preemptible && job.project == entry.project && has_ranks(view.cluster, job.project);
}

// Whether an older one of its project asks as much and waits behind it. It could have the GPUs, and
// would be paused for this one.
bool stands_for_older(const PoolView& view, const Job& job, const Job& entry) {
    if (!job.preemptible) return false;
    const MilliGpu amount = ask_gpus(view, job, job.ask());
    const int gpus = view.cluster.shape(job.shape).request.gpus;
    return std::ranges::any_of(view.claim(job.project).queue, [&](const auto& job_class) {
        const auto& [key, jobs] = job_class;
        const bool asks_as_much =
            ask_gpus(view, key) == amount && view.cluster.shape(key.shape).request.gpus >= gpus;
        const bool is_behind = key.priority_key < job.queue_priority() && key.gang_phase == 0;
        return asks_as_much && key.preemptible && is_behind && *jobs.begin() < came(entry);
    });
}

}  // namespace

// And when the next one may.
void Backfill::find_longest_waiting() {
    const PoolView& view = *view_;
    waiting_.clear();
    const auto& claims = view.cluster.pool(view.pool).claims;
    for (std::size_t at = 0; at < claims.size(); ++at) {
        const cluster::Claim& claim = claims[at];
        const bool by_rank = has_ranks(view.cluster, {static_cast<ProjectId::Rep>(at)});
        std::optional<JobId> first;  // once it is asked for: most projects have no gang that waits
        for (const auto& [key, job_class] : claim.queue) {
            if (!is_gang(view.cluster, key)) continue;
            if (by_rank && key.preemptible) {
                if (!first) first = first_by_rank(claim);
                if (job_class.begin()->second != *first) continue;
            }
            const Job& job = view.cluster.job(job_class.begin()->second);
            const TimePoint ripe = job.waiting_since + view.policy.backfill_after;
            ripe <= view.now ? waiting_.push_back(&job) : change_at(ripe);
        }
    }
    std::ranges::sort(waiting_, {}, [](const Job* job) { return came(*job); });
}

Backfill::Entry& Backfill::add() {
    if (count_ == entries_.size()) entries_.emplace_back();
    return entries_[count_++];
}

void Backfill::make(const PoolView& view, NodeWindows& windows) {
    view_ = &view;
    count_ = 0;
    widest_mark_.reset();
    next_change_ = {};
    if (view.policy.backfill_max == 0) return;
    where_.open(view, windows);
    find_longest_waiting();
    base::SmallVector<TaskPlacement, 32> reserved;
    for (const Job* job : waiting_) {
        if (std::cmp_equal(count_, view.policy.backfill_max)) break;
        if (quota_gate(view, *job, ask_gpus(view, *job, job->ask()))) continue;
        const std::span<const TaskWindow> found = where_.best_for(*job, reserved);
        if (found.empty()) continue;
        if (lacks_companions(*job) && lack_companions_room(view, *job, found)) continue;
        model::BackfillReservation& reservation = add().reservation;
        write_down(reservation, view, *job, found);
        reserved.insert(reserved.end(), reservation.tasks.begin(), reservation.tasks.end());
    }
    for (Entry& entry : std::span(entries_).first(count_)) {
        keep(entry);
        const auto change = first_to_end_before(view, entry.reservation, !entry.taken.empty());
        if (change) change_at(*change);
    }
    if (const auto end = where_.next_end()) change_at(*end);
}

void Backfill::change_at(TimePoint time) {
    next_change_ = std::min(next_change_.value_or(time), time);
}

void Backfill::keep_again(const PoolView& view) {
    view_ = &view;
    for (Entry& entry : std::span(entries_).first(count_)) keep(entry);
}

void Backfill::take_over(const PoolView& view, std::span<const model::BackfillReservation> made) {
    view_ = &view;
    count_ = 0;
    widest_mark_.reset();
    for (const model::BackfillReservation& reservation : made) {
        if (view.cluster.nodes()[reservation.tasks.front().node.index()].pool != view.pool)
            continue;
        Entry& entry = add();
        entry.reservation = reservation;
        keep(entry);
    }
}

// Takes the unused ones of the reserved GPUs.
void Backfill::keep(Entry& entry) {
    entry.taken.clear();
    const Job& job = view_->cluster.job(entry.reservation.job);
    if (is_served(job)) return;
    for (TaskPlacement task : entry.reservation.tasks) {
        const auto& whole = view_->cluster.nodes()[task.node.index()].whole;
        task.gpu_mask &= whole[static_cast<std::size_t>(View::Coming)];
        if (task.gpu_mask == 0) continue;
        view_->cluster.take(View::Coming, kNoShape, task);
        entry.taken.push_back(task);
    }
}

std::vector<model::BackfillReservation> Backfill::still_waiting(
    std::vector<model::BackfillReservation> before) const {
    const std::size_t size = before.size() + count_;
    for (const Entry& entry : entries()) {
        if (is_served(view_->cluster.job(entry.reservation.job))) continue;
        // One that could have started now, and whose GPUs others with more right have taken.
        if (entry.reservation.start <= view_->now && entry.taken.empty()) continue;
        before.reserve(size);  // at once, where there is one
        const model::BackfillReservation& made = entry.reservation;
        before.push_back({made.job, made.start, made.unknown, made.tasks, entry.taken});
    }
    return before;
}

MilliGpu Backfill::kept_gpus() const {
    MilliGpu sum{0};
    for (const Entry& entry : entries()) sum += gpus_of(entry.taken);
    return sum;
}

bool Backfill::could_open_for(ShapeId shape, JobId job) {
    look_at_widest();
    const model::TaskRequest& request = view_->cluster.shape(shape).request;
    const int gpus = request.is_whole() ? request.gpus : 1;
    if (gpus > widest_) return false;
    const Job& asking = view_->cluster.job(job);
    return std::ranges::any_of(entries(), [&](const Entry& entry) {
        return gpus <= entry.widest && !is_kept_from(entry, asking);
    });
}

// Every change of what is unused or kept is in the log.
void Backfill::look_at_widest() {
    const std::uint64_t mark = view_->cluster.changed_nodes().capacity.read();
    if (widest_mark_ == mark) return;
    widest_mark_ = mark;
    widest_ = 0;
    for (Entry& entry : std::span(entries_).first(count_)) {
        entry.widest = 0;
        for (const TaskPlacement& task : entry.taken) {
            int gpus = view_->cluster.nodes()[task.node.index()].free_gpus(View::Coming);
            for (const Entry& other : entries()) gpus += gpus_on(other.taken, task.node);
            entry.widest = std::max(entry.widest, gpus);
        }
        widest_ = std::max(widest_, entry.widest);
    }
}

bool Backfill::ends_before(const Job& job, TimePoint time) const {
    const int minutes = job.declared_minutes();
    if (minutes == 0) return false;
    const TimePoint start = job.active > 0 ? job.last_start : view_->now;
    const TimePoint end = start + Duration{std::int64_t{minutes} * 60'000};
    return end > view_->now && end <= time;
}

bool Backfill::is_kept_from(const Entry& entry, const Job& job) const {
    const Job& first = view_->cluster.job(entry.reservation.job);
    if (job.id == first.id || is_served(first) || gives_way(*view_, job, first)) return false;
    const MilliGpu wanted = ask_gpus(*view_, first, first.ask());
    if (gpus_for(*view_, job, job.ask()) >= gpus_for(*view_, first, first.ask())) return false;
    // What this decision has given to others may have used up what its project may have. Its own
    // kept GPUs are not idle now, so what is set aside for others was asked about before.
    const auto denial = quota_gate(*view_, first, wanted);
    if (denial && denial->cause != model::Cause::SetAsideForFixedQuotas) return false;
    if (ends_before(job, entry.reservation.start)) return false;
    return !comes_before(job, first);
}

bool Backfill::comes_before(const Job& job, const Job& entry) const {
    const bool only_grows = job.gang_phase() > 0;
    const bool is_older = !only_grows && came(job) < came(entry);
    const auto wanted_by = [&](const Job& made) { return ask_gpus(*view_, made, made.ask()); };
    const Right right = right_to(*view_, job.project, wanted_by(job));
    if (job.project == entry.project) {
        if (only_grows) return job.priority > entry.priority;
        // Its project's own work may have to end first, but is it within the share even then?
        const bool exceeds = wanted_by(entry) > view_->shares.fair[entry.project.index()];
        if (right != Right::None && exceeds) return true;
        // Who may not be paused has no rank; else the next one of those would always be before.
        if (has_ranks(view_->cluster, job.project) && job.preemptible != entry.preemptible) {
            return job.priority != entry.priority ? job.priority > entry.priority : is_older;
        }
        return job.priority_key() > entry.priority_key() ||
               (job.priority_key() == entry.priority_key() && is_older);
    }
    const Right of_reserved = right_to(*view_, entry.project, wanted_by(entry));
    if (right != of_reserved) return right > of_reserved;
    if (right == Right::None && is_served_before(*view_, job.project, entry.project)) return true;
    return is_older || stands_for_older(*view_, job, entry);
}

Backfill::Opening::Opening(Backfill& backfill, const Job& job, const Job* passed)
    : backfill_(backfill), job_(job), is_let_pass_(passed != nullptr) {
    for (std::size_t i = 0; i < backfill_.count_; ++i) {
        const Entry& entry = backfill_.entries_[i];
        if (entry.taken.empty()) continue;
        const bool is_open = !backfill_.is_kept_from(entry, job) ||
                             (passed && !backfill_.is_kept_from(entry, *passed));
        if (is_open) opened_.push_back(i);
    }
}

void Backfill::Opening::open() {
    if (is_open_) return;
    is_open_ = true;
    for (const std::size_t i : opened_) {
        for (const TaskPlacement& task : backfill_.entries_[i].taken) {
            backfill_.view_->cluster.give_back(View::Coming, kNoShape, task);
        }
    }
}

Backfill::Opening::~Opening() {
    if (!is_open_) return;
    for (const std::size_t i : opened_) backfill_.keep(backfill_.entries_[i]);
}

bool Backfill::Opening::keeps_share() const {
    const PoolView& view = *backfill_.view_;
    return !is_let_pass_ && std::ranges::any_of(backfill_.entries(), [&](const Entry& entry) {
        const Job& first = view.cluster.job(entry.reservation.job);
        if (job_.project != first.project || job_.id == first.id || is_served(first)) return false;
        if (gives_way(view, job_, first) || backfill_.comes_before(job_, first)) return false;
        if (backfill_.ends_before(job_, entry.reservation.start)) return false;
        const MilliGpu fair = view.shares.fair[job_.project.index()];
        const MilliGpu wanted = ask_gpus(view, first, first.ask());
        const MilliGpu asks = ask_gpus(view, job_, job_.ask());
        return asks < wanted && wanted <= fair &&
               right_to(view, job_.project, asks + wanted) == Right::None;
    });
}

MilliGpu Backfill::Opening::gpus() const {
    MilliGpu sum{0};
    for (const std::size_t i : opened_) sum += gpus_of(backfill_.entries_[i].taken);
    return sum;
}

std::optional<std::uint64_t> Backfill::Opening::which() const {
    std::uint64_t which = 0;
    for (const std::size_t i : opened_) {
        if (i >= 64) return {};
        which |= std::uint64_t{1} << i;
    }
    return which;
}

}  // namespace berth::scheduling
