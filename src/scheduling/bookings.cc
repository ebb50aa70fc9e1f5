// SPDX-License-Identifier: Apache-2.0
#include "scheduling/bookings.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <tuple>

#include "scheduling/quota_gate.h"

namespace berth::scheduling {
namespace {

using cluster::Job;
using model::Duration;
using model::TaskPlacement;

constexpr Duration kShortestRun{60 * 1000};

// When a job leaves its GPUs.
struct End {
    TimePoint time;
    bool is_declared = true;
    bool is_never = false;
};

End end_of(const Job& job, TimePoint now) {
    const bool has_declared = job.expected_runtime > model::Duration{0};
    if (has_declared && job.last_start + job.expected_runtime > now) {
        return {job.last_start + job.expected_runtime};
    }
    if (job.kind == model::JobKind::Inference) return {{}, false, true};
    return {now + std::max(now - job.last_start, kShortestRun), false};
}

// One GPU that could be booked: whoever uses it is gone then.
struct Seat {
    int gpu = 0;
    int unknown = 0;  // users that have not declared their end
    TimePoint free_at;

    auto key() const { return std::tuple(unknown, free_at, gpu); }
};

// Who leaves a GPU when, unknown to anybody.
struct User {
    int gpu = 0;
    JobId job;
};

// The GPUs of a node that become free some day, and are not promised already.
struct Seats {
    std::span<const Seat> best_first;
    std::span<const User> unknown;
};

// Looked up once for all the bookings of a decision: none of them changes what runs.
class Seating {
  public:
    explicit Seating(const PoolView& view) : view_(view), at_(view.cluster.nodes().size()) {}

    // Valid until the next question.
    Seats on(NodeId node) {
        Range& range = at_[node.index()];
        if (!range.is_known) {
            range = {static_cast<std::uint32_t>(seats_.size()),
                     static_cast<std::uint32_t>(users_.size()), 0, 0, true};
            look_at(node);
            range.seats = static_cast<std::uint32_t>(seats_.size()) - range.first_seat;
            range.users = static_cast<std::uint32_t>(users_.size()) - range.first_user;
        }
        return {std::span(seats_).subspan(range.first_seat, range.seats),
                std::span(users_).subspan(range.first_user, range.users)};
    }

    // The first declared end of those that were looked at.
    std::optional<TimePoint> next_end() const { return next_end_; }

  private:
    // Where what is known of a node stands.
    struct Range {
        std::uint32_t first_seat = 0;
        std::uint32_t first_user = 0;
        std::uint32_t seats = 0;
        std::uint32_t users = 0;
        bool is_known = false;
    };

    void look_at(NodeId node) {
        const cluster::NodeState& state = view_.cluster.nodes()[node.index()];
        std::uint64_t gone = 0;
        const std::size_t first = seats_.size();
        for (int gpu = 0; gpu < state.gpus; ++gpu) seats_.push_back({gpu, 0, view_.now});
        const auto& jobs = view_.cluster.jobs_on(node);
        jobs_.assign(jobs.begin(), jobs.end());
        std::ranges::sort(jobs_);
        jobs_.erase(std::ranges::unique(jobs_).begin(), jobs_.end());
        for (const JobId id : jobs_) {
            const Job& job = view_.cluster.job(id);
            const End end = end_of(job, view_.now);
            for (const cluster::PlacedTask& task : job.placed) {
                if (task.place.node != node || task.is_releasing) continue;
                if (end.is_never) gone |= task.place.gpu_mask;
                for (std::uint64_t mask = task.place.gpu_mask; mask != 0; mask &= mask - 1) {
                    const int gpu = std::countr_zero(mask);
                    Seat& seat = seats_[first + static_cast<std::size_t>(gpu)];
                    seat.free_at = std::max(seat.free_at, end.time);
                    if (end.is_declared) {
                        next_end_ = std::min(next_end_.value_or(end.time), end.time);
                        continue;
                    }
                    ++seat.unknown;
                    users_.push_back({gpu, id});
                }
            }
        }
        const auto here = seats_.begin() + static_cast<std::ptrdiff_t>(first);
        const auto left = std::remove_if(here, seats_.end(), [&](const Seat& seat) {
            const bool is_used = seat.free_at > view_.now || seat.unknown > 0;
            const bool is_promised =
                !is_used && view_.cluster.free(View::Coming, node, seat.gpu) < base::kWholeGpu;
            return (gone >> seat.gpu & 1) != 0 || is_promised;
        });
        seats_.erase(left, seats_.end());
        std::sort(here, seats_.end(),
                  [](const Seat& one, const Seat& other) { return one.key() < other.key(); });
    }

