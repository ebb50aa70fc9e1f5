// SPDX-License-Identifier: Apache-2.0
#include "cluster/jobs/units.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <tuple>

#include "base/gpu_time.h"
#include "cluster/gang.h"

namespace berth::cluster {
namespace {

MilliGpu gpus_of(std::span<const TaskPlacement> tasks) {
    MilliGpu total{0};
    for (const TaskPlacement& task : tasks) total += task.gpus();
    return total;
}

// One that is started again for other tasks.
bool stops_already(const Job& job) { return job.is_releasing() || job.fresh_tasks > 0; }

}  // namespace

std::span<const TaskPlacement> Units::operator[](std::size_t unit) const {
    const std::size_t first = first_of(unit);
    return std::span(tasks).subspan(first, unit < elastic ? each : tasks.size() - first);
}

void find_units(const Shape& shape, const Job& job, Units& units) {
    units.tasks.clear();
    for (const PlacedTask& task : job.placed) {
        if (!task.is_releasing) units.tasks.push_back(task.place);
    }
    if (units.tasks.size() > 1) {
        std::ranges::sort(units.tasks, std::greater{}, &TaskPlacement::task);
    }
    units.each = static_cast<std::size_t>(job.grows_by);
    units.elastic = spare_first(shape, job.core_tasks(), units.tasks) / units.each;
}

MilliGpu stopped_by(const Job& job, const Units& units, std::size_t unit) {
    if (job.elastic != model::Elastic::Restart) return gpus_of(units[unit]);
    return unit == 0 && !stops_already(job) ? gpus_of(units.tasks) : MilliGpu{0};
}

bool LossKey::operator<(const LossKey& other) const {
    const auto order =
        std::tie(priority_key, gpus, stopped, restart_gpu_ms, other.loses_from, other.job) <=>
        std::tie(other.priority_key, other.gpus, other.stopped, other.restart_gpu_ms, loses_from,
                 job);
    return order < 0;
}

bool LossKey::is_alike(const LossKey& other) const {
    return std::tie(priority_key, gpus, stopped, restart_gpu_ms) ==
           std::tie(other.priority_key, other.gpus, other.stopped, other.restart_gpu_ms);
}

LossKey LossKey::last_like() const {
    LossKey last = *this;
    last.loses_from = TimePoint::min();
    last.job = {std::numeric_limits<JobId::Rep>::min()};
    return last;
}

LossKey loss_key(const Shape& shape, const Job& job) {
    LossKey key{.priority_key = job.priority_key(), .loses_from = job.loses_from(), .job = job.id};
    if (shape.groups.empty() && job.active <= job.core_tasks()) {  // most jobs: one unit
        key.gpus = job.in_use(Job::Leaving::Ignored);
        const bool stops_anyway = job.elastic == model::Elastic::Restart && stops_already(job);
        key.stopped = stops_anyway ? MilliGpu{0} : key.gpus;
    } else {
        Units units;
        find_units(shape, job, units);
        key.gpus = gpus_of(units[0]);
        key.stopped = stopped_by(job, units, 0);
        key.is_protectable = units.elastic == 0 || job.elastic == model::Elastic::Restart;
    }
    key.restart_gpu_ms = base::gpu_ms(key.stopped, job.restart_cost);
    return key;
}

std::int64_t unsaved_gpu_ms(MilliGpu gpus, TimePoint since, TimePoint now) {
    return base::gpu_ms(gpus, std::max(now - since, model::Duration{0}));
}

}  // namespace berth::cluster
