// SPDX-License-Identifier: Apache-2.0
#include "vgpu/iterations/iterations.h"

#include <doctest/doctest.h>

#include <memory>
#include <random>
#include <vector>

using namespace berth::vgpu::iterations;

namespace {

using Works = std::vector<std::uint64_t>;
constexpr std::int64_t kMs = 1'000'000;

// A training step as a framework launches it: layers alike forwards, layers alike backwards, and
// between them work that comes once.
Works training_step(std::uint64_t seed, int layers, int kernels_of_layer) {
    std::mt19937_64 dice(seed);
    const auto some = [&](int count) {
        Works works;
        for (int index = 0; index < count; ++index) works.push_back(dice() % 200 + 1000 * seed);
        return works;
    };
    const Works forward = some(kernels_of_layer);
    const Works backward = some(kernels_of_layer);
    Works step = some(12);
    const auto add = [&step](const Works& works) {
        step.insert(step.end(), works.begin(), works.end());
    };
    for (int layer = 0; layer < layers; ++layer) add(forward);
    add(some(15));
    for (int layer = 0; layer < layers; ++layer) add(backward);
    add(some(30));
    return step;
}

// A program and what was said about its launches.
class Program {
  public:
    void launch(std::uint64_t work) {
        const Passage passage = iterations_->launched(work);
        ++launches_;
        if ((passage & kBegins) != 0) ++begun;
        if ((passage & kEnds) == 0) return;
        ++ends;
        if ((passage & kRegular) != 0) ++regular;
        ended_at = launches_;
        gaps.push_back(launches_ - last_end_);
        last_end_ = launches_;
    }
    void step(const Works& works, std::int64_t wait_ns = 0) {
        for (const std::uint64_t work : works) launch(work);
        if (wait_ns > 0) iterations_->waited(wait_ns);
    }
    void steps(const Works& works, int count, std::int64_t wait_ns = 0) {
        for (int index = 0; index < count; ++index) step(works, wait_ns);
    }
    void forget() {
        ends = regular = begun = 0;
        gaps.clear();
    }
    std::uint32_t period() const { return iterations_->period(); }
    bool is_at_end() const { return ended_at == launches_; }
    const Iterations& iterations() const { return *iterations_; }

    int ends = 0;
    int regular = 0;
    int begun = 0;
    std::int64_t ended_at = -1;
    std::vector<std::int64_t> gaps;

  private:
    std::unique_ptr<Iterations> iterations_ = std::make_unique<Iterations>();
    std::int64_t launches_ = 0;
    std::int64_t last_end_ = 0;
};

}  // namespace

TEST_CASE("a training step of thousands of launches is found after three, whatever its layers") {
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
        std::mt19937_64 dice(seed);
        const int layers = static_cast<int>(dice() % 120 + 1);
        const int kernels = static_cast<int>(dice() % 20 + 4);
        const Works step = training_step(seed, layers, kernels);
        CAPTURE(seed);
        CAPTURE(step.size());
        Program program;
        program.steps(step, 4);
        REQUIRE(program.period() == step.size());
        program.forget();
        program.steps(step, 200);
        CHECK(program.period() == step.size());
        CHECK(program.regular == 200);
        CHECK(program.begun == 200);
        for (const std::int64_t gap : program.gaps)
            REQUIRE(gap == static_cast<std::int64_t>(step.size()));
    }
}

TEST_CASE("an iteration ends where the program waits for its work") {
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
        CAPTURE(seed);
        const Works step = training_step(seed, static_cast<int>(seed % 30 + 1), 17);
        Program program;
        program.step({7, 8, 9});  // what came before the first step
        program.steps(step, 5, 20 * kMs);
        REQUIRE(program.period() == step.size());
        for (int index = 0; index < 50; ++index) {
            program.step(step, 20 * kMs);
            REQUIRE(program.is_at_end());
            REQUIRE_FALSE(program.iterations().is_inside());
        }
    }
}

TEST_CASE("a step of few launches ends where the program waits as well") {
    for (std::uint64_t launches = 1; launches <= 40; ++launches) {
        CAPTURE(launches);
        Works step;
        for (std::uint64_t work = 1; work <= launches; ++work) step.push_back(work);
        Program program;
        program.steps(step, 40, 20 * kMs);
        REQUIRE(program.period() == launches);
        for (int index = 0; index < 10; ++index) {
            program.step(step, 20 * kMs);
            CHECK(program.is_at_end());
        }
    }
}

TEST_CASE("of several waits in a step the longest is its end") {
    Program program;
    const Works forward = training_step(1, 12, 20);
    const Works backward = training_step(2, 12, 20);
    for (int index = 0; index < 40; ++index) {
        program.step(forward, kMs);
        if (index > 5) CHECK_FALSE(program.is_at_end());
        program.step(backward, 30 * kMs);
        if (index > 5) CHECK(program.is_at_end());
    }
}

TEST_CASE("one graph for each step is an iteration each") {
    Program program;
    program.steps({42}, 18);
    REQUIRE(program.period() == 1);
    program.forget();
    program.steps({42}, 100);
    CHECK(program.regular == 100);
    CHECK(program.begun == 100);
}

