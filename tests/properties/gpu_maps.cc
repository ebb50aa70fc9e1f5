// SPDX-License-Identifier: Apache-2.0
//
// Does the map say of each GPU what the overview and the ledger say of all?
//   gpu_maps [--first SEED] [--seeds N]
// In random lives (random_log.h), after each event: the parts of GPUs that are starting, leaving,
// free and not ready sum to what the overview counts, those of jobs that run to the ledger's; each
// job has on the map what its tasks have. Where programs outside Berth use GPUs beside ours on a
// node that is not ready, which of them are theirs is not known.
#include <algorithm>
#include <bit>
#include <iostream>
#include <map>
#include <string>
#include <vector>

#include "overview/gpu_map.h"
#include "overview/overview.h"
#include "random_log.h"
#include "seeds.h"

namespace {

using namespace berth;
using model::GpuUse;
using overview::GpuMap;

constexpr int kSteps = 80;

// Each part of each GPU, once.
std::vector<overview::GpuPart> parts_of(const GpuMap& map) {
    std::vector<overview::GpuPart> parts;
    std::size_t at = 0;
    for (std::size_t gpu = 0; gpu < map.gpus.size(); ++gpu) {
        const std::size_t first = at;
        for (; at < map.shared.size() && map.shared[at].gpu == gpu; ++at) {
            parts.push_back(map.shared[at].part);
        }
        if (at == first) parts.push_back(map.gpus[gpu]);
    }
    return parts;
}

bool is_overrun(const lifecycle::State& state) {
    const cluster::Cluster& cluster = state.cluster;
    return std::ranges::any_of(cluster.others().unsettled(), [&](base::NodeId node) {
        return !cluster.nodes()[node.index()].is_ready;
    });
}

class Life {
  public:
    Life(std::uint64_t seed, std::map<std::string, int>& met)
        : met_(met), log_(seed, [this](const model::Event& event) { look(event); }) {}

    std::vector<std::string> live() {
        for (int step = 0; step < kSteps && found_.empty(); ++step) log_.go_on();
        return found_;
    }

  private:
    void wanted(std::int64_t found, std::int64_t wanted, const std::string& what) {
        if (found == wanted) return;
        found_.push_back("after event " + std::to_string(sequence_) + ": " + what + " " +
                         std::to_string(found) + ", not " + std::to_string(wanted));
    }

    void look(const model::Event& event) {
        if (!found_.empty()) return;
        sequence_ = event.sequence;
        const lifecycle::State& state = log_.state();
        const GpuMap map = overview::gpu_map_of(state);
        std::map<GpuUse, std::int64_t> sums;
        std::map<model::JobId, std::int64_t> of_jobs;
        for (const overview::GpuPart& part : parts_of(map)) {
            sums[part.use] += part.amount.value;
            ++met_[std::string(model::kGpuUseNames[static_cast<std::size_t>(part.use)])];
            if (part.job.is_valid()) of_jobs[part.job] += part.amount.value;
        }
        if (!map.shared.empty()) ++met_["shared"];
        compare_sums(state, sums);
        for (const auto& [id, record] : state.jobs) {
            std::int64_t milli = 0;
            for (const model::TaskPlacement& task : record.tasks) {
                milli += task.share.value * std::popcount(task.gpu_mask);
            }
            wanted(of_jobs[id], milli, "job " + std::to_string(id.value) + " has");
        }
    }

    void compare_sums(const lifecycle::State& state, std::map<GpuUse, std::int64_t>& sums) {
        const overview::GpuCounts counts = overview::gpu_counts_of(state);
        const model::GpuTimes uses = state.ledger.uses();
        wanted(sums[GpuUse::NotMeasured], uses[GpuUse::NotMeasured], "running");
        wanted(sums[GpuUse::Starting], counts.starting.value, "starting");
        wanted(sums[GpuUse::Leaving], counts.leaving.value, "leaving");
        wanted(sums[GpuUse::Free] + sums[GpuUse::BlockedByRoom] + sums[GpuUse::BlockedByRules],
               counts.idle.value, "free");
        if (!is_overrun(state)) {
            wanted(sums[GpuUse::Unhealthy], counts.not_ready.value, "not ready");
        }
    }

    std::map<std::string, int>& met_;
    std::vector<std::string> found_;
    std::int64_t sequence_ = 0;
    proof::RandomLog log_;
};

}  // namespace

int main(int argc, char** argv) {
    std::map<std::string, int> met;
    for (const char* what : {"not_measured", "starting", "leaving", "reserved", "blocked_by_room",
                             "blocked_by_rules", "free", "others", "unhealthy", "shared"}) {
        met[what] = 0;
    }
    std::uint64_t seeds = 0;
    bool holds = proof::holds_for_seeds(argc, argv, [&](std::uint64_t seed) {
        ++seeds;
        return Life(seed, met).live();
    });
    constexpr std::uint64_t kSeedsThatMeetAll = 100;
    if (seeds < kSeedsThatMeetAll) return holds ? 0 : 1;
    for (const auto& [what, count] : met) {
        if (count > 0) continue;
        std::cout << "no GPU was ever " << what << '\n';
        holds = false;
    }
    return holds ? 0 : 1;
}