    const PoolView& view_;
    std::vector<Range> at_;  // by node
    std::vector<Seat> seats_;
    std::vector<User> users_;
    std::vector<JobId> jobs_;
    std::optional<TimePoint> next_end_;
};

// Room for one task.
struct Berth {
    int unknown = 0;  // jobs
    TimePoint declared;  // free by then, if those unknown are gone
    TimePoint expected;
    NodeId node;
    std::uint64_t mask = 0;

    auto key() const { return std::tuple(unknown, declared, node, mask); }
};

// What the tasks of one gang take of a node's CPU or memory, counted while they are booked.
struct HostRoom {
    const cluster::HostUse& host;
    std::int64_t each = 0;
    std::int64_t taken = 0;

    // Whether one more task would fit if nobody else were there.
    bool take() {
        taken += each;
        return host.capacity == cluster::kUnaccounted || taken <= host.capacity;
    }
    bool is_free() const { return taken <= host.free(View::Coming); }
};

class Search {
  public:
    Search(const PoolView& view, const Job& job, const std::vector<TaskPlacement>& booked,
           Seating& seating)
        : view_(view), job_(job), booked_(booked), seating_(seating) {}

    // The best berths for the whole gang; none when there are not enough.
    std::vector<Berth> run() {
        std::vector<Berth> found;
        for (const NodeId node : nodes_to_look_at()) look_at(node, found);
        const auto count = static_cast<std::size_t>(job_.ask());
        if (found.size() < count) return {};
        const auto best = found.begin() + static_cast<std::ptrdiff_t>(count);
        std::ranges::partial_sort(found, best, {}, &Berth::key);
        found.resize(count);
        return found;
    }

  private:
    std::vector<NodeId> nodes_to_look_at() const {
        const auto& pool = view_.cluster.pool(view_.pool);
        const auto& free = pool.free[static_cast<std::size_t>(View::Coming)];
        const std::size_t most = std::max(kBookingNodes, 2 * static_cast<std::size_t>(job_.ask()));
        std::vector<NodeId> nodes;
        for (int count = pool.gpus_per_node_max; count >= 0; --count) {
            const cluster::NodeSet& with = free.nodes_with(count);
            for (NodeId node = with.next({0}); node.is_valid() && nodes.size() < most;
                 node = with.next({node.value + 1})) {
                const auto kind = view_.cluster.nodes()[node.index()].kind;
                if (view_.cluster.allows(job_.shape, kind)) nodes.push_back(node);
            }
        }
        return nodes;
    }

