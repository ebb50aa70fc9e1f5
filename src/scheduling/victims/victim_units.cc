// SPDX-License-Identifier: Apache-2.0
#include "scheduling/victims/victim_units.h"

#include <algorithm>
#include <bit>
#include <functional>

#include "base/gpu_time.h"
#include "cluster/gang.h"

namespace berth::scheduling {
namespace {

// Where no unit may be taken, looking for a few ends after this many jobs.
constexpr int kJobsLookedAt = 128;

// Without looking at any job; those that start in this decision may be among them or not.
bool are_more(const PoolView& view, const Terms& terms, std::span<const ProjectId> projects,
              std::size_t count_max) {
    int jobs = 0;
    for (const ProjectId project : projects) jobs += jobs_allowed(view, terms, project);
    for (const JobSet* set : {view.started_reserved, view.unseen, view.untouchable}) {
        if (set != nullptr) jobs -= static_cast<int>(set->size());
    }
    return std::cmp_greater(jobs, count_max);
}

// Ids that follow each other stand far apart: 2^64 over the golden ratio.
std::uint64_t hash(JobId job) {
    return static_cast<std::uint64_t>(job.value) * 0x9e3779b97f4a7c15U;
}

}  // namespace

int VictimUnit::gpus_on(NodeId node) const {
    int there = 0;
    for (const model::TaskPlacement& task : tasks) {
        if (task.node == node) there += std::popcount(task.gpu_mask);
    }
    return there;
}

bool VictimUnit::is_on(NodeId node) const {
    return std::ranges::find(tasks, node, &model::TaskPlacement::node) != tasks.end();
}

cluster::VictimKey VictimUnit::key() const { return {priority_key, gang_phase, created, job}; }

model::PauseCost VictimUnit::cost_at(TimePoint time) const {
    if (is_started_now) return {};
    return {cluster::unsaved_gpu_ms(stopped, last_saved, time), restart_gpu_ms};
}

std::int64_t VictimUnit::price_at(TimePoint time) const {
    if (is_started_now) return 0;
    return cluster::unsaved_gpu_ms(stopped, loses_from, time) + restart_gpu_ms;
}

model::PauseCost pause_cost(const cluster::Job& job, MilliGpu gpus, TimePoint now) {
    return {cluster::unsaved_gpu_ms(gpus, job.last_saved, now),
            base::gpu_ms(gpus, job.restart_cost)};
}

std::int64_t pause_price(const cluster::Job& job, MilliGpu gpus, TimePoint now) {
    return cluster::unsaved_gpu_ms(gpus, job.loses_from(), now) +
           base::gpu_ms(gpus, job.restart_cost);
}

void VictimUnits::open(const PoolView& view) {
    view_ = &view;
    units_.clear();
    is_taken_.clear();
    job_units_used_ = 0;
    of_job_.clear();
    ++opened_;
    on_node_.resize(view.cluster.nodes().size());
    positions_.clear();
}

std::uint32_t VictimUnits::first_of(JobId id) const {
    return of_job_.find(hash(id), [&](std::uint32_t first) { return units_[first].job == id; });
}

VictimUnits::Range VictimUnits::units_of(JobId id) {
    if (const std::uint32_t known = first_of(id); known != cluster::HashIndex::kNone) {
        return {known, known + units_[known].count};
    }
    const cluster::Job& job = view_->cluster.job(id);
    const bool is_seen = job.is_victim() && job.pool == view_->pool && !has(view_->unseen, id);
    if (!is_seen) return {};
    if (job_units_used_ == job_units_.size()) job_units_.emplace_back();
    JobUnits& job_units = job_units_[job_units_used_++];
    cluster::find_units(view_->cluster.shape(job.shape), job, job_units.units);
    job_units.ranks.clear();
    for (const model::TaskPlacement& task : job_units.units.tasks)
        job_units.ranks.push_back(task.task);
    const std::size_t first = units_.size();
    for (std::size_t unit = 0; unit < job_units.units.count(); ++unit) {
        units_.push_back(unit_of(job, job_units, unit));
    }
    is_taken_.resize(units_.size());
    of_job_.insert(static_cast<std::uint32_t>(first),
                   [&](std::uint32_t position) { return hash(units_[position].job); });
    return {first, units_.size()};
}

std::span<const std::size_t> VictimUnits::on(NodeId node) {
    OnNode& known = on_node_[node.index()];
    if (known.opened != opened_) {
        known = {opened_, positions_.size(), 0};
        visit_jobs_on(view_->cluster, node, [&](JobId job) {
            const Range units = units_of(job);
            for (std::size_t at = units.first; at < units.end; ++at) {
                if (units_[at].is_on(node)) positions_.push_back(at);
            }
        });
        known.count = positions_.size() - known.first;
    }
    return std::span(positions_).subspan(known.first, known.count);
}

VictimUnit VictimUnits::unit_of(const cluster::Job& job, const JobUnits& job_units,
                                std::size_t number) const {
    VictimUnit unit;
    unit.job = job.id;
    unit.project = job.project;
    unit.priority_key = job.priority_key();
    unit.count = static_cast<std::uint32_t>(job_units.units.count());
    unit.gang_phase = job.gang_phase();
    unit.created = job.created;
    unit.tasks = job_units.units[number];
    if (unit.count > 1) unit.part_of = job.id;
    const std::size_t first = job_units.units.first_of(number);
    unit.ranks = std::span(job_units.ranks).subspan(first, unit.tasks.size());
    unit.takes_whole_job = first + unit.tasks.size() == job_units.units.tasks.size();
    unit.is_protectable = unit.takes_whole_job || job.elastic == model::Elastic::Restart;
    unit.is_started_now = has(view_->started_now, job.id);
    unit.protected_until =
        scheduling::protected_until(*view_, job, model::Rule::Preempt, job.project);
    const bool has_gpus = view_->cluster.shape(job.shape).request.gpus > 0;
    for (const model::TaskPlacement& task : unit.tasks) {
        unit.gpus += view_->cluster.counted(task);
        if (!has_gpus) unit.host += cluster::stated_by(view_->cluster, job, task.task);
    }
    unit.stopped = cluster::stopped_by(job, job_units.units, number);
    unit.last_saved = job.last_saved;
    unit.loses_from = job.loses_from();
    unit.restart_gpu_ms = base::gpu_ms(unit.stopped, job.restart_cost);
    return unit;
}

std::size_t VictimUnits::first_of_job(std::size_t unit) const {
    while (unit > 0 && is_of_same_job(unit, unit - 1) && !is_taken_[unit - 1]) --unit;
    return unit;
}

bool VictimUnits::is_of_same_job(std::size_t unit, std::size_t other) const {
    return other < units_.size() && units_[other].job == units_[unit].job;
}

bool VictimUnits::comes_before(std::size_t unit, std::size_t other) const {
    const VictimUnit& left = units_[unit];
    const VictimUnit& right = units_[other];
    if (left.project != right.project) return left.project < right.project;
    return left.job == right.job ? unit < other : left.key() < right.key();
}

void VictimUnits::take_all(JobId job) {
    const Range units = units_of(job);
    for (std::size_t at = units.first; at < units.end; ++at) take(at);
}

bool VictimUnits::allows_any(const Terms& terms, JobId job, bool is_listed_as_protected) {
    const bool is_protected_perhaps =
        terms.minimum_run && (terms.asks_who || is_listed_as_protected);
    const bool is_allowed_anyway = !is_protected_perhaps && !terms.later_than;
    if (!is_cut(job) && is_allowed_anyway) {
        return !has(view_->moved, job) && !has(view_->untouchable, job);
    }
    const Range units = units_of(job);
    for (std::size_t at = units.first; at < units.end; ++at) {
        if (allows(terms, at)) return true;
    }
    return false;
}

Choice VictimUnits::allowed(const Terms& terms, std::span<const ProjectId> projects) {
    Choice found;
    gather(terms, projects, found, [](int) { return false; });
    return found;
}

std::optional<Choice> VictimUnits::few_allowed(const Terms& terms,
                                               std::span<const ProjectId> projects,
                                               std::size_t count_max) {
    if (are_more(*view_, terms, projects, count_max)) return {};
    Choice found;
    const auto are_many = [&](int jobs) {
        return found.size() > count_max || jobs > kJobsLookedAt;
    };
    if (!gather(terms, projects, found, are_many)) return {};
    return found;
}

bool VictimUnits::gather(const Terms& terms, std::span<const ProjectId> projects, Choice& found,
                         auto&& is_enough) {
    int jobs = 0;
    for (const ProjectId project : projects) {
        for (const cluster::VictimKey& key : view_->claim(project).victims) {
            if (!terms.reaches(key.priority_key)) break;
            const Range units = units_of(key.job);
            for (std::size_t at = units.first; at < units.end; ++at) {
                if (allows(terms, at)) found.push_back(at);
            }
            if (is_enough(++jobs)) return false;
        }
    }
    return true;
}

}  // namespace berth::scheduling
