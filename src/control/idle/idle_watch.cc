// SPDX-License-Identifier: Apache-2.0
#include "control/idle/idle_watch.h"

#include <bit>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace berth::control {
namespace {

using GpuPlace = BusyGpus::key_type;

// What is known of GPUs: whether each does something, and whether jobs that share it do.
class Sample {
  public:
    Sample(const BusyGpus& gpus, std::span<const ports::ShareUse> uses) : gpus_(gpus) {
        for (const ports::ShareUse& use : uses) {
            if (use.compute)
                shares_[{{use.node, use.index}, use.job}] = *use.compute > base::MilliGpu{0};
        }
    }

    // None where it was not measured.
    std::optional<bool> is_busy(const GpuPlace& gpu, model::JobId job, bool shares) const {
        const auto share = shares_.find({gpu, job});
        if (shares && share != shares_.end()) return share->second;
        const auto whole = gpus_.find(gpu);
        if (whole == gpus_.end()) return std::nullopt;
        // One that others use as well may be busy with their work.
        if (shares && whole->second) return std::nullopt;
        return whole->second;
    }

  private:
    const BusyGpus& gpus_;
    std::map<std::pair<GpuPlace, model::JobId>, bool> shares_;
};

// None where it was not measured.
std::optional<bool> is_busy(const model::JobRecord& job, const Sample& sample,
                            const cluster::Cluster& cluster) {
    std::optional<bool> busy;
    for (const model::TaskPlacement& task : job.tasks) {
        for (std::uint64_t mask = task.gpu_mask; mask != 0; mask &= mask - 1) {
            const GpuPlace gpu{cluster.node_name(task.node), std::countr_zero(mask)};
            const auto seen = sample.is_busy(gpu, job.id, !job.spec.request.is_whole());
            if (!seen) return std::nullopt;
            busy = busy.value_or(false) || *seen;
        }
    }
    return busy;
}

}  // namespace

BusyGpus busy_gpus(std::span<const ports::GpuReading> readings) {
    BusyGpus gpus;
    for (const ports::GpuReading& reading : readings) {
        if (reading.utilization_percent >= 0)
            gpus[{reading.node, reading.index}] = reading.utilization_percent > 0;
    }
    return gpus;
}

std::vector<std::pair<ports::AttemptId, base::Duration>> IdleWatch::hear(
    const BusyGpus& gpus, std::span<const ports::ShareUse> uses, const lifecycle::State& state,
    model::TimePoint now) {
    const Sample sample(gpus, uses);
    std::vector<std::pair<ports::AttemptId, base::Duration>> heard;
    auto before = std::exchange(since_, {});
    for (const auto& [id, job] : state.jobs) {
        if (job.state != model::JobState::Running) continue;
        const auto busy = is_busy(job, sample, state.cluster);
        if (!busy) continue;
        const ports::AttemptId attempt{id, job.attempts};
        const auto known = before.find(attempt);
        const model::TimePoint since = *busy || known == before.end() ? now : known->second;
        since_[attempt] = since;
        // Of one that does nothing since this sample there is nothing to say yet.
        if (*busy ? job.idle.has_value() : since < now) heard.emplace_back(attempt, now - since);
    }
    return heard;
}

}  // namespace berth::control
