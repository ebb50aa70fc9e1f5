// SPDX-License-Identifier: Apache-2.0
#include "scheduling/backfill/bookings.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "scheduling/place/companions.h"
#include "scheduling/rights/minimum_run.h"
#include "scheduling/rights/quota_gate.h"

namespace berth::scheduling {
namespace {

using cluster::Job;
using model::Duration;
using model::TaskPlacement;

void write_down(model::Booking& booking, const PoolView& view, const Job& job,
                std::span<const Berth> berths) {
    booking.job = job.id;
    booking.start = view.now;
    booking.unknown = 0;
    booking.tasks.clear();
    for (const Berth& berth : berths) {
        booking.start = std::max(booking.start, berth.expected);
        booking.unknown += berth.unknown;
        const int rank = static_cast<int>(booking.tasks.size());
        booking.tasks.push_back({rank, berth.node, berth.mask, base::kWholeGpu, {}, {}});
    }
}

// Who has run since `start` without having declared his end is expected to run as long again: from
// when on to this time or longer?
TimePoint expected_to_last(TimePoint start, TimePoint until) {
    const Duration run = until - start;
    return std::min(until - kShortestRun, start + (run + run % Duration{2}) / 2);
}

// When one of those who wait, or run and wait for more, would be gone, as declared, before a job
// that has not declared its end is expected to be: that expectation grows as it runs. Whoever has
// the CPU beside idle GPUs is always expected to have it for kShortestRun.
// Whoever could use what is kept idle; where nothing is, those of its project, who leave it its
// share.
std::optional<TimePoint> first_to_end_before(const PoolView& view, const model::Booking& booking,
                                             bool keeps_gpus) {
    const cluster::Claim& own = view.claim(view.cluster.job(booking.job).project);
    std::optional<TimePoint> oldest;
    for (const TaskPlacement& seat : booking.tasks) {
        for (const JobId id : view.cluster.jobs_on(seat.node)) {
            const Job& job = view.cluster.job(id);
            const bool is_in_the_way =
                std::ranges::any_of(job.placed, [&](const cluster::PlacedTask& task) {
                    return task.place.node == seat.node &&
                           (task.place.gpu_mask & seat.gpu_mask) != 0 && !task.is_releasing;
                });
            if (!is_in_the_way || end_of(run_of(job), view.now).is_declared) continue;
            oldest = std::min(oldest.value_or(job.last_start), job.last_start);
        }
    }
    if (booking.unknown == 0) return {};
    std::optional<TimePoint> first;
    const auto consider = [&](TimePoint time) {
        if (time > view.now) first = std::min(first.value_or(time), time);
    };
    for (const cluster::Claim& claim : view.cluster.pool(view.pool).claims) {
        if (!keeps_gpus && &claim != &own) continue;
        for (const auto& [key, lane] : claim.lanes) {
            const Duration run{std::int64_t{key.minutes} * 60'000};
            if (key.minutes == 0) continue;
            if (key.stage == 0) {
                if (oldest) consider(*oldest + run);
                continue;
            }
            for (const auto& [created, job] : lane) {
                const TimePoint end = view.cluster.job(job).last_start + run;
                consider(oldest ? expected_to_last(*oldest, end) : end - kShortestRun);
            }
        }
    }
    return first;
}

// Whether its companions have no room when it stands there. When CPU and memory of a node come free
// is not looked for: they need them now.
bool lack_companions_room(const PoolView& view, const Job& job, std::span<const Berth> berths) {
    Places beside;
    for (const Berth& berth : berths) {
        beside.push_back(view.cluster.task_on(job.shape, berth.node, berth.mask));
        beside.back().gpu_mask = 0;  // which others may use yet
    }
    return add_companions(view, job, View::Coming, beside).has_value();
}

// Started, or promised its GPUs.
bool is_served(const Job& job) { return job.active > 0 || !job.is_waiting(); }

// What a project has to so much more.
enum class Right { None, FairShare, Quota };

Right right_to(const PoolView& view, ProjectId project, MilliGpu amount) {
    const MilliGpu held = view.allocated(project) + amount;
    if (held <= view.quota(project)) return Right::Quota;
    return held <= view.shares.fair[project.index()] ? Right::FairShare : Right::None;
}

// Of those of one project that ranks tell apart; not valid when none waits.
JobId first_by_rank(const cluster::Claim& claim) {
    const cluster::LaneKey* best = nullptr;
    std::pair<TimePoint, JobId> first;
    for (const auto& [key, lane] : claim.lanes) {
        if (!key.preemptible) continue;
        if (best && (key.precedence != best->precedence || key.stage != best->stage)) break;
        first = best ? std::min(first, *lane.begin()) : *lane.begin();
        best = &key;
    }
    return first.second;
}

// One that runs in its own project can be paused for it: where jobs are told apart by ranks, it is
// by those that it is decided who has the GPUs.
bool gives_way(const PoolView& view, const Job& job, const Job& booked) {
    return job.preemptible && job.project == booked.project && has_ranks(view.cluster, job.project);
}

}  // namespace

// And when the next one may.
void Bookings::find_longest_waiting() {
    const PoolView& view = *view_;
    waiting_.clear();
    const auto& claims = view.cluster.pool(view.pool).claims;
    for (std::size_t at = 0; at < claims.size(); ++at) {
        const cluster::Claim& claim = claims[at];
        const bool by_rank = has_ranks(view.cluster, {static_cast<ProjectId::Rep>(at)});
        const JobId first = by_rank ? first_by_rank(claim) : JobId{};
        for (const auto& [key, lane] : claim.lanes) {
            if (by_rank && key.preemptible && lane.begin()->second != first) continue;
            const cluster::Shape& shape = view.cluster.shape(key.shape);
            // Which GPUs of a domain come free together is not looked for: gangs that have to stand
            // in one, as a whole or by groups, book none.
            const bool is_bound = shape.required >= 0 || !shape.groups.empty();
            const bool is_gang =
                shape.request.is_whole() && shape.request.gpus * key.ask > 1 && !is_bound;
            if (!is_gang || key.stage != 0 || key.preference != 0) continue;
            const Job& job = view.cluster.job(lane.begin()->second);
            const TimePoint due = job.waiting_since + view.policy.booking_after;
            due <= view.now ? waiting_.push_back(&job) : change_at(due);
        }
    }
    std::ranges::sort(waiting_, {},
                      [](const Job* job) { return std::pair(job->created, job->id); });
}

Bookings::Booked& Bookings::add() {
    if (count_ == slots_.size()) slots_.emplace_back();
    return slots_[count_++];
}

void Bookings::book(const PoolView& view, NodeSeats& seats) {
    view_ = &view;
    count_ = 0;
    next_change_ = {};
    if (view.policy.bookings_max == 0) return;
    where_.open(view, seats);
    find_longest_waiting();
    base::SmallVector<TaskPlacement, 32> others;
    for (const Job* job : waiting_) {
        if (std::cmp_equal(count_, view.policy.bookings_max)) break;
        if (quota_gate(view, *job, ask_gpus(view, *job, job->ask()))) continue;
        const std::span<const Berth> berths = where_.best_for(*job, others);
        if (berths.empty()) continue;
        if (lacks_companions(*job) && lack_companions_room(view, *job, berths)) continue;
        model::Booking& booking = add().booking;
        write_down(booking, view, *job, berths);
        others.insert(others.end(), booking.tasks.begin(), booking.tasks.end());
    }
    for (Booked& booked : std::span(slots_).first(count_)) {
        keep(booked);
        const auto change = first_to_end_before(view, booked.booking, !booked.kept.empty());
        if (change) change_at(*change);
    }
    if (const auto end = where_.next_end()) change_at(*end);
}

void Bookings::change_at(TimePoint time) {
    next_change_ = std::min(next_change_.value_or(time), time);
}

void Bookings::keep_again(const PoolView& view) {
    view_ = &view;
    for (Booked& booked : std::span(slots_).first(count_)) keep(booked);
}

void Bookings::take_over(const PoolView& view, std::span<const model::Booking> made) {
    view_ = &view;
    count_ = 0;
    for (const model::Booking& booking : made) {
        if (view.cluster.nodes()[booking.tasks.front().node.index()].pool != view.pool) continue;
        Booked& booked = add();
        booked.booking = booking;
        keep(booked);
    }
}

// Takes what idles of the booked GPUs.
void Bookings::keep(Booked& booked) const {
    booked.kept.clear();
    const Job& job = view_->cluster.job(booked.booking.job);
    if (is_served(job)) return;
    for (TaskPlacement task : booked.booking.tasks) {
        const auto& whole = view_->cluster.nodes()[task.node.index()].whole;
        task.gpu_mask &= whole[static_cast<std::size_t>(View::Coming)];
        if (task.gpu_mask == 0) continue;
        view_->cluster.take(View::Coming, job.shape, task);
        booked.kept.push_back(task);
    }
}

std::vector<model::Booking> Bookings::still_waiting(std::vector<model::Booking> before) const {
    const std::size_t most = before.size() + count_;
    for (const Booked& booked : booked()) {
        if (is_served(view_->cluster.job(booked.booking.job))) continue;
        // One that could have started now, and whose GPUs others with more right have taken.
        if (booked.booking.start <= view_->now && booked.kept.empty()) continue;
        before.reserve(most);  // at once, where there is one
        const model::Booking& of = booked.booking;
        before.push_back({of.job, of.start, of.unknown, of.tasks, booked.kept});
    }
    return before;
}

MilliGpu Bookings::kept() const {
    MilliGpu sum{0};
    for (const Booked& booked : booked()) {
        for (const TaskPlacement& task : booked.kept) sum += task.gpus();
    }
    return sum;
}

bool Bookings::could_open_for(const Job& job) const {
    return std::ranges::any_of(booked(), [&](const Booked& booked) {
        return !booked.kept.empty() && !is_kept_from(booked, job);
    });
}

bool Bookings::ends_before(const Job& job, TimePoint time) const {
    const int minutes = job.declared_minutes();
    if (minutes == 0) return false;
    const TimePoint start = job.active > 0 ? job.last_start : view_->now;
    const TimePoint end = start + Duration{std::int64_t{minutes} * 60'000};
    return end > view_->now && end <= time;
}

bool Bookings::is_kept_from(const Booked& booked, const Job& job) const {
    const Job& first = view_->cluster.job(booked.booking.job);
    if (job.id == first.id || is_served(first) || gives_way(*view_, job, first)) return false;
    const MilliGpu wanted = ask_gpus(*view_, first, first.ask());
    if (gpus_for(*view_, job, job.ask()) >= gpus_for(*view_, first, first.ask())) return false;
    // What this decision has given to others may have used up what its project may have. Its own
    // kept GPUs are not idle now, so what is set aside for others was asked about before.
    const auto denial = quota_gate(*view_, first, wanted);
    if (denial && denial->cause != model::Cause::SetAsideForFixedQuotas) return false;
    if (ends_before(job, booked.booking.start)) return false;
    return !comes_before(job, first);
}

bool Bookings::comes_before(const Job& job, const Job& booked) const {
    const bool only_grows = job.active > 0;
    const bool is_older =
        !only_grows && std::pair(job.created, job.id) < std::pair(booked.created, booked.id);
    const auto wanted_by = [&](const Job& of) { return ask_gpus(*view_, of, of.ask()); };
    const Right right = right_to(*view_, job.project, wanted_by(job));
    if (job.project == booked.project) {
        if (only_grows) return false;
        // Its project's own work may have to end first, but is it within the share even then?
        const bool exceeds = wanted_by(booked) > view_->shares.fair[booked.project.index()];
        if (right != Right::None && exceeds) return true;
        // Who may not be paused has no rank; else the next one of those would always be before.
        if (has_ranks(view_->cluster, job.project) && job.preemptible != booked.preemptible) {
            return job.priority != booked.priority ? job.priority > booked.priority : is_older;
        }
        return job.precedence() > booked.precedence() ||
               (job.precedence() == booked.precedence() && is_older);
    }
    const Right of_booked = right_to(*view_, booked.project, wanted_by(booked));
    return right == of_booked ? is_older : right > of_booked;
}

bool Bookings::keep_share_from(const Job& job) const {
    return std::ranges::any_of(booked(), [&](const Booked& booked) {
        const Job& first = view_->cluster.job(booked.booking.job);
        if (job.project != first.project || job.id == first.id || is_served(first)) return false;
        if (gives_way(*view_, job, first)) return false;
        if (ends_before(job, booked.booking.start) || comes_before(job, first)) return false;
        const MilliGpu fair = view_->shares.fair[job.project.index()];
        const MilliGpu wanted = ask_gpus(*view_, first, first.ask());
        const MilliGpu asks = ask_gpus(*view_, job, job.ask());
        return asks < wanted && wanted <= fair &&
               right_to(*view_, job.project, asks + wanted) == Right::None;
    });
}

Bookings::Opening::Opening(Bookings& bookings, const Job& job) : bookings_(bookings) {
    for (std::size_t i = 0; i < bookings_.count_; ++i) {
        const Booked& booked = bookings_.slots_[i];
        if (booked.kept.empty() || bookings_.is_kept_from(booked, job)) continue;
        cluster::Cluster& cluster = bookings_.view_->cluster;
        const ShapeId shape = cluster.job(booked.booking.job).shape;
        for (const TaskPlacement& task : booked.kept) {
            cluster.give_back(View::Coming, shape, task);
        }
        opened_.push_back(i);
    }
}

Bookings::Opening::~Opening() {
    for (const std::size_t i : opened_) bookings_.keep(bookings_.slots_[i]);
}

std::optional<std::uint64_t> Bookings::Opening::which() const {
    std::uint64_t which = 0;
    for (const std::size_t i : opened_) {
        if (i >= 64) return {};
        which |= std::uint64_t{1} << i;
    }
    return which;
}

Bookings::Opening::Nodes Bookings::Opening::nodes() const {
    Nodes nodes;
    for (const std::size_t i : opened_) {
        for (const TaskPlacement& task : bookings_.slots_[i].booking.tasks) {
            nodes.push_back(task.node);
        }
    }
    return nodes;
}

}  // namespace berth::scheduling
