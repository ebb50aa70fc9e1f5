// SPDX-License-Identifier: Apache-2.0
#include "control/idle/idle_watch.h"

#include <doctest/doctest.h>

using namespace berth;
using model::Duration;

namespace {

constexpr base::JobId kJob{1};

// Job 1 on GPUs 0 and 1 of n0, whole or half of each.
struct Watched {
    explicit Watched(std::int64_t share) {
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
        spec.request.share = base::MilliGpu{share};
        happen(model::JobSubmitted{kJob, spec, "ann", "train"});
        happen(model::JobStarting{kJob, 1, {}, {{0, {0}, 3, base::MilliGpu{share}, {}, {}}}});
        happen(model::JobRunning{kJob});
    }
    void happen(model::EventBody body) {
        lifecycle::apply(state, {state.sequence + 1, now, "test", std::move(body)});
    }
    // A minute later its GPUs are so busy; negative = not measured. How long it is idle, if known.
    std::optional<Duration> hear(int first, int second, std::vector<ports::ShareUse> uses = {}) {
        now += Duration{60'000};
        std::vector<ports::GpuReading> readings(2);
        for (std::size_t gpu = 0; gpu < 2; ++gpu) {
            readings[gpu].node = "n0";
            readings[gpu].index = static_cast<int>(gpu);
            readings[gpu].utilization_percent = gpu == 0 ? first : second;
        }
        const auto heard = watch.hear(control::busy_gpus(readings), uses, state, now);
        if (heard.empty()) return std::nullopt;
        CHECK(heard.front().first == ports::AttemptId{kJob, 1});
        return heard.front().second;
    }

    lifecycle::State state;
    model::TimePoint now = base::at_ms(1000);
    control::IdleWatch watch;
};

ports::ShareUse use(int gpu, std::int64_t compute) {
    return {kJob, "n0", gpu, {}, {}, base::MilliGpu{compute}, {}};
}

}  // namespace

TEST_CASE("it is idle from the first sample in which none of its GPUs does anything") {
    Watched job(1000);
    CHECK(job.hear(0, 7) == std::nullopt);  // there is nothing to say of who works
    CHECK(job.hear(0, 0) == Duration{60'000});
    CHECK(job.hear(0, 0) == Duration{120'000});
    CHECK(job.hear(3, 0) == std::nullopt);
    CHECK(job.hear(0, 0) == Duration{60'000});
}

TEST_CASE("who was warned and works is said once more") {
    Watched job(1000);
    job.happen(model::JobIdle{kJob, {job.now, job.now, model::IdleAct::End, job.now, ""}});
    CHECK(job.hear(0, 5) == Duration{0});
}

TEST_CASE("a GPU that is not measured says nothing, and the time before counts no more") {
    Watched job(1000);
    CHECK(job.hear(0, 0) == std::nullopt);
    CHECK(job.hear(0, 0) == Duration{60'000});
    CHECK(job.hear(0, -1) == std::nullopt);
    CHECK(job.hear(0, 0) == std::nullopt);
    CHECK(job.hear(0, 0) == Duration{60'000});
}

TEST_CASE("on GPUs that it shares its own part counts") {
    Watched job(500);
    CHECK(job.hear(90, 80, {use(0, 0), use(1, 0)}) == std::nullopt);
    CHECK(job.hear(90, 80, {use(0, 0), use(1, 0)}) == Duration{60'000});
    CHECK(job.hear(90, 80, {use(0, 0), use(1, 4)}) == std::nullopt);
    // Whose work it is that is seen is not known; that there is none is.
    CHECK(job.hear(90, 80) == std::nullopt);
    CHECK(job.hear(0, 0) == std::nullopt);
    CHECK(job.hear(0, 0) == Duration{60'000});
}
