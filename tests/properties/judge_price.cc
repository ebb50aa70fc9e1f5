// SPDX-License-Identifier: Apache-2.0
//
// What does it cost to pause some pieces, that included which their jobs destroy by coming back?
#include <algorithm>

#include "judge.h"

namespace berth::proof {

std::string text_of(const Price& price) {
    return std::to_string(price.cost) + ", " + std::to_string(price.stopped) + " jobs stopped, " +
           std::to_string(price.jobs) + " touched";
}

// What a job destroys that comes back by preempting cheaper work of lower priority in its project.
std::int64_t Judge::cheapest_below(const std::vector<JudgedPiece>& all,
                                   const JudgedPiece& piece) const {
    std::optional<std::int64_t> below;
    for (const JudgedPiece& other : all) {
        if (other.project != piece.project || other.priority_key >= piece.priority_key) continue;
        if (fresh_.contains(other.job) || other.is_kept) continue;
        below = std::min(below.value_or(other.expected_cost), other.expected_cost);
    }
    return below.value_or(0);
}

std::optional<std::int64_t> Judge::least_lost(const std::vector<JudgedPiece>& pieces,
                                              ProjectId project) const {
    std::optional<std::int64_t> least;
    for (const JudgedPiece& piece : pieces) {
        const bool counts =
            piece.project == project && !fresh_.contains(piece.job) && !piece.is_kept;
        if (!counts) continue;
        const std::int64_t lost = piece.expected_cost + cheapest_below(pieces, piece);
        least = std::min(least.value_or(lost), lost);
    }
    return least;
}

Judge::Comebacks Judge::comebacks(const Room& before, const Want& want) const {
    Comebacks found;
    if (want.rule == model::Rule::Preempt) return found;
    for (const auto& [id, job] : cluster_.jobs()) {
        const std::size_t project = job.project.index();
        const bool asks_again = before.allocated[project] > 0 && job.project != want.job->project &&
                                before.allocated[project] <= shares_.fair[project];
        if (!asks_again || found.contains(job.project)) continue;
        // It holds as much again then as it does now, so whatever it asks is this much.
        const Want back{&job, 1, 1, model::Rule::Reclaim};
        const std::vector<ProjectId> asking = path(job.project);
        const std::vector<JudgedPiece> others = pieces(back);
        for (const JudgedPiece& piece : others) {
            std::vector<ProjectId> losing = path(piece.project);
            // Upwards from the top: what both stand below is no side.
            while (std::ranges::find(asking, losing.back()) != asking.end()) losing.pop_back();
            const std::size_t side = losing.back().index();
            const bool is_third = piece.project != want.job->project;
            if (!is_third || before.allocated[side] <= shares_.allocatable[side]) continue;
            if (const auto lost = least_lost(others, piece.project)) {
                const auto [known, is_new] = found.emplace(job.project, *lost);
                known->second = std::min(known->second, *lost);
            }
        }
    }
    return found;
}

// Lost work, with that which a victim destroys by coming back (scheduling/victims/unit_prices.h).
Price Judge::price(const std::vector<JudgedPiece>& taken, const std::vector<JudgedPiece>& all,
                   const Comebacks& comebacks) const {
    Price price;
    std::set<JobId> jobs;
    for (const JudgedPiece& piece : taken) {
        price.cost += piece.expected_cost;
        price.stopped += piece.is_last ? 1 : 0;
        jobs.insert(piece.job);
        if (fresh_.contains(piece.job)) continue;
        const auto back = comebacks.find(piece.project);
        const bool asks_again = back != comebacks.end() && piece.gpus > 0;
        price.cost += asks_again ? back->second : cheapest_below(all, piece);
    }
    price.jobs = static_cast<int>(jobs.size());
    return price;
}

}  // namespace berth::proof