    void look_at(NodeId node, std::vector<Berth>& found) {
        const Seats here = seating_.on(node);
        seats_.clear();
        const std::uint64_t booked = booked_on(node);
        for (const Seat& seat : here.best_first) {
            if ((booked >> seat.gpu & 1) == 0) seats_.push_back(seat);
        }
        const auto each = static_cast<std::size_t>(view_.cluster.shape(job_.shape).request.gpus);
        const cluster::NodeState& state = view_.cluster.nodes()[node.index()];
        HostRoom cpu{state.cpu, view_.cluster.cpu_on(job_.shape, node)};
        HostRoom memory{state.memory, view_.cluster.memory_on(job_.shape, node)};
        for (std::size_t first = 0; first + each <= seats_.size(); first += each) {
            if (!cpu.take() || !memory.take()) return;
            Berth berth;
            berth.node = node;
            berth.declared = berth.expected = view_.now;
            for (std::size_t i = first; i < first + each; ++i) {
                const Seat& seat = seats_[i];
                berth.mask |= std::uint64_t{1} << seat.gpu;
                berth.expected = std::max(berth.expected, seat.free_at);
                if (seat.unknown == 0) berth.declared = std::max(berth.declared, seat.free_at);
            }
            berth.unknown = count_unknown(here, berth.mask);
            // GPUs idle, but what stands beside them has the CPU or memory.
            if (berth.expected == view_.now && !(cpu.is_free() && memory.is_free())) {
                ++berth.unknown;
                berth.expected += kShortestRun;
            }
            found.push_back(berth);
        }
    }

    std::uint64_t booked_on(NodeId node) const {
        std::uint64_t mask = 0;
        for (const TaskPlacement& task : booked_) {
            if (task.node == node) mask |= task.gpu_mask;
        }
        return mask;
    }

    // Jobs on these GPUs that have not declared their end.
    int count_unknown(const Seats& here, std::uint64_t mask) {
        unknown_.clear();
        for (const User& user : here.unknown) {
            if ((mask >> user.gpu & 1) != 0) unknown_.push_back(user.job);
        }
        std::ranges::sort(unknown_);
        return static_cast<int>(std::ranges::unique(unknown_).begin() - unknown_.begin());
    }

