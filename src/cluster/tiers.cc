// SPDX-License-Identifier: Apache-2.0
#include "cluster/tiers.h"

#include <algorithm>
#include <limits>

#include "base/gpu_time.h"
#include "cluster/cluster.h"

namespace berth::cluster {
namespace {

using model::Duration;

constexpr Duration kMinute{60'000};
constexpr Duration kWaitMin = 10 * kMinute;
constexpr Duration kTurnMin = 60 * kMinute;
constexpr std::int64_t kTurnsInRun = 20;
constexpr TimePoint kNever = TimePoint::max();

// The GPU time with which a tier ends.
std::int64_t end_of(const model::Tiers& rules, int tier) {
    std::int64_t end = rules.first.count();
    for (; tier > 0; --tier) {
        if (end > std::numeric_limits<std::int64_t>::max() / rules.factor) break;
        end *= rules.factor;
    }
    return end;
}

int tier_of(const model::Tiers& rules, std::int64_t gpu_ms) {
    int tier = 0;
    while (tier + 1 < rules.count && gpu_ms >= end_of(rules, tier)) ++tier;
    return tier;
}

std::int64_t held_milli(const Job& job) {
    std::int64_t milli = 0;
    for (const PlacedTask& task : job.placed) {
        milli += task.place.gpus().value;
    }
    return milli;
}

// Its tasks that are asked to leave still hold their GPUs and still count.
std::int64_t attained_at(const Job& job, TimePoint time) {
    return job.attained.gpu_ms + base::gpu_ms({held_milli(job)}, time - job.attained.counted);
}

// Until who holds so much has had so much more GPU time; a century at most.
Duration time_to(std::int64_t gpu_ms, std::int64_t held_milli) {
    constexpr Duration kCentury{std::int64_t{100} * 365 * 24 * 3600 * 1000};
    if (gpu_ms <= 0) return {};
    if (gpu_ms / held_milli > kCentury.count() / 1000) return kCentury;
    return Duration{(gpu_ms * 1000 + held_milli - 1) / held_milli};
}

TimePoint reached(const Job& job, std::int64_t gpu_ms, std::int64_t held) {
    return job.attained.counted + time_to(gpu_ms - job.attained.gpu_ms, held);
}

bool waits(const Job& job) { return job.may_run && job.placed.empty() && !job.hold; }

bool has_turn(const Job& job) { return job.attained.turn_gpu_ms > 0; }

class Keeper {
  public:
    explicit Keeper(Cluster& cluster) : cluster_(cluster), book_(cluster.tiers()) {}

    // Puts the job where it belongs at this time.
    void settle(JobId id, TimePoint time) {
        const Job& job = cluster_.job(id);
        leave_line(job);
        Attained attained = job.attained;
        attained.change = kNever;
        const std::int64_t had = attained_at(job, time);
        const bool ends_turn = has_turn(job) && (had >= attained.turn_gpu_ms || !job.may_run);
        if (ends_turn) attained.turn_gpu_ms = 0;
        const bool counts = job.preemptible && book_.rules.count > 1;
        const int tier = counts && attained.turn_gpu_ms == 0 ? tier_of(book_.rules, had) : 0;
        if (counts) attained.change = next_change(job, attained, tier);
        if (attained.change != kNever) book_.changes.insert({attained.change, id});
        cluster_.set_attained(id, attained, tier);
        if (ends_turn) end_turn(job);
    }

    // Its time has come.
    void change(JobId id, TimePoint time) {
        const Job& job = cluster_.job(id);
        if (!waits(job)) return settle(id, time);
        leave_line(job);
        Attained attained = job.attained;
        attained.change = kNever;
        cluster_.set_attained(id, attained, job.tier);
        book_.turns[line_of(job)].due.push_back(id);
        give_turn(line_of(job));
    }

    // Takes it off all lists.
    void leave(JobId id) {
        const Job& job = cluster_.job(id);
        leave_line(job);
        if (has_turn(job)) end_turn(job);
    }

    static TierBook::Line line_of(const Job& job) {
        return {job.project, job.shape, job.tasks_min};
    }

  private:
    void leave_line(const Job& job) {
        if (job.attained.change != kNever) {
            // Under new rules all begin without.
            const std::pair change{job.attained.change, job.id};
            if (book_.changes.contains(change)) book_.changes.erase(change);
            return;
        }
        const auto turns = book_.turns.find(line_of(job));
        if (turns == book_.turns.end() || has_turn(job)) return;
        std::erase(turns->second.due, job.id);
        drop_if_idle(turns);
    }

    void drop_if_idle(std::map<TierBook::Line, TierBook::Turns>::iterator turns) {
        if (!turns->second.given.is_valid() && turns->second.due.empty()) book_.turns.erase(turns);
    }

    TimePoint next_change(const Job& job, const Attained& attained, int tier) const {
        if (const std::int64_t held = held_milli(job); held > 0) {
            if (attained.turn_gpu_ms > 0) return reached(job, attained.turn_gpu_ms, held);
            if (tier + 1 == book_.rules.count) return kNever;
            return reached(job, end_of(book_.rules, tier), held);
        }
        if (!waits(job) || tier == 0 || book_.rules.patience == 0) return kNever;
        return job.waiting_since + std::max(kWaitMin, ran(job) * book_.rules.patience);
    }

    std::int64_t gang_milli(const Job& job) const {
        const MilliGpu task = cluster_.footprint(job.shape, cluster_.pools_of(job).front());
        return std::max<std::int64_t>(task.value * job.tasks_min, 1);
    }

    // How long its gang ran for the GPU time it has had.
    Duration ran(const Job& job) const {
        return Duration{job.attained.gpu_ms * 1000 / gang_milli(job)};
    }

    void end_turn(const Job& job) {
        book_.turns[line_of(job)].given = {};
        give_turn(line_of(job));
    }

    // To the longest due, if nobody has one.
    void give_turn(const TierBook::Line& line) {
        const auto turns = book_.turns.find(line);
        if (turns->second.given.is_valid()) return;
        if (turns->second.due.empty()) return drop_if_idle(turns);
        const JobId next = turns->second.due.front();
        turns->second.due.erase(turns->second.due.begin());
        turns->second.given = next;
        const Job& job = cluster_.job(next);
        Attained attained = job.attained;
        const Duration turn = std::max(kTurnMin, ran(job) / kTurnsInRun);
        attained.turn_gpu_ms = attained.gpu_ms + gang_milli(job) * turn.count() / 1000;
        cluster_.set_attained(next, attained, 0);
    }

    Cluster& cluster_;
    TierBook& book_;
};

}  // namespace

void keep_tiers(Cluster& cluster, const model::Tiers& rules, TimePoint now) {
    TierBook& book = cluster.tiers();
    if (book.rules != rules) {
        book.rules = rules;
        book.changes = {};
        book.turns.clear();
        for (const auto& [id, job] : cluster.jobs()) {
            if (has_turn(job)) book.turns[Keeper::line_of(job)].given = id;
        }
        for (const auto& [id, job] : cluster.jobs()) Keeper(cluster).settle(id, book.now);
    }
    keep_tiers(cluster, now);
}

void keep_tiers(Cluster& cluster, TimePoint now) {
    TierBook& book = cluster.tiers();
    while (!book.changes.empty() && book.changes.begin()->first <= now) {
        const auto [time, job] = *book.changes.begin();
        book.now = std::max(book.now, time);
        Keeper(cluster).change(job, time);
    }
    book.now = std::max(book.now, now);
}

void note_attained(Cluster& cluster, JobId id, std::int64_t gpu_ms, TimePoint counted) {
    Attained attained = cluster.job(id).attained;
    if (attained.gpu_ms == gpu_ms && attained.counted == counted) return;
    attained.gpu_ms = gpu_ms;
    attained.counted = counted;
    cluster.set_attained(id, attained, cluster.job(id).tier);
    if (cluster.tiers().rules.count > 1) Keeper(cluster).settle(id, counted);
}

void count_attained(Cluster& cluster, JobId id) {
    const TimePoint now = cluster.tiers().now;
    const Job& job = cluster.job(id);
    if (job.attained.counted >= now) return;
    Attained attained = job.attained;
    attained.gpu_ms = attained_at(job, now);
    attained.counted = now;
    cluster.set_attained(id, attained, job.tier);
}

void settle_tier(Cluster& cluster, JobId id) { Keeper(cluster).settle(id, cluster.tiers().now); }

void leave_tiers(Cluster& cluster, JobId job) {
    if (cluster.tiers().rules.count > 1) Keeper(cluster).leave(job);
}

void end_turn(Cluster& cluster, JobId job) {
    leave_tiers(cluster, job);
    Attained attained = cluster.job(job).attained;
    attained.turn_gpu_ms = 0;
    attained.change = kNever;
    cluster.set_attained(job, attained, cluster.job(job).tier);
}

std::optional<TimePoint> next_tier_change(const Cluster& cluster) {
    const auto& changes = cluster.tiers().changes;
    if (changes.empty()) return {};
    return changes.begin()->first;
}

std::optional<TimePoint> tier_change_once_given(const Cluster& cluster, JobId id, MilliGpu given,
                                                TimePoint now) {
    const Job& job = cluster.job(id);
    const model::Tiers& rules = cluster.tiers().rules;
    const std::int64_t held = held_milli(job);
    const bool may_change = job.preemptible && (has_turn(job) || job.tier + 1 < rules.count);
    if (held == 0 || !may_change) return {};
    const std::int64_t before = (held - given.value) * (now - job.attained.counted).count() / 1000;
    const std::int64_t end = has_turn(job) ? job.attained.turn_gpu_ms : end_of(rules, job.tier);
    return now + time_to(end - job.attained.gpu_ms - before, held);
}

}  // namespace berth::cluster
