// SPDX-License-Identifier: Apache-2.0
//
// Does the order of a project's jobs ever cost a project its right?
//   streams [--first SEED] [--seeds N]
// Each seed is a random stream of jobs: of three projects on two nodes, or of four in two
// departments and two pools, with builds and services that are never paused. The real core plays it
// in virtual time by count and by nodes, under the default order and under another one. Each run is
// audited (simulation/core/core_audit.h): all jobs end, and no demand within a quota waits longer
// than the grace.
#include "base/rng.h"
#include "seeds.h"
#include "simulation/core/core_audit.h"
#include "simulation/core/core_replay.h"

namespace {

using namespace berth;
using simulation::Placement;
using simulation::TraceJob;
using std::chrono::seconds;

struct Stream {
    simulation::Trace trace;
    model::Description cluster;
    model::Duration restart_cost;
    model::Duration save_time;
};

model::Description nodes(int count, int gpus) {
    model::Description cluster;
    for (int i = 0; i < count; ++i) {
        model::Node node;
        node.name = "n" + std::to_string(i);
        node.gpus = gpus;
        cluster.nodes.push_back(std::move(node));
    }
    return cluster;
}

void add_project(model::Description& cluster, std::string name, std::string parent,
                 std::int64_t quota) {
    model::Project project;
    project.name = std::move(name);
    project.parent = std::move(parent);
    project.order = static_cast<std::int64_t>(cluster.projects.size());
    project.rights.quota = base::MilliGpu{1000 * quota};
    cluster.projects.push_back(std::move(project));
}

struct Demand {
    int jobs = 0;
    int gap_s_max = 0;
    std::int32_t gpus_max = 0;
    std::vector<std::string> projects;
};

void add_jobs(Stream& stream, base::Rng& rng, const Demand& demand) {
    std::int64_t at_s = 0;
    for (int count = 0; count < demand.jobs; ++count) {
        at_s += rng.between(0, demand.gap_s_max);
        TraceJob job;
        job.submitted = base::at_ms(1000 * at_s);
        job.work = seconds(rng.between(1, 10'000));
        job.gpus = static_cast<std::int32_t>(rng.between(1, demand.gpus_max));
        job.project = demand.projects[rng.index(demand.projects.size())];
        stream.trace.push_back(std::move(job));
    }
}

Stream three_projects(base::Rng& rng) {
    constexpr std::int64_t kGpus = 8;
    Stream stream;
    stream.cluster = nodes(2, 4);
    const std::int64_t first = rng.between(0, kGpus);
    add_project(stream.cluster, "a", "", first);
    add_project(stream.cluster, "b", "", kGpus - first);
    add_project(stream.cluster, "c", "", 0);
    stream.restart_cost = seconds(rng.between(0, 90));
    stream.save_time = seconds(rng.chance(1, 2) ? 60 : rng.between(0, 60));
    add_jobs(stream, rng, {80, 2000, kGpus, {"a", "b", "c"}});
    return stream;
}

Stream departments(base::Rng& rng) {
    constexpr model::JobKind kKinds[] = {model::JobKind::Train, model::JobKind::Train,
                                         model::JobKind::Train, model::JobKind::Build,
                                         model::JobKind::Inference};
    Stream stream;
    stream.cluster = nodes(4, 4);
    for (const char* name : {"top", "other"}) {
        add_project(stream.cluster, name, "", 0);
        stream.cluster.projects.back().rights.quota.reset();
    }
    add_project(stream.cluster, "a", "top", 2);
    add_project(stream.cluster, "b", "top", 2);
    add_project(stream.cluster, "c", "other", 3);
    add_project(stream.cluster, "d", "other", 1);
    stream.cluster.pools.push_back({.name = "fast", .labels = {{"is", "fast"}}, .exchange = {}});
    for (const std::size_t i : {2U, 3U}) stream.cluster.nodes[i].labels["is"] = "fast";
    for (model::Project& project : stream.cluster.projects) {
        if (!project.parent.empty()) project.pools["fast"] = project.rights;
    }
    stream.restart_cost = seconds(60);
    stream.save_time = seconds(60);
    add_jobs(stream, rng, {120, 1500, 4, {"a", "b", "c", "d"}});
    for (TraceJob& job : stream.trace) {
        if (rng.chance(1, 2)) job.pool = "fast";
        job.kind = kKinds[rng.index(std::size(kKinds))];
    }
    return stream;
}

std::vector<std::string> findings_of(const Stream& stream, model::JobOrder order,
                                     Placement placement) {
    model::Policy policy = model::berth_policy();
    policy.order.by = order;
    const simulation::CoreExperiment experiment{.trace = stream.trace,
                                                .cluster = stream.cluster,
                                                .policy = policy,
                                                .placement = placement,
                                                .restart_cost = stream.restart_cost,
                                                .save_time = stream.save_time};
    const auto run = simulation::replay(experiment);
    if (!run) return {run.error().message};
    std::vector<std::string> found =
        simulation::audit(simulation::Accounts(experiment), experiment, *run);
    for (std::size_t job = 0; job < stream.trace.size(); ++job) {
        // What cannot be paused may ask more than its project's quota, and never starts.
        const bool is_to_end = stream.trace[job].kind == model::JobKind::Train;
        if (is_to_end && !run->replay.jobs[job].end) {
            found.push_back("job " + std::to_string(job) + ": no end");
        }
    }
    return found;
}

std::vector<std::string> findings(std::uint64_t seed) {
    constexpr model::JobOrder kOthers[] = {model::JobOrder::ByLevels, model::JobOrder::Age};
    base::Rng rng(seed);
    const Stream stream = seed % 3 == 0 ? departments(rng) : three_projects(rng);
    std::vector<std::string> all;
    for (const model::JobOrder order : {model::JobOrder::Learned, kOthers[rng.index(2)]}) {
        for (const Placement placement : {Placement::Count, Placement::Nodes}) {
            for (const std::string& one : findings_of(stream, order, placement)) {
                all.push_back("order " + std::to_string(static_cast<int>(order)) +
                              (placement == Placement::Count ? ", by count: " : ", by nodes: ") +
                              one);
            }
        }
    }
    return all;
}

}  // namespace

int main(int argc, char** argv) {
    return berth::proof::holds_for_seeds(argc, argv, findings) ? 0 : 1;
}
