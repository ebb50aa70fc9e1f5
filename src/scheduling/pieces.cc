// SPDX-License-Identifier: Apache-2.0
#include "scheduling/pieces.h"

#include <algorithm>
#include <bit>
#include <functional>

#include "base/gpu_time.h"
#include "scheduling/reclaim.h"

namespace berth::scheduling {
namespace {

using cluster::LossKey;

// Where nobody may be taken, looking for a few pieces ends after so many jobs.
constexpr int kJobsLookedAt = 128;

// Ids that follow each other stand far apart: 2^64 over the golden ratio.
std::uint64_t hash(JobId job) {
    return static_cast<std::uint64_t>(job.value) * 0x9e3779b97f4a7c15U;
}

}  // namespace

int Piece::gpus_on(NodeId node) const {
    int there = 0;
    for (const model::TaskPlacement& task : tasks) {
        if (task.node == node) there += std::popcount(task.gpu_mask);
    }
    return there;
}

bool Piece::is_on(NodeId node) const {
    return std::ranges::find(tasks, node, &model::TaskPlacement::node) != tasks.end();
}

cluster::VictimKey Piece::key() const { return {precedence, stage, created, job}; }

model::PauseCost Piece::cost_at(TimePoint time) const {
    if (is_fresh) return {};
    return {cluster::unsaved_gpu_ms(stopped, last_saved, time), restart_gpu_ms};
}

model::PauseCost pause_cost(const cluster::Job& job, MilliGpu gpus, TimePoint now) {
    return {cluster::unsaved_gpu_ms(gpus, job.last_saved, now),
            base::gpu_ms(gpus, job.restart_cost)};
}

// Unless it binds everybody, the minimum run binds a project that wants more than its quota, never
// an owner who wants back what is his; inside a project it binds batch work, never interactive.
Terms terms_of(const PoolView& view, const Beneficiary& beneficiary) {
    const cluster::Job& job = beneficiary.job;
    const bool binds_all = view.policy.min_run_binds_all;
    if (beneficiary.rule == model::Rule::Preempt) {
        const bool counts =
            !has_ranks(view.cluster, job.project) || are_minimum_runs_stated(view.cluster);
        const bool binds = counts && (binds_all || job.preemptible);
        return {true, job.project, job.precedence_in_line(), binds};
    }
    const bool is_owner = is_within_quota(view, job.project, beneficiary.amount);
    return {false, job.project, {}, binds_all || !is_owner};
}

void PieceTable::open(const PoolView& view) {
    view_ = &view;
    project_says_ = has_minimum_runs(view.cluster);
    pieces_.clear();
    is_gone_.clear();
    of_job_.clear();
    cuts_used_ = 0;
    ++opened_;
    on_node_.resize(view.cluster.nodes().size());
    positions_.clear();
    prices_.resize(view.cluster.projects().size());
    for (auto& of_project : prices_) {
        for (Prices& prices : of_project) prices.terms.reset();
    }
}

PieceTable::Range PieceTable::of(JobId id) {
    const std::uint32_t known =
        of_job_.find(hash(id), [&](std::uint32_t first) { return pieces_[first].job == id; });
    if (known != cluster::HashIndex::kNone) {
        return {known, known + pieces_[known].count};
    }
    const cluster::Job& job = view_->cluster.job(id);
    const bool is_seen = job.is_victim() && job.pool == view_->pool && !has(view_->unseen, id);
    if (!is_seen) return {};
    if (cuts_used_ == cuts_.size()) cuts_.emplace_back();
    Cut& cut = cuts_[cuts_used_++];
    cut.units = cluster::units_of(view_->cluster.shape(job.shape), job);
    cut.ranks.clear();
    for (const model::TaskPlacement& task : cut.units.tasks) cut.ranks.push_back(task.task);
    const std::size_t first = pieces_.size();
    for (std::size_t unit = 0; unit < cut.units.count(); ++unit) {
        pieces_.push_back(piece_of(job, cut, unit));
    }
    is_gone_.resize(pieces_.size());
    of_job_.insert(static_cast<std::uint32_t>(first),
                   [&](std::uint32_t position) { return hash(pieces_[position].job); });
    return {first, pieces_.size()};
}

std::span<const std::size_t> PieceTable::on(NodeId node) {
    OnNode& known = on_node_[node.index()];
    if (known.opened != opened_) {
        known = {opened_, positions_.size(), 0};
        const std::span<const JobId> jobs = view_->cluster.jobs_on(node);
        for (std::size_t i = 0; i < jobs.size(); ++i) {
            const auto before = jobs.first(i);
            if (std::ranges::find(before, jobs[i]) != before.end()) continue;
            const Range pieces = of(jobs[i]);
            for (std::size_t at = pieces.first; at < pieces.end; ++at) {
                if (pieces_[at].is_on(node)) positions_.push_back(at);
            }
        }
        known.count = positions_.size() - known.first;
    }
    return std::span(positions_).subspan(known.first, known.count);
}

Piece PieceTable::piece_of(const cluster::Job& job, const Cut& cut, std::size_t unit) const {
    Piece piece;
    piece.job = job.id;
    piece.project = job.project;
    piece.precedence = job.precedence();
    piece.count = static_cast<std::uint32_t>(cut.units.count());
    piece.stage = job.stage();
    piece.created = job.created;
    piece.tasks = cut.units[unit];
    piece.ranks = std::span(cut.ranks).subspan(unit, piece.tasks.size());
    piece.takes_whole_job = unit + piece.tasks.size() == cut.units.tasks.size();
    piece.takes_core = piece.takes_whole_job || job.elastic == model::Elastic::Restart;
    piece.is_fresh = has(view_->fresh, job.id);
    piece.protected_until =
        scheduling::protected_until(*view_, job, model::Rule::Preempt, job.project);
    for (const model::TaskPlacement& task : piece.tasks) piece.gpus += view_->cluster.counted(task);
    piece.stopped = cluster::stopped_by(job, cut.units, unit);
    piece.last_saved = job.last_saved;
    piece.restart_gpu_ms = base::gpu_ms(piece.stopped, job.restart_cost);
    return piece;
}

std::size_t PieceTable::first_of_job(std::size_t piece) const {
    while (piece > 0 && is_of_same_job(piece, piece - 1) && !is_gone_[piece - 1]) --piece;
    return piece;
}

bool PieceTable::is_of_same_job(std::size_t piece, std::size_t other) const {
    return other < pieces_.size() && pieces_[other].job == pieces_[piece].job;
}

bool PieceTable::comes_before(std::size_t piece, std::size_t other) const {
    const Piece& left = pieces_[piece];
    const Piece& right = pieces_[other];
    if (left.project != right.project) return left.project < right.project;
    return left.job == right.job ? piece < other : left.key() < right.key();
}

bool PieceTable::allows(const Terms& terms, std::size_t position) const {
    const Piece& piece = pieces_[position];
    if (is_gone_[position] || is_protected(terms, piece)) return false;
    if (has(view_->spared, piece.job)) return false;
    const bool keeps = terms.minimum_run || is_by_rank(terms);
    if (keeps && is_honoured(piece, terms.rule(), terms.project)) return false;
    return !terms.from_own ||
           (piece.project == terms.project && piece.precedence < terms.precedence);
}

Choice PieceTable::allowed(const Terms& terms, std::span<const ProjectId> projects) {
    Choice found;
    gather(terms, projects, found, [](int) { return false; });
    return found;
}

std::optional<Choice> PieceTable::few_allowed(const Terms& terms,
                                              std::span<const ProjectId> projects,
                                              std::size_t most) {
    if (std::cmp_greater(jobs_allowed(terms, projects), most)) return {};
    Choice found;
    const auto are_many = [&](int jobs) { return found.size() > most || jobs > kJobsLookedAt; };
    if (!gather(terms, projects, found, are_many)) return {};
    return found;
}

bool PieceTable::gather(const Terms& terms, std::span<const ProjectId> projects, Choice& found,
                        auto&& is_enough) {
    int jobs = 0;
    for (const ProjectId project : projects) {
        for (const cluster::VictimKey& key : view_->claim(project).victims) {
            if (terms.from_own && !(key.precedence < terms.precedence)) break;
            const Range pieces = of(key.job);
            for (std::size_t at = pieces.first; at < pieces.end; ++at) {
                if (allows(terms, at)) found.push_back(at);
            }
            if (is_enough(++jobs)) return false;
        }
    }
    return true;
}

// At least: without those that start or grow in this decision.
int PieceTable::jobs_allowed(const Terms& terms, std::span<const ProjectId> projects) const {
    if (terms.from_own) return 0;
    int jobs = 0;
    for (const ProjectId project : projects) {
        const cluster::Losses& losses = view_->claim(project).losses;
        if (terms.minimum_run && !leaves_out_protected(terms, project)) return 0;
        jobs += terms.minimum_run ? losses.jobs - losses.protected_jobs : losses.jobs;
    }
    for (const JobSet* set : {view_->honoured, view_->unseen, view_->spared}) {
        if (set != nullptr) jobs -= static_cast<int>(set->size());
    }
    return jobs;
}

MilliGpu PieceTable::most_allowed(const Terms& terms, ProjectId project) const {
    const cluster::Claim& claim = view_->claim(project);
    const MilliGpu all = claim.usage.allocated - claim.usage.not_preemptible;
    return leaves_out_protected(terms, project) ? all - claim.losses.protected_gpus : all;
}

// As long as the cluster's own account of what is protected tells all there is to it.
bool PieceTable::leaves_out_protected(const Terms& terms, ProjectId project) const {
    const auto& ends = view_->claim(project).losses.protected_until;
    return terms.minimum_run && !asks_who(terms) &&
           (ends.empty() || ends.front().first > view_->now);
}

std::optional<TimePoint> PieceTable::protected_until(const Terms& terms, ProjectId project) const {
    if (!terms.minimum_run) return {};
    const cluster::Claim& claim = view_->claim(project);
    if (leaves_out_protected(terms, project)) {
        for (const auto& [until, id] : claim.losses.protected_until) {
            const bool is_lower = view_->cluster.job(id).precedence() < terms.precedence;
            if (!terms.from_own || is_lower) return until;
        }
        return {};
    }
    std::optional<TimePoint> first;
    for (const cluster::VictimKey& key : claim.victims) {
        if (terms.from_own && !(key.precedence < terms.precedence)) break;
        const TimePoint until = protected_until(terms, view_->cluster.job(key.job));
        if (until > view_->now) first = std::min(first.value_or(until), until);
    }
    return first;
}

// Others were paused for it, so its minimum run begins as soon as it starts.
bool PieceTable::is_honoured(const Piece& piece, model::Rule rule, ProjectId asking) const {
    if (!piece.takes_core || !has(view_->honoured, piece.job)) return false;
    const cluster::Job& job = view_->cluster.job(piece.job);
    return scheduling::protected_until(*view_, job, rule, asking) > job.last_start;
}

TimePoint PieceTable::protected_until(const Terms& terms, const cluster::Job& job) const {
    return (is_by_rank(terms) ? scheduling::protected_by_statement : scheduling::protected_until)(
        *view_, job, terms.rule(), terms.project);
}

// The minimum run is the core's; surplus was lent for as long as it idled, unless taking it stops
// the core as well.
bool PieceTable::is_protected(const Terms& terms, const Piece& piece) const {
    if (!terms.minimum_run || !piece.takes_core || piece.is_fresh) return false;
    return (asks_who(terms) ? protected_until(terms, view_->cluster.job(piece.job))
                            : piece.protected_until) > view_->now;
}

std::int64_t PieceTable::own_cost(const Piece& piece) const {
    const model::PauseCost cost = piece.cost_at(view_->now);
    return cost.unsaved_gpu_ms + cost.restart_gpu_ms;
}

std::int64_t PieceTable::lost(const Terms& terms, std::size_t position,
                              std::optional<std::int64_t> takes_back) {
    const Piece& piece = pieces_[position];
    if (piece.is_fresh) return 0;
    if (takes_back && piece.gpus > MilliGpu{0}) return own_cost(piece) + *takes_back;
    return own_cost(piece) + below(prices(terms, piece.project), piece.precedence);
}

std::int64_t PieceTable::least_lost(const Terms& terms, ProjectId project, const LossKey& next,
                                    std::optional<std::int64_t> takes_back) {
    const std::int64_t own =
        cluster::unsaved_gpu_ms(next.stopped, next.last_saved, view_->now) + next.restart_gpu_ms;
    if (takes_back && next.gpus > MilliGpu{0}) return own + *takes_back;
    return own + below(prices(terms, project), next.precedence);
}

std::optional<std::int64_t> PieceTable::least_lost(const Terms& terms, ProjectId project) {
    std::optional<std::int64_t> least;
    const Prices& prices = this->prices(terms, project);
    for (const Rung& rung : prices.rungs) {
        const std::int64_t lost = rung.least + below(prices, rung.precedence);
        least = std::min(least.value_or(lost), lost);
    }
    return least;
}

std::int64_t PieceTable::below(const Prices& prices, const cluster::Precedence& precedence) {
    const auto at = std::ranges::lower_bound(prices.rungs, precedence, {}, &Rung::precedence);
    return at == prices.rungs.begin() ? 0 : std::prev(at)->up_to;
}

std::span<const PieceTable::Group> PieceTable::groups(const Terms& terms, ProjectId project) {
    const std::vector<Group>& groups = prices(terms, project).groups;
    if (!terms.from_own) return groups;
    const auto end = std::ranges::lower_bound(
        groups, terms.precedence, {}, [](const Group& group) { return group.like.precedence; });
    return {groups.begin(), end};
}

PieceTable::Prices& PieceTable::prices(const Terms& terms, ProjectId project) {
    // Where it does not matter who asks, they are the same for all.
    Terms asked = terms;
    if (!asks_who(terms)) asked = {false, {}, {}, terms.minimum_run};
    Prices& prices = prices_[project.index()][terms.minimum_run ? 1 : 0];
    if (prices.terms != asked) {
        prices.terms = asked;
        prices.are_current = false;
        prices.rungs.clear();
        find_groups(prices, project);
    }
    if (!prices.are_current) bring_up_to_date(prices);
    return prices;
}

void PieceTable::find_groups(Prices& prices, ProjectId project) const {
    prices.groups.clear();
    const auto& losses = view_->claim(project).losses.cheapest_first;
    const bool are_left_out = losses[1].empty() || leaves_out_protected(*prices.terms, project);
    const std::size_t lists = are_left_out ? 1 : losses.size();
    for (const auto& all : std::span(losses).first(lists)) {
        for (auto at = all.begin(); at != all.end();) {
            prices.groups.push_back({&all, at, *at});
            at = all.from(at->last_like());
        }
    }
    if (lists > 1) std::ranges::sort(prices.groups, std::less{}, &Group::like);
}

void PieceTable::bring_up_to_date(Prices& prices) {
    std::vector<Rung>& rungs = prices.rungs;
    const bool had_any = !rungs.empty();
    const std::size_t before = rungs.size();
    rungs.clear();
    for (Group& group : prices.groups) {
        std::optional<std::int64_t> least;
        for (; !group.is_over(); ++group.at) {
            least = least_left(*prices.terms, *group.at);
            if (least) break;
        }
        if (!least) continue;
        if (rungs.empty() || rungs.back().precedence != group.like.precedence) {
            rungs.push_back({group.like.precedence, *least, 0});
        }
        rungs.back().least = std::min(rungs.back().least, *least);
    }
    for (std::size_t at = 0; at < rungs.size(); ++at) {
        rungs[at].up_to =
            at == 0 ? rungs[at].least : std::min(rungs[at - 1].up_to, rungs[at].least);
    }
    prices.are_current = true;
    if (had_any && rungs.size() < before) ++prices.falls;
}

// Of what is left of the job; nothing where nobody on these terms may take any of it. Jobs that
// start in this decision lose nothing, and nobody comes back by preempting them.
std::optional<std::int64_t> PieceTable::least_left(const Terms& terms, const LossKey& next) {
    const Range pieces = of(next.job);
    std::optional<std::int64_t> least;
    for (std::size_t at = pieces.first; at < pieces.end; ++at) {
        const Piece& piece = pieces_[at];
        const bool is_kept =
            terms.minimum_run &&
            (is_protected(terms, piece) || is_honoured(piece, model::Rule::Preempt, piece.project));
        if (is_gone_[at] || is_kept || piece.is_fresh) continue;
        const std::int64_t cost = own_cost(piece);
        least = std::min(least.value_or(cost), cost);
    }
    return least;
}

void PieceTable::strike_out(std::size_t position) {
    is_gone_[position] = true;
    for (Prices& prices : prices_[pieces_[position].project.index()]) prices.are_current = false;
}

}  // namespace berth::scheduling