TEST_CASE("two graphs in turn are one iteration") {
    Program program;
    program.steps({42, 43}, 10);
    REQUIRE(program.period() == 2);
    program.forget();
    program.steps({42, 43}, 100);
    CHECK(program.regular == 100);
}

TEST_CASE("gradient accumulation is an iteration with its optimizer, not each of its parts") {
    Program program;
    const Works part = training_step(3, 24, 20);
    const Works optimizer = training_step(4, 1, 100);
    for (int index = 0; index < 40; ++index) {
        program.steps(part, 8);
        program.step(optimizer);
    }
    CHECK(program.period() == 8 * part.size() + optimizer.size());
}

TEST_CASE("evaluation and checkpoints now and then cost one odd iteration each") {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        CAPTURE(seed);
        const Works step = training_step(seed, static_cast<int>(seed * 4), 13);
        const Works evaluation = training_step(seed + 100, 20, 10);
        Program program;
        program.steps(step, 8, 20 * kMs);
        program.forget();
        for (int epoch = 0; epoch < 20; ++epoch) {
            program.steps(step, 25, 20 * kMs);
            CHECK(program.is_at_end());
            program.steps(evaluation, 2, 5 * kMs);
        }
        CHECK(program.period() == step.size());
        // The first step after each evaluation counts as part of it; all others are found.
        CHECK(program.regular >= 20 * 24);
        CHECK(program.ends >= 20 * 25 - 1);
    }
}

TEST_CASE("an epoch does not displace its steps where each is waited for, and does where none is") {
    const Works step = training_step(1, 6, 10);
    const Works evaluation = training_step(2, 20, 10);
    const auto period_after = [&](std::int64_t wait_ns) {
        Program program;
        for (int epoch = 0; epoch < 10; ++epoch) {
            program.steps(step, 10, wait_ns);
            program.steps(evaluation, 2, 2 * wait_ns);
        }
        return program.period();
    };
    CHECK(period_after(10 * kMs) == step.size());
    CHECK(period_after(0) == 10 * step.size() + 2 * evaluation.size());
}

TEST_CASE("a kernel more or less spoils its own iteration only") {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        CAPTURE(seed);
        std::mt19937_64 dice(seed);
        const Works step = training_step(seed, static_cast<int>(seed), 20);
        Program program;
        program.steps(step, 8, 20 * kMs);
        program.forget();
        int spoilt = 0;
        for (int index = 0; index < 300; ++index) {
            Works odd = step;
            // Not before the first, and not among the last ones, by which the end is known.
            const auto place = static_cast<std::ptrdiff_t>(1 + dice() % (step.size() - 20));
            if (dice() % 10 == 0) {
                ++spoilt;
                if (dice() % 2 == 0)
                    odd.insert(odd.begin() + place, 987654321);
                else
                    odd.erase(odd.begin() + place);
            }
            program.step(odd, 20 * kMs);
            REQUIRE(program.is_at_end());
        }
        CHECK(program.ends == 300);
        CHECK(program.regular == 300 - spoilt);
    }
}

TEST_CASE("an odd graph between graphs is no reason to lose them") {
    Program program;
    program.steps({42}, 20);
    program.forget();
    std::mt19937_64 dice(7);
    int regular = 0;
    for (int index = 0; index < 50; ++index) {
        const int count = static_cast<int>(dice() % 20 + 1);
        regular += count;
        program.steps({42}, count);
        program.step({77});
    }
    CHECK(program.regular == regular);
}

TEST_CASE("where nothing repeats there is no iteration") {
    std::mt19937_64 dice(5);
    Program program;
    for (int index = 0; index < 300'000; ++index) program.launch(dice() % 5000);
    CHECK(program.period() == 0);
    CHECK(program.ends == 0);
    for (int index = 0; index < 300'000; ++index) program.launch(dice() % 4);
    CHECK(program.ends == 0);
}

TEST_CASE("the program that goes over to other work gets its new iterations") {
    Program program;
    const Works one = training_step(1, 10, 10);
    const Works other = training_step(2, 30, 20);
    program.steps(one, 50);
    CHECK(program.period() == one.size());
    program.steps(other, 10);
    CHECK(program.period() == other.size());
    program.steps(one, 60);
    CHECK(program.period() == one.size());
    // As long as the one before, and another.
    program.steps(training_step(3, 10, 10), 10);
    CHECK(program.iterations().kinds() > 3);
    CHECK(program.is_at_end());
    // Long without any: the last one is forgotten.
    std::mt19937_64 dice(6);
    for (std::uint32_t index = 0; index < 2 * kWindow; ++index) program.launch(dice());
    CHECK(program.period() == 0);
}

TEST_CASE("a period that the window cannot hold is not found, and breaks nothing") {
    Program program;
    const Works step = training_step(9, 1, 20'000);
    REQUIRE(step.size() > kPeriodMax);
    program.steps(step, 6);
    CHECK(program.regular == 0);
}

TEST_CASE("three equal periods settle it, two do not") {
    const Works step = training_step(4, 1, 300);
    Program program;
    program.steps(step, 2);
    CHECK(program.period() == 0);
    program.step(step);
    program.step({step.begin(), step.begin() + 8});
    CHECK(program.period() == step.size());
}
