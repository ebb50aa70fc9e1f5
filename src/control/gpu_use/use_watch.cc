// SPDX-License-Identifier: Apache-2.0
#include "control/gpu_use/use_watch.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <optional>
#include <tuple>
#include <utility>

namespace berth::control {
namespace {

constexpr base::Duration kUnseen{60'000};
constexpr std::int64_t kPerMille = 1'000;

// What is known of GPUs: how busy each is, and how much of it those have that share it, in
// thousandths.
class Sample {
  public:
    Sample(const GpuLoads& loads, std::span<const ports::ShareUse> uses,
           const cluster::Cluster& cluster)
        : loads_(cluster.nodes().size()) {
        for (const auto& [name, of_node] : loads) {
            const base::NodeId node = cluster.find_node(name);
            if (node.is_valid()) loads_[node.index()] = &of_node;
        }
        for (const ports::ShareUse& use : uses) {
            if (!use.compute) continue;
            shares_[{cluster.find_node(use.node), use.index, use.job}] = use.compute->value;
        }
    }

    // None where it was not measured.
    std::optional<std::int64_t> busy(const model::TaskPlacement& task, int gpu,
                                     const model::JobRecord& job) const {
        const bool shares = task.share < base::kWholeGpu;  // also where it asked for a whole one
        const auto share = shares_.find({task.node, gpu, job.id});
        if (shares && share != shares_.end()) {
            return std::min(share->second * kPerMille / task.share.value, kPerMille);
        }
        const std::vector<int>* const loads = loads_[task.node.index()];
        if (loads == nullptr || std::cmp_greater_equal(gpu, loads->size())) return std::nullopt;
        const int percent = (*loads)[static_cast<std::size_t>(gpu)];
        // One that others use as well may be busy with their work.
        if (percent < 0 || (shares && percent > 0)) return std::nullopt;
        return std::min<std::int64_t>(percent * 10, kPerMille);
    }

  private:
    std::vector<const std::vector<int>*> loads_;  // by node
    std::map<std::tuple<base::NodeId, int, model::JobId>, std::int64_t> shares_;
};

// The mean of its GPUs, in thousandths; none where one was not measured. One that does anything is
// not idle, however little it is.
std::optional<std::int64_t> busy(const model::JobRecord& job, const Sample& sample) {
    std::int64_t sum = 0;
    std::int64_t gpus = 0;
    for (const model::TaskPlacement& task : job.tasks) {
        for (std::uint64_t mask = task.gpu_mask; mask != 0; mask &= mask - 1) {
            const auto seen = sample.busy(task, std::countr_zero(mask), job);
            if (!seen) return std::nullopt;
            sum += *seen;
            ++gpus;
        }
    }
    if (gpus == 0) return std::nullopt;
    return (sum + gpus - 1) / gpus;
}

}  // namespace

GpuLoads gpu_loads(std::span<const ports::GpuReading> readings) {
    GpuLoads loads;
    for (const ports::GpuReading& reading : readings) {
        if (reading.utilization_percent < 0) continue;
        std::vector<int>& of_node = loads[reading.node];
        const auto gpu = static_cast<std::size_t>(reading.index);
        if (of_node.size() <= gpu) of_node.resize(gpu + 1, -1);
        of_node[gpu] = reading.utilization_percent;
    }
    return loads;
}

std::vector<UseSeen> UseWatch::hear(const GpuLoads& loads, std::span<const ports::ShareUse> uses,
                                    const lifecycle::State& state, model::TimePoint now) {
    const Sample sample(loads, uses, state.cluster);
    std::vector<UseSeen> heard;
    const auto before = std::exchange(known_, {});
    for (const auto& [id, job] : state.jobs) {
        if (job.state != model::JobState::Running) continue;
        const auto part = busy(job, sample);
        if (!part) continue;
        const ports::AttemptId attempt{id, job.attempts};
        const auto last = before.find(attempt);
        const bool is_new = last == before.end() || now - last->second.seen > kUnseen;
        const Known known{now, *part > 0 || is_new ? now : last->second.idle_since};
        known_.emplace_hint(known_.end(), attempt, known);
        const base::Duration measured = is_new ? base::Duration{0} : now - last->second.seen;
        heard.push_back({attempt, now - known.idle_since, measured * *part / kPerMille, measured});
    }
    return heard;
}

}  // namespace berth::control
