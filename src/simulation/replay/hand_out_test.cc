// SPDX-License-Identifier: Apache-2.0
//
// Is what is handed out what one plain pass over all jobs in order of rank would hand out?
#include "simulation/replay/hand_out.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <deque>
#include <set>
#include <tuple>

#include "base/rng.h"

namespace berth::simulation {
namespace {

using reference::JobIndex;

struct Job {
    Ranked who;
    Ask ask;
    GpuList gpus;  // empty = it waits
};

// Jobs that run and jobs that wait, of random widths and ranks.
struct Scene {
    Machines machines;
    Placement placement;
    FreeGpus free;
    std::deque<Job> jobs;

    Scene(base::Rng& rng, Placement how)
        : machines{static_cast<std::int32_t>(rng.between(1, 6)), 4},
          placement(how),
          free(machines, how) {
        const auto count = static_cast<JobIndex>(rng.between(2, 30));
        for (JobIndex ticket = 0; ticket < count; ++ticket) {
            Job job;
            job.who = {{.level = rng.between(0, 3), .key = rng.between(0, 1)}, ticket};
            job.ask.gpus =
                static_cast<std::int32_t>(rng.chance(1, 2) ? 1 : rng.between(1, machines.gpus()));
            const bool together =
                how == Placement::Nodes || (how == Placement::Profile && rng.chance(1, 2));
            job.ask.stand = together ? Stand::Together : Stand::Anywhere;
            if (rng.chance(2, 3)) job.gpus = free.take(job.ask.gpus, job.ask.stand);
            jobs.push_back(std::move(job));
        }
        std::ranges::sort(jobs, {}, &Job::who);
    }

    HandOut handed_out() {
        Queues queues;
        for (const Job& job : jobs) {
            if (job.gpus.empty()) queues[job.ask].insert(job.who);
        }
        FreeGpus left = free;
        return hand_out(
            queues,
            [&] {
                return FromLast(
                    [next = jobs.rbegin(), end = jobs.rend()](const Ranked& first) mutable {
                        while (next != end && next->gpus.empty()) ++next;
                        std::optional<Holder> one;
                        if (next != end && next->who > first) {
                            one = Holder{next->who, &next->ask, &next->gpus, 0};
                            ++next;
                        }
                        return one;
                    });
            },
            {}, left);
    }

    // Who has GPUs in the end, and by Nodes and Profile which; in order of rank.
    std::vector<std::pair<JobIndex, GpuList>> after(const HandOut& result) const {
        std::vector<std::pair<JobIndex, GpuList>> all;
        for (const Job& job : jobs) {
            const auto start = std::ranges::find(result.started, job.who.job, &Start::job);
            if (start != result.started.end()) {
                all.emplace_back(job.who.job, start->gpus);
            } else if (!job.gpus.empty() &&
                       std::ranges::find(result.paused, job.who.job) == result.paused.end()) {
                all.emplace_back(job.who.job, job.gpus);
            }
            if (placement == Placement::Count && !all.empty()) all.back().second.clear();
        }
        return all;
    }

    std::vector<std::pair<JobIndex, GpuList>> plainly() const;
};

// Which of the GPUs not taken yet, where those behind `turn` may be asked to go: idle ones first,
// then of the last; on one node after the other, or anywhere.
class PlainRoom {
  public:
    explicit PlainRoom(const Scene& scene) : scene_(scene) {}

    bool keep(const GpuList& gpus) {
        if (std::ranges::any_of(gpus, [&](auto gpu) { return taken_.contains(gpu); })) return false;
        taken_.insert(gpus.begin(), gpus.end());
        return true;
    }

    GpuList take(const Ask& ask, std::size_t turn) {
        turn_ = turn;
        const std::set<std::int32_t> before = taken_;
        GpuList chosen;
        while (std::ssize(chosen) < ask.gpus) {
            const auto part = ask.stand == Stand::Anywhere
                                  ? ask.gpus
                                  : std::min(ask.gpus - static_cast<std::int32_t>(chosen.size()),
                                             scene_.machines.gpus_per_node(0));
            const GpuList here = ask.stand == Stand::Anywhere ? anywhere(part) : on_best_node(part);
            if (here.empty()) {
                taken_ = before;
                return {};
            }
            keep(here);
            chosen.insert(chosen.end(), here.begin(), here.end());
        }
        return chosen;
    }

