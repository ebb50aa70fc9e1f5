// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>
#include <signal.h>

#include <array>

#include "vgpu/interposer/training.h"

using namespace vgpu;

namespace {

// What a step takes of memory, with its context.
std::string known(const Step& step) {
    const std::uint64_t persistent = (kContext + step.persistent) / kMiB;
    return " persistent=" + std::to_string(persistent) +
           "M peak=" + std::to_string(persistent + step.ephemeral / kMiB) + "M";
}

struct Job {
    std::string terms;
    Step step;
    int steps = 100;
};

// Starts a tenant for each, number by number; returns when all have made their steps.
void run_together(const GpuNode& node, const std::vector<Job>& jobs, Meter& meter) {
    const int count = static_cast<int>(jobs.size());
    std::vector<pid_t> children;
    static int runs = 0;
    ++runs;  // memory of the last one's processes is free only some time after their end
    for (int number = 0; number < count; ++number) {
        const Job& job = jobs[static_cast<std::size_t>(number)];
        const std::string name = "run-" + std::to_string(runs) + "-" + std::to_string(number);
        node.tenant(name, job.terms);
        children.push_back(start([&, name, number] {
            node.be(name);
            const Cuda cuda;
            cuda.use_device();
            Training training(cuda, job.step, meter, number);
            ++meter.ready;
            MUST(eventually([&] { return meter.ready == count; }));
            training.run(job.steps);
            return 0;
        }));
    }
    REQUIRE(eventually([&] { return meter.ready == count; }));
    for (const pid_t child : children) succeeds(end_of(child));
}

}  // namespace