    const PoolView& view_;
    const Job& job_;
    const std::vector<TaskPlacement>& booked_;
    Seating& seating_;
    std::vector<Seat> seats_;  // of the node looked at, the best first
    std::vector<JobId> unknown_;
};

model::Booking booking_of(const PoolView& view, const Job& job, std::span<const Berth> berths) {
    model::Booking booking;
    booking.job = job.id;
    booking.start = view.now;
    for (const Berth& berth : berths) {
        booking.start = std::max(booking.start, berth.expected);
        booking.unknown += berth.unknown;
        const int rank = static_cast<int>(booking.tasks.size());
        booking.tasks.push_back({rank, berth.node, berth.mask, base::kWholeGpu, {}, {}});
    }
    return booking;
}

// Jobs that may book, the oldest first, and when the next one may.
struct LongestWaiting {
    std::vector<const Job*> jobs;
    std::optional<TimePoint> next;
};

LongestWaiting longest_waiting(const PoolView& view) {
    LongestWaiting waiting;
    const auto& pool = view.cluster.pool(view.pool);
    for (const cluster::Claim& claim : pool.claims) {
        for (const auto& [key, lane] : claim.lanes) {
            const cluster::Shape& shape = view.cluster.shape(key.shape);
            // Which GPUs of a domain come free together is not looked for: gangs that have to stand
            // in one, as a whole or by groups, book none.
            const bool is_bound = shape.required >= 0 || !shape.groups.empty();
            const bool is_gang =
                shape.request.is_whole() && shape.request.gpus * key.ask > 1 && !is_bound;
            if (!is_gang || key.stage != 0 || key.preference != 0) continue;
            const Job& job = view.cluster.job(lane.begin()->second);
            const TimePoint due = job.waiting_since + view.policy.booking_after;
            if (due <= view.now) {
                waiting.jobs.push_back(&job);
            } else {
                waiting.next = std::min(waiting.next.value_or(due), due);
            }
        }
    }
    std::ranges::sort(waiting.jobs, {},
                      [](const Job* job) { return std::pair(job->created, job->id); });
    return waiting;
}

// When one of those who wait would be gone, as declared, before a job that has not declared its end
// is expected to be: that expectation grows as it runs.
std::optional<TimePoint> first_to_end_before(const PoolView& view, const model::Booking& booking) {
    std::optional<TimePoint> oldest;
    for (const TaskPlacement& seat : booking.tasks) {
        for (const JobId id : view.cluster.jobs_on(seat.node)) {
            const Job& job = view.cluster.job(id);
            const bool is_in_the_way =
                std::ranges::any_of(job.placed, [&](const cluster::PlacedTask& task) {
                    return task.place.node == seat.node &&
                           (task.place.gpu_mask & seat.gpu_mask) != 0 && !task.is_releasing;
                });
            if (!is_in_the_way || end_of(job, view.now).is_declared) continue;
            oldest = std::min(oldest.value_or(job.last_start), job.last_start);
        }
    }
    if (!oldest) return {};
    std::optional<TimePoint> first;
    for (const cluster::Claim& claim : view.cluster.pool(view.pool).claims) {
        for (const auto& [key, lane] : claim.lanes) {
            const TimePoint time = *oldest + Duration{std::int64_t{key.minutes} * 60'000};
            if (key.minutes > 0 && time > view.now) first = std::min(first.value_or(time), time);
        }
    }
    return first;
}

// Started, or promised its GPUs.
bool is_served(const Job& job) { return job.active > 0 || !job.is_waiting(); }

bool is_within_fair_share(const PoolView& view, ProjectId project, MilliGpu amount) {
    return view.allocated(project) + amount <= view.shares.fair[project.index()];
}

}  // namespace

Bookings::Bookings(const PoolView& view) : view_(view) {
    if (view.policy.bookings_max == 0) return;
    Seating seating(view);
    const LongestWaiting waiting = longest_waiting(view);
    if (waiting.next) change_at(*waiting.next);
    for (const Job* job : waiting.jobs) {
        if (std::ssize(booked_) == view.policy.bookings_max) break;
        if (quota_gate(view, *job, ask_gpus(view, *job, job->ask()))) continue;
        std::vector<TaskPlacement> others;
        for (const Booked& booked : booked_) {
            others.insert(others.end(), booked.booking.tasks.begin(), booked.booking.tasks.end());
        }
        const std::vector<Berth> berths = Search(view, *job, others, seating).run();
        if (!berths.empty()) booked_.push_back({booking_of(view, *job, berths), {}});
    }
    for (Booked& booked : booked_) {
        keep(booked);
        if (booked.kept.empty()) continue;
        const auto change = first_to_end_before(view, booked.booking);
        if (change) change_at(*change);
    }
    if (const auto end = seating.next_end()) change_at(*end);
}

void Bookings::change_at(TimePoint time) {
    next_change_ = std::min(next_change_.value_or(time), time);
}

Bookings::Bookings(const PoolView& view, std::span<const model::Booking> made) : view_(view) {
    for (const model::Booking& booking : made) {
        if (view.cluster.nodes()[booking.tasks.front().node.index()].pool != view.pool) continue;
        booked_.push_back({booking, {}});
        keep(booked_.back());
    }
}

// Takes what idles of the booked GPUs.
void Bookings::keep(Booked& booked) const {
    booked.kept.clear();
    if (is_served(view_.cluster.job(booked.booking.job))) return;
    for (TaskPlacement task : booked.booking.tasks) {
        const auto& whole = view_.cluster.nodes()[task.node.index()].whole;
        task.gpu_mask &= whole[static_cast<std::size_t>(View::Coming)];
        if (task.gpu_mask == 0) continue;
        view_.cluster.take(View::Coming, task);
        booked.kept.push_back(task);
    }
}

std::vector<model::Booking> Bookings::made() const {
    std::vector<model::Booking> made;
    for (const Booked& booked : booked_) made.push_back(booked.booking);
    return made;
}

std::vector<model::Booking> Bookings::still_waiting() const {
    std::vector<model::Booking> waiting;
    for (const Booked& booked : booked_) {
        if (is_served(view_.cluster.job(booked.booking.job))) continue;
        // One that could have started now, and whose GPUs others with more right have taken.
        if (booked.booking.start <= view_.now && booked.kept.empty()) continue;
        waiting.push_back(booked.booking);
        waiting.back().kept = booked.kept;
    }
    return waiting;
}

MilliGpu Bookings::kept() const {
    MilliGpu sum{0};
    for (const Booked& booked : booked_) {
        for (const TaskPlacement& task : booked.kept) sum += task.gpus();
    }
    return sum;
}

bool Bookings::ends_before(const Job& job, TimePoint time) const {
    const int minutes = job.declared_minutes();
    if (minutes == 0) return false;
    const TimePoint start = job.active > 0 ? job.last_start : view_.now;
    const TimePoint end = start + Duration{std::int64_t{minutes} * 60'000};
    return end > view_.now && end <= time;
}

bool Bookings::is_kept_from(const Booked& booked, const Job& job) const {
    const Job& first = view_.cluster.job(booked.booking.job);
    if (job.id == first.id || is_served(first)) return false;
    const MilliGpu wanted = ask_gpus(view_, first, first.ask());
    if (gpus_for(view_, job, job.ask()) >= gpus_for(view_, first, first.ask())) return false;
    // What this decision has given to others may have used up what its project may have. Its own
    // kept GPUs are not idle now, so what is set aside for others was asked about before.
    const auto denial = quota_gate(view_, first, wanted);
    if (denial && denial->gate != Gate::SetAside) return false;
    if (ends_before(job, booked.booking.start)) return false;
    return !comes_before(job, first);
}

bool Bookings::comes_before(const Job& job, const Job& booked) const {
    const bool only_grows = job.active > 0;
    const bool is_older =
        !only_grows && std::pair(job.created, job.id) < std::pair(booked.created, booked.id);
    const auto wanted_by = [&](const Job& of) { return ask_gpus(view_, of, of.ask()); };
    const bool right = is_within_fair_share(view_, job.project, wanted_by(job));
    if (job.project == booked.project) {
        if (only_grows) return false;
        // Its project's own work may have to end first, but is it within the share even then?
        const bool exceeds = wanted_by(booked) > view_.shares.fair[booked.project.index()];
        if (right && exceeds) return true;
        return job.precedence() > booked.precedence() ||
               (job.precedence() == booked.precedence() && is_older);
    }
    return right == is_within_fair_share(view_, booked.project, wanted_by(booked)) ? is_older
                                                                                   : right;
}

bool Bookings::keep_share_from(const Job& job) const {
    return std::ranges::any_of(booked_, [&](const Booked& booked) {
        const Job& first = view_.cluster.job(booked.booking.job);
        if (job.project != first.project || job.id == first.id || is_served(first)) return false;
        if (ends_before(job, booked.booking.start) || comes_before(job, first)) return false;
        const MilliGpu fair = view_.shares.fair[job.project.index()];
        const MilliGpu wanted = ask_gpus(view_, first, first.ask());
        const MilliGpu asks = ask_gpus(view_, job, job.ask());
        return asks < wanted && wanted <= fair &&
               !is_within_fair_share(view_, job.project, asks + wanted);
    });
}

Bookings::Opening::Opening(Bookings& bookings, const Job& job) : bookings_(bookings) {
    for (std::size_t i = 0; i < bookings_.booked_.size(); ++i) {
        const Booked& booked = bookings_.booked_[i];
        if (booked.kept.empty() || bookings_.is_kept_from(booked, job)) continue;
        for (const TaskPlacement& task : booked.kept) {
            bookings_.view_.cluster.give_back(View::Coming, task);
        }
        opened_.push_back(i);
    }
}

Bookings::Opening::~Opening() {
    for (const std::size_t i : opened_) bookings_.keep(bookings_.booked_[i]);
}

std::vector<NodeId> Bookings::Opening::nodes() const {
    std::vector<NodeId> nodes;
    for (const std::size_t i : opened_) {
        for (const TaskPlacement& task : bookings_.booked_[i].booking.tasks) {
            nodes.push_back(task.node);
        }
    }
    return nodes;
}

}  // namespace berth::scheduling
