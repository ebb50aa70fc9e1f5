// SPDX-License-Identifier: Apache-2.0
#include "scheduling/pieces.h"

#include <algorithm>
#include <bit>
#include <limits>

namespace berth::scheduling {
namespace {

model::PauseCost cost_of(const PoolView& view, const cluster::Job& job, MilliGpu gpus) {
    if (view.fresh.contains(job.id)) return {};
    const auto unsaved = std::max(view.now - job.last_saved, model::Duration{0});
    return {gpus.value * unsaved.count() / 1000, gpus.value * job.restart_cost.count() / 1000};
}

MilliGpu gpus_of(const model::TaskPlacement& place) {
    return place.share * std::popcount(place.gpu_mask);
}

// The minimum run binds a project that wants more than its quota, never an owner who wants back
// what is his. Inside a project it binds batch work, never interactive work.
bool minimum_run_counts(const PoolView& view, const Beneficiary& beneficiary) {
    if (beneficiary.rule == model::Rule::Preempt) return beneficiary.job.preemptible;
    return !is_within_quota(view, beneficiary.job.project, beneficiary.amount);
}

// The cheapest piece of strictly lower priority, as a project's victims are walked from the
// lowest priority up.
class ReturnCost {
  public:
    std::int64_t at(int priority, std::int64_t cost) {
        if (priority != priority_) {
            below_ = std::min(below_, here_);
            here_ = kNone;
            priority_ = priority;
        }
        here_ = std::min(here_, cost);
        return below_ == kNone ? 0 : below_;
    }

  private:
    static constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::max();
    int priority_ = std::numeric_limits<int>::min();
    std::int64_t here_ = kNone;
    std::int64_t below_ = kNone;
};

}  // namespace

TimePoint protected_until(const model::Policy& policy, const cluster::Job& job) {
    const model::Duration by_cost = job.restart_cost * policy.min_run_restarts;
    return job.last_start + job.min_run.value_or(std::max(policy.min_run, by_cost));
}

std::vector<Piece> pieces_of(const PoolView& view, const cluster::Job& job) {
    std::vector<const model::TaskPlacement*> running;
    for (const cluster::PlacedTask& task : job.placed) {
        if (!task.is_releasing) running.push_back(&task.place);
    }
    std::ranges::sort(running, std::greater{}, &model::TaskPlacement::task);
    std::vector<Piece> pieces;
    const auto add = [&](std::size_t first, std::size_t count) {
        Piece piece{job.id, job.project, {}, {}, {}, first + count == running.size()};
        for (const auto* place : std::span(running).subspan(first, count)) {
            piece.tasks.push_back(*place);
            piece.gpus += gpus_of(*place);
        }
        piece.cost = cost_of(view, job, piece.gpus);
        pieces.push_back(std::move(piece));
    };
    const std::size_t core = std::min(running.size(), static_cast<std::size_t>(job.tasks_min));
    const std::size_t surplus = running.size() - core;
    for (std::size_t i = 0; i < surplus; ++i) add(i, 1);
    if (core > 0) add(surplus, core);
    return pieces;
}

Pieces legal_pieces(const PoolView& view, const Beneficiary& beneficiary,
                    const ReclaimLedger& ledger) {
    Pieces pieces;
    const bool preempts = beneficiary.rule == model::Rule::Preempt;
    const bool minimum_run = minimum_run_counts(view, beneficiary);
    const auto add_from = [&](ProjectId project) {
        ReturnCost below;
        for (const cluster::VictimKey& key : view.claim(project).victims) {
            if (preempts && key.priority >= beneficiary.job.priority) break;
            const cluster::Job& job = view.cluster.job(key.job);
            const bool is_fresh = view.fresh.contains(job.id);
            const TimePoint until = protected_until(view.policy, job);
            const bool is_protected = minimum_run && until > view.now && !is_fresh;
            if (is_protected) {
                pieces.protected_until = std::min(pieces.protected_until.value_or(until), until);
            }
            for (Piece& piece : pieces_of(view, job)) {
                // The minimum run is the core's; surplus was lent for as long as it idled.
                if (is_protected && piece.takes_whole_job) break;
                if (!is_fresh) {
                    piece.return_gpu_ms = below.at(key.priority, piece.cost_gpu_ms());
                }
                pieces.list.push_back(std::move(piece));
            }
        }
    };
    if (preempts) {
        add_from(beneficiary.job.project);
        return pieces;
    }
    for (std::size_t i = 0; i < view.cluster.projects().size(); ++i) {
        const ProjectId project{static_cast<ProjectId::Rep>(i)};
        // The smallest piece decides whether anything at all may be taken from there.
        if (!view.claim(project).victims.empty() && ledger.may_take(project, MilliGpu{1})) {
            add_from(project);
        }
    }
    return pieces;
}

}  // namespace berth::scheduling