TEST_CASE("of two trainings each makes its step while the other one thinks") {
    constexpr int kSteps = 100;
    Meter& meter = Meter::make();
    // A thought ends when the other one has made its next step.
    const auto think_until_step_of = [&](int other) {
        return [&meter, other] {
            const int before = meter.steps[other];
            MUST(eventually([&] { return meter.steps[other] > before || before == kSteps; }));
        };
    };
    Step step{.kernels = 40, .kernel_ns = 50'000, .ephemeral = 200 * kMiB};
    const GpuNode node("");
    node.order("rotation half memory=700M policy=pack");
    const std::string terms = "rotation=half memory=500M" + known(step);
    std::vector<Job> jobs(2, {terms, step, kSteps});
    jobs[0].step.think = think_until_step_of(1);
    jobs[1].step.think = think_until_step_of(0);
    run_together(node, jobs, meter);
    // Both peaks would be 728 MiB: iterations took their memory in turn.
    CHECK(meter.highest <= 700 * kMiB);
    CHECK(meter.most_inside == 1);
}

TEST_CASE("more trainings than their peaks allow share a rotation, and none is refused memory") {
    const Step step{20, 100'000, 50 * kMiB, 300 * kMiB, 2};
    const GpuNode node("");
    // 4 * 114 + 300 = 756; all peaks together are 1656.
    node.order("rotation tight memory=760M policy=fair");
    const std::string terms = "rotation=tight memory=500M" + known(step);
    Meter& meter = Meter::make();
    run_together(node, {{terms, step}, {terms, step}, {terms, step}, {terms, step}}, meter);
    CHECK(meter.highest <= 760 * kMiB);
    CHECK(meter.most_inside == 1);
}

TEST_CASE("trainings that poll for their work take turns in a rotation as others do") {
    const Step step{.kernels = 20,
                    .kernel_ns = 100'000,
                    .persistent = 50 * kMiB,
                    .ephemeral = 300 * kMiB,
                    .think_ms = 2,
                    .polls = true};
    const GpuNode node("");
    node.order("rotation polled memory=640M policy=fair");
    const std::string terms = "rotation=polled memory=500M" + known(step);
    Meter& meter = Meter::make();
    run_together(node, {{terms, step}, {terms, step}}, meter);
    CHECK(meter.highest <= 640 * kMiB);
    CHECK(meter.most_inside == 1);
}

TEST_CASE("fair: a training of long steps gets no more of the GPU than one of short ones") {
    const Step shorter{20, 100'000, 50 * kMiB, 50 * kMiB, 0};
    const Step longer{100, 100'000, 50 * kMiB, 50 * kMiB, 0};
    const GpuNode node("");
    node.order("rotation even memory=2G policy=fair");
    Meter& meter = Meter::make();
    std::vector<pid_t> children;
    int number = 0;
    for (const Step& step : {shorter, longer}) {
        const std::string name = "trainer-" + std::to_string(number);
        node.tenant(name, "rotation=even memory=500M" + known(step));
        children.push_back(start([&, name, number] {
            node.be(name);
            const Cuda cuda;
            cuda.use_device();
            Training training(cuda, step, meter, number);
            ++meter.ready;
            MUST(eventually([&] { return meter.ready == 2; }));
            training.run(1'000'000);
            return 0;
        }));
        ++number;
    }
    REQUIRE(eventually([&] { return meter.steps[1] > 20; }));
    const auto starved = [&] {
        return starved_ns(node.arbiter()) + starved_ns(children[0]) + starved_ns(children[1]);
    };
    const auto part = [&, before = std::array{meter.steps[0].load(), meter.steps[1].load()}] {
        const double first = 21.0 * (meter.steps[0] - before[0]);
        const double second = 101.0 * (meter.steps[1] - before[1]);
        return first / (first + second);
    };
    const std::int64_t starved_before = starved();
    pause_ms(3000);
    const double first_part = part();
    const bool is_busy = is_too_busy(starved() - starved_before, 3'000'000'000);
    for (const pid_t child : children) ::kill(child, SIGKILL);
    for (const pid_t child : children) CHECK(end_of(child) == 128 + SIGKILL);
    MESSAGE("part ", first_part, is_busy ? " on a busy machine" : "");
    if (!is_busy) CHECK(first_part == doctest::Approx(0.5).epsilon(0.2));
}

TEST_CASE("who has no iterations does not keep a rotation from those who have") {
    const Step step{20, 100'000, 50 * kMiB, 50 * kMiB, 2};
    const GpuNode node("");
    node.order("rotation mixed memory=2G policy=fair");
    node.tenant("rigid", "rotation=mixed memory=500M");
    Meter& meter = Meter::make();
    const pid_t rigid = start([&] {
        node.be("rigid");
        const Cuda cuda;
        cuda.use_device();
        Training training(cuda, {1, 1000, kMiB, kMiB, 0}, meter, 1);
        const CUfunction functions[] = {load_spin(cuda), load_spin(cuda), load_spin(cuda)};
        std::uint64_t dice = 1;
        while (true) {
            for (int ahead = 0; ahead < 8; ++ahead) {
                dice = dice * 6364136223846793005U + 1442695040888963407U;
                training.launch(functions[(dice >> 33U) % 3], 300'000);
            }
            MUST(CUDA(cuCtxSynchronize)() == CUDA_SUCCESS);
        }
        return 0;
    });
    run_together(node, {{"rotation=mixed memory=500M", step, 300}}, meter);
    CHECK(meter.steps[0] == 300);
    ::kill(rigid, SIGKILL);
    CHECK(end_of(rigid) == 128 + SIGKILL);
}

TEST_CASE("what no turn could give is refused, and the death of the holder passes its turn on") {
    const Step step{20, 100'000, 50 * kMiB, 50 * kMiB, 2};
    const GpuNode node("");
    node.order("rotation last memory=1G policy=fair");
    node.tenant("greedy", "rotation=last memory=400M");
    Meter& meter = Meter::make();
    const pid_t greedy = start([&] {
        node.be("greedy");
        const Cuda cuda;
        cuda.use_device();
        Training training(cuda, step, meter, 1);
        CUdeviceptr pointer = 0;
        MUST(CUDA(cuMemAlloc_v2)(&pointer, 500 * kMiB) == CUDA_ERROR_OUT_OF_MEMORY);
        meter.ready = 7;
        training.run(1'000'000);
        return 0;
    });
    REQUIRE(eventually([&] { return meter.steps[1] > 10; }));
    meter.ready = 0;
    const pid_t killer = start([&] {
        const bool takes_turns = eventually([&] { return meter.steps[0] > 10; });
        ::kill(greedy, SIGKILL);
        return takes_turns ? 0 : 1;
    });
    run_together(node, {{"rotation=last memory=400M", step, 300}}, meter);
    CHECK(end_of(killer) == 0);
    CHECK(end_of(greedy) == 128 + SIGKILL);
    CHECK(meter.steps[0] == 300);
}

TEST_CASE("a rotation and who may be in it are checked, with what to do") {
    const GpuNode node("");
    CHECK(
        node.refused("tenant a gpus=" + GpuNode::uuid(0) + " rotation=none").find("make it with") !=
        std::string::npos);
    node.order("rotation small memory=1G");
    CHECK(
        node.refused("tenant a gpus=" + GpuNode::uuid(0) + ":2G rotation=small").find("enlarge") !=
        std::string::npos);
    const std::string both = GpuNode::uuid(0) + "," + GpuNode::uuid(1);
    CHECK(node.refused("tenant a gpus=" + both + " rotation=small").find("2 GPUs") !=
          std::string::npos);
    node.tenant("a", "rotation=small");
    CHECK(node.status("a", "rotation") == "small");
    CHECK(node.status("a", "limit") == "1073741824");
    CHECK(node.refused("set a memory=3G").find("enlarge") != std::string::npos);
    CHECK(node.refused("rotation small memory=500M").find("lower that first") != std::string::npos);
    CHECK(node.refused("set job rotation=small").find("drop it first") != std::string::npos);
    CHECK(node.refused("rotation other").find("memory=") != std::string::npos);
    CHECK(node.refused("rotation other memory=1G policy=chance").find("srtf") != std::string::npos);
    CHECK(node.refused("rotation other memory=1G share=0.5").find("a rotation has") !=
          std::string::npos);
}
