// SPDX-License-Identifier: Apache-2.0
//
// Is virtual time spent as the header says? Small traces worked out by hand, then random ones
// under every order, each checked by the audit.
#include "simulation/replay/replay.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "base/rng.h"
#include "reference/named.h"
#include "simulation/replay/audit.h"
#include "simulation/report/metrics.h"

namespace berth::simulation {
namespace {

using std::chrono::seconds;

TraceJob job(int submitted_s, int work_s, std::int32_t gpus) {
    return {.submitted = base::at_ms(submitted_s * 1000),
            .work = seconds(work_s),
            .gpus = gpus,
            .project = "",
            .user = "",
            .name = ""};
}

struct Play {
    Trace trace;
    Machines machines;
    Placement placement = Placement::Count;
    Duration restart_cost{};
    Replay replay{};

    Experiment experiment() const { return {trace, machines, placement, restart_cost}; }

    Play& under(std::string_view policy) {
        auto order = reference::order_named(policy, {.gpus = machines.gpus(), .sizes = {}});
        REQUIRE(order);
        replay = simulation::replay(experiment(), **order);
        CHECK(audit(experiment(), replay) == std::vector<std::string>{});
        return *this;
    }

    // Seconds; -1 = never.
    std::vector<std::int64_t> ends() const {
        std::vector<std::int64_t> all;
        for (const JobRecord& one : replay.jobs) {
            all.push_back(one.end ? base::to_ms(*one.end) / 1000 : -1);
        }
        return all;
    }
};

using Ends = std::vector<std::int64_t>;

// Two of four GPUs busy, then a wide job, then narrow ones.
const Trace kBehindAWideOne{job(0, 100, 2), job(1, 10, 4), job(2, 10, 1), job(3, 10, 1)};

Play random_play(std::uint64_t seed) {
    base::Rng rng(seed);
    Play play{{}, {static_cast<std::int32_t>(rng.between(1, 4)), 4}};
    play.placement = rng.chance(1, 2) ? Placement::Count : Placement::Nodes;
    play.restart_cost = seconds(rng.between(0, 90));
    for (int at = 0, left = 60; left > 0; --left) {
        at += static_cast<int>(rng.between(0, 2000));
        const auto gpus = static_cast<std::int32_t>(rng.between(1, play.machines.gpus()));
        play.trace.push_back(job(at, static_cast<int>(rng.between(1, 20'000)), gpus));
    }
    return play;
}

// The same order, whose ranks are asked for whenever they matter, and its changes at once.
class AskedAgain final : public reference::Order {
  public:
    explicit AskedAgain(reference::Order& order) : order_(order) {}

    OrderTraits traits() const override {
        OrderTraits traits = order_.traits();
        traits.is_in_flow = true;
        return traits;
    }
    reference::Rank rank(const reference::JobSnapshot& job) const override {
        return order_.rank(job);
    }
    TimePoint next_change(const reference::JobSnapshot& job) const override {
        return order_.next_change(job);
    }
    void notice(reference::OrderEvent event, const reference::JobSnapshot& job) override {
        order_.notice(event, job);
    }
    void settle(std::span<const reference::JobIndex> started,
                std::span<const reference::JobIndex> paused) override {
        order_.settle(started, paused);
    }
    bool all_moved() override { return order_.all_moved(); }

  private:
    reference::Order& order_;
};

}  // namespace

TEST_CASE("strict order blocks behind a wide job, fitting first overtakes it") {
    Play play{kBehindAWideOne, {1, 4}};
    CHECK(play.under("fifo").ends() == Ends{100, 110, 120, 120});
    CHECK(play.under("fjf").ends() == Ends{100, 110, 12, 13});
}

TEST_CASE("least GPU time left first pauses who has more, who goes on where it was") {
    Play play{{job(0, 100, 2), job(10, 10, 4), job(11, 50, 1)}, {1, 4}};
    // The wide job needs 40 GPU-s against 180 left; then the narrow one runs beside the first.
    CHECK(play.under("srsf").ends() == Ends{110, 20, 70});
    CHECK(play.replay.jobs[0].pauses == 1);
    CHECK(play.replay.jobs[0].moves == 0);
    CHECK(play.replay.jobs[0].held == seconds(100));
    const Metrics metrics = measure(play.experiment(), play.replay);
    CHECK(metrics.pauses == 1);
    CHECK(metrics.avg_jct_s == doctest::Approx((110 + 10 + 59) / 3.0));
    CHECK(metrics.median_jct_s == doctest::Approx(59));
    CHECK(metrics.p95_jct_s == doctest::Approx(59 + 0.9 * (110 - 59)));
    CHECK(metrics.makespan_s == doctest::Approx(110));
    CHECK(metrics.avg_queue_s == doctest::Approx((10 + 0 + 9) / 3.0));
    CHECK(metrics.utilization == doctest::Approx((200 + 40 + 50) / 440.0));
    CHECK(metrics.fragmentation == doctest::Approx(0));
}

TEST_CASE("starting again costs, starting does not") {
    Play play{{job(0, 100, 2), job(10, 10, 2)}, {1, 2}, Placement::Count, seconds(60)};
    CHECK(play.under("srsf").ends() == Ends{170, 20});
    CHECK(play.replay.jobs[0].held == seconds(160));
}

TEST_CASE("a pause during a restart loses the restart and nothing else") {
    Play play{
        {job(0, 100, 1), job(10, 10, 1), job(30, 5, 1)}, {1, 1}, Placement::Count, seconds(60)};
    // Back at 20, interrupted at 30 within its restart, back at 35: 60 + 90 more.
    CHECK(play.under("srsf").ends() == Ends{185, 20, 35});
}

TEST_CASE("a job goes behind when it passes a threshold, with nothing else happening") {
    Play play{{job(0, 5000, 1), job(100, 200, 1)}, {1, 1}};
    // The first level ends at 3,250 GPU-s.
    CHECK(play.under("tiresias").ends() == Ends{5200, 3450});
}

TEST_CASE("GPUs that idle while a job waits are fragmented") {
    Play play{{job(0, 10, 3), job(0, 10, 2)}, {1, 4}};
    play.under("fjf");
    CHECK(measure(play.experiment(), play.replay).fragmentation == doctest::Approx(10 / 80.0));
}

TEST_CASE("finish-time fairness is measured against the demand during a job's life") {
    Play play{{job(0, 10, 1), job(0, 10, 1)}, {1, 1}};
    play.under("fifo");
    // 10 s of work at a demand of two is due at 20 s; the second saw two for 10 s, one for 10 s.
    const Metrics metrics = measure(play.experiment(), play.replay);
    CHECK(metrics.rho_max == doctest::Approx(20 / 15.0));
    CHECK(metrics.rho_mean == doctest::Approx((10 / 20.0 + 20 / 15.0) / 2));
    CHECK(metrics.unfair_share == doctest::Approx(0.5));
    // Two jobs, one GPU: 20 s are due to each, whatever was there when.
    CHECK(metrics.static_rho_max == doctest::Approx(1.0));
    CHECK(metrics.static_unfair_share == 0);
}

TEST_CASE("by nodes a job stands on one node, and is not cut into pieces") {
    Play play{{job(0, 100, 3), job(0, 100, 3), job(1, 10, 2)}, {2, 4}};
    CHECK(play.under("fjf").ends() == Ends{100, 100, 11});
    play.placement = Placement::Nodes;
    CHECK(play.under("fjf").ends() == Ends{100, 100, 110});
    CHECK(play.under("srsf").ends() == Ends{100, 110, 11});
}

TEST_CASE("by nodes a job in the way of a wide one moves where there is room") {
    // One GPU of each node is taken; the wide job needs a whole node.
    Play play{
        {job(0, 200, 3), job(0, 50, 2), job(0, 100, 1), job(60, 10, 4)}, {2, 4}, Placement::Nodes};
    play.under("srsf");
    CHECK(play.replay.jobs[3].end == base::at_ms(70'000));
    CHECK(play.replay.jobs[0].pauses + play.replay.jobs[2].pauses == 1);
    CHECK(play.replay.jobs[0].moves + play.replay.jobs[2].moves == 1);
}

TEST_CASE("a job wider than the cluster does not finish, and does not block the rest") {
    Play play{{job(0, 10, 5), job(1, 10, 1)}, {1, 4}};
    CHECK(play.under("srsf").ends() == Ends{-1, 11});
    CHECK(measure(play.experiment(), play.replay).finished == 1);
}

TEST_CASE("random traces end, and the audit holds, under every order and rule") {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        Play play = random_play(seed);
        for (const reference::NamedOrder& known : reference::order_names()) {
            INFO(seed << " " << known.name);
            play.under(known.name);
            CHECK(measure(play.experiment(), play.replay).finished == play.trace.size());
        }
    }
}

TEST_CASE("ranks of running jobs that are said to stay do stay") {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        Play play = random_play(seed);
        for (const reference::NamedOrder& known : reference::order_names()) {
            INFO(seed << " " << known.name);
            const Replay trusting = play.under(known.name).replay;
            auto order =
                reference::order_named(known.name, {.gpus = play.machines.gpus(), .sizes = {}});
            REQUIRE(order);
            AskedAgain asked_again(**order);
            const Replay asking = simulation::replay(play.experiment(), asked_again);
            CHECK(asking.events == trusting.events);
            CHECK(asking.gpus == trusting.gpus);
            CHECK(std::ranges::equal(asking.intervals, trusting.intervals, {}, &RunInterval::to,
                                     &RunInterval::to));
            CHECK(std::ranges::equal(asking.intervals, trusting.intervals, {}, &RunInterval::job,
                                     &RunInterval::job));
        }
    }
}

TEST_CASE("the audit finds what cannot be") {
    Play sound{{job(0, 10, 2), job(0, 10, 2)}, {1, 4}};
    sound.under("fifo");
    const auto complaint = [&](const auto& spoil) {
        Replay spoiled = sound.replay;
        spoil(spoiled);
        const auto complaints = audit(sound.experiment(), spoiled);
        return complaints.empty() ? "" : complaints.front();
    };
    CHECK(complaint([](Replay& one) { one.gpus[2] = one.gpus[0]; }) == "job 1: GPU 0 is not free");
    CHECK(complaint([](Replay& one) { one.gpus[1] = one.gpus[0]; }) == "job 0: GPU 0 is not free");
    CHECK(complaint([](Replay& one) { one.intervals[0].from -= seconds(1); }) ==
          "job 0: time runs backwards");
    CHECK(complaint([](Replay& one) { one.jobs[1].held = seconds(9); }) ==
          "job 1: its time on GPUs is not the sum of its intervals");
    CHECK(complaint([](Replay& one) {
              one.intervals[0].to -= seconds(1);
              one.jobs[0].held -= seconds(1);
              *one.jobs[0].end -= seconds(1);
          }) == "job 0: ended after 9s on GPUs for 10s of work");
    CHECK(complaint([](Replay& one) { *one.jobs[0].end += seconds(1); }) ==
          "job 0: its end is not that of its last interval");
    CHECK(complaint([](Replay& one) { one.intervals[1].job = 0; }) ==
          "job 0: it runs twice at once");
}

}  // namespace berth::simulation
