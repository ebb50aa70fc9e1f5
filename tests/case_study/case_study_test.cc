// SPDX-License-Identifier: Apache-2.0
//
// Does sharing do for thirty engineers what docs/case-study.md says? On every seed that it reports.
#include <doctest/doctest.h>

#include <array>
#include <map>

#include "case_study/study.h"

namespace berth::case_study {
namespace {

using simulation::Trace;

struct Both {
    Trace trace;
    Result apart, shared;
};

Both both(const Site& site, std::uint64_t seed) {
    Both both{stream(site, seed), {}, {}};
    both.apart = replay(site, both.trace, Assignment::Static);
    both.shared = replay(site, both.trace, Assignment::Shared);
    return both;
}

}  // namespace

TEST_CASE("the stream is as described: no experiment is wider than its engineer's GPUs") {
    const Site site;
    const Trace trace = stream(site, 1);
    std::array<int, 5> by_width{};
    double gpu_s = 0;
    int builds = 0;
    for (const simulation::TraceJob& job : trace) {
        CHECK(job.submitted.time_since_epoch() < kWindow);
        if (job.kind == model::JobKind::Build) {
            ++builds;
            continue;
        }
        ++by_width.at(static_cast<std::size_t>(job.gpus));
        if (!is_of_training(site, job)) continue;
        gpu_s += static_cast<double>(job.work.count()) / 1000 * job.gpus;
    }
    CHECK(by_width[3] == 0);
    const double experiments = by_width[1] + by_width[2] + by_width[4];
    CHECK(by_width[1] / experiments == doctest::Approx(0.85).epsilon(0.01));
    CHECK(by_width[4] / experiments == doctest::Approx(0.05).epsilon(0.01));
    CHECK(builds / 600.0 == doctest::Approx(0.9).epsilon(0.02));
    const double filled = gpu_s / (kWeeks * 7 * 86400.0);
    CHECK(filled == doctest::Approx(site.sweeps_gpus).epsilon(0.1));
}

TEST_CASE("the same seed gives the same stream, another another") {
    const auto first = [](std::uint64_t seed) { return stream(Site{}, seed).front().work; };
    CHECK(first(1) == first(1));
    CHECK(first(1) != first(2));
}

TEST_CASE(
    "shared, above 70 % of the GPUs are used instead of 28 %, twice the experiments end, and "
    "no one waits for their own GPUs longer than the grace") {
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
        INFO("seed " << seed);
        const Both run = both(Site{}, seed);
        CHECK(run.apart.complaints.empty());
        CHECK(run.shared.complaints.empty());
        CHECK(run.apart.figures.used > 0.27);
        CHECK(run.apart.figures.used < 0.29);
        CHECK(run.shared.figures.used > 0.7);
        CHECK(run.shared.figures.experiments >= 2 * run.apart.figures.experiments);
        CHECK(run.shared.figures.longest_in_quota_wait_s <= 60);
        CHECK(run.apart.run.metrics.finished == run.trace.size());
        CHECK(run.shared.run.metrics.finished == run.trace.size());
    }
}

TEST_CASE("sharing gains less where demand is even, and never costs") {
    std::map<int, double> gains;
    for (const int training : {8, 15, 30}) {
        const Site site{.training = training};
        const Both run = both(site, 1);
        CHECK(run.shared.complaints.empty());
        gains[training] = run.shared.figures.used / run.apart.figures.used;
    }
    CHECK(gains[8] > gains[15]);
    CHECK(gains[15] > gains[30]);
    CHECK(gains[30] > 0.99);
}

}  // namespace berth::case_study
