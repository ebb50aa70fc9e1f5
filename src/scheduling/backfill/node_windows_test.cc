// SPDX-License-Identifier: Apache-2.0
//
// Does what is remembered of a node's GPUs say what a look at it now would, whenever it is asked?
#include "scheduling/backfill/node_windows.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

#include "base/rng.h"
#include "model/policy/policy.h"

using namespace berth;
using berth::scheduling::NodeWindows;

namespace {

constexpr base::PoolId kPool{0};
constexpr base::NodeId kNode{0};
constexpr int kGpus = 4;
constexpr std::int64_t kStepMs = 500;

// One node, whose jobs come and go; some share a GPU, some declare how long they run.
class World {
  public:
    explicit World(std::uint64_t seed) : dice_(seed) {
        model::Node node;
        node.name = "n0";
        node.gpus = kGpus;
        cluster.set_node(node);
        model::Project project;
        project.name = "a";
        cluster.set_project(project);
    }

    void step() {
        now += base::Duration{kStepMs};
        const std::int64_t what = dice_.between(0, 40);
        if (what == 0 && !running_.empty()) {
            const std::size_t at = dice_.index(running_.size());
            cluster.remove_job(running_[at]);
            running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(at));
        } else if (what == 1 && !running_.empty()) {
            const int rank = 0;
            const base::JobId job = running_[dice_.index(running_.size())];
            if (cluster.job(job).active > 0) cluster.release(job, std::span(&rank, 1));
        } else if (what <= 3) {
            start();
        }
    }

    cluster::Cluster cluster;
    base::TimePoint now = base::at_ms(1'000'000);

  private:
    void start() {
        const bool is_whole = dice_.between(0, 1) == 0;
        const base::MilliGpu share = is_whole ? base::kWholeGpu : base::MilliGpu{400};
        const int gpu = static_cast<int>(dice_.index(kGpus));
        if (cluster.free(cluster::View::Idle, kNode, gpu) < share) return;
        const base::JobId job{++last_};
        model::JobSpec spec;
        spec.name = "j" + std::to_string(last_);
        spec.project = "a";
        spec.request.share = share;
        if (dice_.between(0, 2) == 0)
            spec.expected_runtime = base::Duration{dice_.between(1, 4) * 30'000};
        if (dice_.between(0, 5) == 0) spec.kind = model::JobKind::Inference;
        cluster.add_job(job, spec, now);
        const model::TaskPlacement task{0, kNode, std::uint64_t{1} << gpu, share, {}, {}};
        cluster.place(job, kPool, std::span(&task, 1));
        cluster.set_started(job, now);
        running_.push_back(job);
    }

    base::Rng dice_;
    std::vector<base::JobId> running_;
    std::int64_t last_ = 0;
};

using GpuWindow = std::tuple<int, int, base::TimePoint>;
std::vector<GpuWindow> windows_of(const NodeWindows::Node& node, base::TimePoint now) {
    std::vector<GpuWindow> windows;
    for (const NodeWindows::GpuWindow& window : node.windows) {
        windows.emplace_back(window.gpu, window.unknown, window.free_at(now));
    }
    return windows;
}

}  // namespace

TEST_CASE("what is remembered of a node is what a look at it now would find") {
    const model::Policy policy = model::berth_policy();
    std::size_t largest = 0;
    for (std::uint64_t seed = 1; seed <= 100; ++seed) {
        World world(seed);
        NodeWindows remembered;
        for (int count = 0; count < 1000; ++count) {
            world.step();
            const auto view = scheduling::view_pool(world.cluster, policy, world.now, kPool);
            NodeWindows anew;
            const NodeWindows::Node& expected = anew.on(view, kNode);
            const NodeWindows::Node& found = remembered.on(view, kNode);
            REQUIRE(windows_of(found, world.now) == windows_of(expected, world.now));
            REQUIRE(found.next_end == expected.next_end);
            REQUIRE(std::ranges::equal(found.unknown, expected.unknown, {}, &NodeWindows::User::job,
                                       &NodeWindows::User::job));
            largest = std::max(largest, found.windows.size());
        }
    }
    CHECK(largest == kGpus);
}