  private:
    // The later the better; none when it cannot be had.
    std::optional<std::size_t> turn_of(std::int32_t gpu) const {
        if (taken_.contains(gpu)) return std::nullopt;
        for (std::size_t at = 0; at < scene_.jobs.size(); ++at) {
            if (std::ranges::find(scene_.jobs[at].gpus, gpu) == scene_.jobs[at].gpus.end())
                continue;
            return at > turn_ ? at : scene_.jobs.size();  // the job that had it before us is gone
        }
        return scene_.jobs.size();
    }

    std::vector<std::pair<std::size_t, std::int32_t>> open_on(std::int32_t node) const {
        std::vector<std::pair<std::size_t, std::int32_t>> open;
        for (const std::int32_t gpu : scene_.machines.gpus_on(node)) {
            if (const auto turn = turn_of(gpu)) open.emplace_back(scene_.jobs.size() - *turn, gpu);
        }
        std::ranges::sort(open);
        return open;
    }

    GpuList on_best_node(std::int32_t part) const {
        std::vector<std::tuple<std::size_t, std::ptrdiff_t, std::int32_t>> nodes;
        for (std::int32_t node = 0; node < scene_.machines.nodes(); ++node) {
            const auto open = open_on(node);
            if (std::ssize(open) < part) continue;
            const auto idle =
                std::ranges::count(open, 0U, [](const auto& one) { return one.first; });
            nodes.emplace_back(open[static_cast<std::size_t>(part) - 1].first, idle, node);
        }
        if (nodes.empty()) return {};
        GpuList chosen;
        for (const auto& [turn, gpu] : open_on(std::get<2>(std::ranges::min(nodes)))) {
            if (std::ssize(chosen) < part) chosen.push_back(gpu);
        }
        return chosen;
    }

    GpuList anywhere(std::int32_t part) const {
        std::vector<std::tuple<std::size_t, std::size_t, std::int32_t>> all;
        for (std::int32_t node = 0; node < scene_.machines.nodes(); ++node) {
            const auto open = open_on(node);
            for (const auto& [turn, gpu] : open) all.emplace_back(turn, open.size(), gpu);
        }
        if (std::ssize(all) < part) return {};
        std::ranges::sort(all);
        GpuList chosen;
        for (std::int32_t at = 0; at < part; ++at) {
            chosen.push_back(std::get<2>(all[static_cast<std::size_t>(at)]));
        }
        return chosen;
    }

    const Scene& scene_;
    std::set<std::int32_t> taken_;
    std::size_t turn_ = 0;
};

std::vector<std::pair<JobIndex, GpuList>> Scene::plainly() const {
    std::vector<std::pair<JobIndex, GpuList>> all;
    std::int32_t left = machines.gpus();
    PlainRoom room(*this);
    for (std::size_t at = 0; at < jobs.size(); ++at) {
        const Job& job = jobs[at];
        if (job.ask.gpus > left) continue;
        GpuList place;
        if (placement != Placement::Count) {
            place = !job.gpus.empty() && room.keep(job.gpus) ? job.gpus : room.take(job.ask, at);
            if (place.empty()) continue;
        }
        left -= job.ask.gpus;
        all.emplace_back(job.who.job, place);
    }
    return all;
}

void compare(Placement placement) {
    int pauses = 0;
    for (std::uint64_t seed = 1; seed <= 3000; ++seed) {
        INFO(seed);
        base::Rng rng(seed);
        Scene scene(rng, placement);
        const HandOut result = scene.handed_out();
        pauses += result.paused.empty() ? 0 : 1;
        // A job that finds idle GPUs and may be spread takes them from the fullest nodes, full of
        // any jobs.
        if (placement == Placement::Profile && result.paused.empty()) continue;
        CHECK(scene.after(result) == scene.plainly());
    }
    CHECK(pauses > 1000);
}

}  // namespace

TEST_CASE("by count, by nodes, by profile: as one pass over all in order of rank") {
    compare(Placement::Count);
    compare(Placement::Nodes);
    compare(Placement::Profile);
}

}  // namespace berth::simulation
