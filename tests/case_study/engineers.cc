// SPDX-License-Identifier: Apache-2.0
#include "case_study/engineers.h"

#include <algorithm>
#include <string>

#include "base/rng.h"

namespace berth::case_study {
namespace {

using base::Duration;
using base::Rng;
using simulation::Trace;
using simulation::TraceJob;
using std::chrono::minutes;

constexpr const char* kBuildPool = "build";
constexpr const char* kTrainPool = "train";
constexpr int kBuildNode = 3, kTrainNode = 8;  // GPUs
constexpr int kBuildQuota = 1, kTrainQuota = 4;
constexpr int kWorkingDays = 5;
constexpr int kDoublings = 6;  // from a quarter of an hour to sixteen hours
// Of an experiment: 1.25 GPUs, and 15 minutes times 1.5 (2^6 - 1) / 6.
constexpr double kMeanGpuMinutes = 1.25 * 15 * 1.5 * 63 / kDoublings;

std::string name_of(int engineer) {
    return "e" + std::string(engineer < 9 ? "0" : "") + std::to_string(engineer + 1);
}

class Stream {
  public:
    Stream(const Site& site, std::uint64_t seed) : site_(site), rng_(seed) {}

    Trace generate() {
        for (int day = 0; day < 7 * kWeeks; ++day) {
            if (day % 7 >= kWorkingDays) continue;
            for (int engineer = 0; engineer < kEngineers; ++engineer) work(day, engineer);
        }
        std::ranges::stable_sort(trace_, {}, &TraceJob::submitted);
        return std::move(trace_);
    }

  private:
    void work(int day, int engineer) {
        if (rng_.chance(9, 10)) build(day, engineer);
        if (engineer < site_.training) {
            experiments(day, engineer, sweep_size());
        } else if (rng_.chance(1, 2)) {
            experiments(day, engineer, static_cast<int>(rng_.between(1, 5)));
        }
    }

    // Half to three halves of the mean.
    int sweep_size() {
        const double gpu_minutes_a_day = site_.sweeps_gpus * 24.0 * 60 * 7 / kWorkingDays;
        const auto mean =
            static_cast<std::int64_t>(gpu_minutes_a_day / site_.training / kMeanGpuMinutes);
        return static_cast<int>(rng_.between(mean / 2, mean + mean / 2));
    }

    void build(int day, int engineer) {
        TraceJob& job = add(day, engineer, rng_.between(510, 600));
        job.work = minutes(rng_.between(360, 540));
        job.kind = model::JobKind::Build;
        job.pool = kBuildPool;
    }

    // All handed in together.
    void experiments(int day, int engineer, int count) {
        const std::int64_t minute = rng_.between(540, 1080);
        for (int i = 0; i < count; ++i) {
            TraceJob& job = add(day, engineer, minute);
            const std::int64_t width = rng_.between(1, 100);
            job.gpus = width <= 85 ? 1 : width <= 95 ? 2 : 4;
            const std::int64_t least = std::int64_t{15 * 60} << rng_.between(0, kDoublings - 1);
            job.work = std::chrono::seconds(rng_.between(least, 2 * least - 1));
            job.pool = kTrainPool;
        }
    }

    TraceJob& add(int day, int engineer, std::int64_t minute) {
        TraceJob& job = trace_.emplace_back();
        job.submitted = base::at_ms((std::int64_t{day} * 24 * 60 + minute) * 60 * 1000);
        job.project = name_of(engineer);
        return job;
    }

    const Site& site_;
    Rng rng_;
    Trace trace_;
};

void add_nodes(model::Description& cluster, const std::string& pool, int gpus, int gpus_per_node) {
    cluster.pools.push_back({.name = pool, .labels = {{"for", pool}}, .exchange = {}});
    for (int i = 0; i < gpus / gpus_per_node; ++i) {
        model::Node node;
        node.name = pool + std::to_string(i);
        node.gpus = gpus_per_node;
        node.labels = {{"for", pool}};
        cluster.nodes.push_back(node);
    }
}

}  // namespace

bool is_of_training(const Site& site, const TraceJob& job) {
    return job.project < name_of(site.training);
}

Trace stream(const Site& site, std::uint64_t seed) { return Stream(site, seed).generate(); }

model::Description cluster(Assignment assignment) {
    model::Description cluster;
    add_nodes(cluster, kBuildPool, kBuildGpus, kBuildNode);
    add_nodes(cluster, kTrainPool, kTrainGpus, kTrainNode);
    for (int engineer = 0; engineer < kEngineers; ++engineer) {
        model::Project project;
        project.name = name_of(engineer);
        project.order = engineer;
        model::Entitlement own;
        own.kind = model::QuotaKind::Fixed;
        own.quota = base::MilliGpu{1000 * kBuildQuota};
        project.pools[kBuildPool] = own;
        own.quota = base::MilliGpu{1000 * kTrainQuota};
        if (assignment == Assignment::Shared) own.kind = model::QuotaKind::Guaranteed;
        project.pools[kTrainPool] = own;
        cluster.projects.push_back(std::move(project));
    }
    return cluster;
}

}  // namespace berth::case_study
