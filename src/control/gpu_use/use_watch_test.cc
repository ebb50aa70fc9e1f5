// SPDX-License-Identifier: Apache-2.0
#include "control/gpu_use/use_watch.h"

#include <doctest/doctest.h>

using namespace berth;
using model::Duration;

namespace {

constexpr base::JobId kJob{1};

// Job 1 on GPUs 0 and 1 of n0, whole or half of each; packed with others where it has less than it
// asked for.
struct Watched {
    explicit Watched(std::int64_t share) : Watched(share, share) {}
    Watched(std::int64_t asks, std::int64_t share) {
        model::Node node;
        node.name = "n0";
        node.gpus = 2;
        happen(model::NodeSet{node});
        model::Project project;
        project.name = "a";
        happen(model::ProjectSet{project});
        model::JobSpec spec;
        spec.project = "a";
        spec.request.gpus = 2;
        spec.request.share = base::MilliGpu{asks};
        happen(model::JobSubmitted{kJob, spec, "ann", "train"});
        happen(model::JobStarting{kJob, 1, {}, {{0, {0}, 3, base::MilliGpu{share}, {}, {}}}});
        happen(model::JobRunning{kJob});
    }
    void happen(model::EventBody body) {
        lifecycle::apply(state, {state.sequence + 1, now, "test", std::move(body)});
    }
    // Half a minute later its GPUs are so busy; negative = not measured. What is seen of it.
    std::optional<control::UseSeen> look(int first, int second,
                                         const std::vector<ports::ShareUse>& uses = {}) {
        now += Duration{30'000};
        std::vector<ports::GpuReading> readings(2);
        for (std::size_t gpu = 0; gpu < 2; ++gpu) {
            readings[gpu].node = "n0";
            readings[gpu].index = static_cast<int>(gpu);
            readings[gpu].utilization_percent = gpu == 0 ? first : second;
        }
        const auto seen = watch.hear(control::gpu_loads(readings), uses, state, now);
        if (seen.empty()) return std::nullopt;
        CHECK(seen.front().attempt == ports::AttemptId{kJob, 1});
        return seen.front();
    }
    // For how long it is idle; none where it is not known.
    std::optional<Duration> hear(int first, int second,
                                 const std::vector<ports::ShareUse>& uses = {}) {
        const auto seen = look(first, second, uses);
        return seen ? std::optional(seen->idle) : std::nullopt;
    }
    // How busy its GPUs were of what was measured, in thousandths.
    std::optional<std::int64_t> busy(int first, int second,
                                     const std::vector<ports::ShareUse>& uses = {}) {
        const auto seen = look(first, second, uses);
        if (!seen || seen->measured == Duration{0}) return std::nullopt;
        return seen->busy * 1'000 / seen->measured;
    }

    lifecycle::State state;
    model::TimePoint now = base::at_ms(1000);
    control::UseWatch watch;
};

ports::ShareUse use(int gpu, std::int64_t compute) {
    return {kJob, "n0", gpu, {}, {}, base::MilliGpu{compute}, {}};
}

}  // namespace

TEST_CASE("it is idle from the first sample in which none of its GPUs does anything") {
    Watched job(1000);
    CHECK(job.hear(0, 7) == Duration{0});
    CHECK(job.hear(0, 0) == Duration{30'000});
    CHECK(job.hear(0, 0) == Duration{60'000});
    CHECK(job.hear(3, 0) == Duration{0});
    CHECK(job.hear(0, 0) == Duration{30'000});
}

TEST_CASE("a GPU that is not measured says nothing, and the time before counts no more") {
    Watched job(1000);
    CHECK(job.hear(0, 0) == Duration{0});
    CHECK(job.hear(0, 0) == Duration{30'000});
    CHECK(job.hear(0, -1) == std::nullopt);
    CHECK(job.hear(0, 0) == Duration{0});
    CHECK(job.hear(0, 0) == Duration{30'000});
}

TEST_CASE("on GPUs that it shares its own part counts") {
    Watched job(500);
    CHECK(job.hear(90, 80, {use(0, 0), use(1, 0)}) == Duration{0});
    CHECK(job.hear(90, 80, {use(0, 0), use(1, 0)}) == Duration{30'000});
    CHECK(job.hear(90, 80, {use(0, 0), use(1, 4)}) == Duration{0});
    // Whose work it is that is seen is not known; that there is none is.
    CHECK(job.hear(90, 80) == std::nullopt);
    CHECK(job.hear(0, 0) == Duration{0});
    CHECK(job.hear(0, 0) == Duration{30'000});
}

TEST_CASE("a sample stands for the time since the one before, as the mean of its GPUs") {
    Watched job(1000);
    CHECK(job.busy(100, 100) == std::nullopt);  // since when is not known
    CHECK(job.busy(100, 50) == 750);
    CHECK(job.busy(0, 0) == 0);
    CHECK(job.busy(100, -1) == std::nullopt);
    CHECK(job.busy(100, 100) == std::nullopt);
    CHECK(job.busy(100, 100) == 1'000);
}

TEST_CASE("who was not looked at for long was not measured meanwhile") {
    Watched job(1000);
    CHECK(job.hear(0, 0) == Duration{0});
    job.now += Duration{60'000};
    CHECK(job.busy(0, 0) == std::nullopt);
    CHECK(job.hear(0, 0) == Duration{30'000});
}

TEST_CASE("of a part of a GPU the part of its own time counts, of a GPU lent to it no more") {
    Watched job(500);
    CHECK(job.busy(100, 100, {use(0, 250), use(1, 500)}) == std::nullopt);
    CHECK(job.busy(100, 100, {use(0, 250), use(1, 500)}) == 750);
    CHECK(job.busy(100, 100, {use(0, 900), use(1, 900)}) == 1'000);
}

TEST_CASE("who is packed with others is not credited what the others do") {
    Watched job(1000, 400);
    CHECK(job.hear(90, 90, {use(0, 0), use(1, 0)}) == Duration{0});
    CHECK(job.hear(90, 90, {use(0, 0), use(1, 0)}) == Duration{30'000});
    CHECK(job.hear(90, 90) == std::nullopt);
}
