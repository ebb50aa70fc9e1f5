// SPDX-License-Identifier: Apache-2.0
//
// A job of eight processes is taken off its GPU and put back by the freezer of its node, with a
// failure at every step. What it has on the GPU adds up to the same afterwards.
#include <doctest/doctest.h>
#include <signal.h>

#include <chrono>
#include <deque>
#include <random>
#include <thread>

#include "vgpu/freezer/node.h"

using namespace berth::test_vgpu;
using berth::supervision::FreezerAnswer;
using berth::supervision::FreezerOutcome;

namespace {

constexpr unsigned int kWorkers = 8;
constexpr std::size_t kEach = 32;  // MiB

struct Job {
    std::deque<Worker> workers;

    explicit Job(const Node& node, unsigned int count = kWorkers) {
        for (unsigned int i = 0; i < count; ++i) workers.emplace_back(node, kEach, 17 * i + 3);
    }
    // All of them go on and have what they had.
    void check_running() {
        for (Worker& worker : workers) {
            CHECK_FALSE(worker.is_halted());
            CHECK(worker.sum() == worker.filled_with());
        }
    }
    void check_halted() {
        for (Worker& worker : workers) CHECK(worker.is_halted());
    }
};

// Takes what is left of a GPU down to a few MiB.
std::size_t free_mebibytes(const Tenant& tenant) {
    const std::string answer = tenant.ask("info");
    return std::stoull(answer.substr(2)) / kMebibyte;
}

void check(const FreezerAnswer& answer, FreezerOutcome outcome, const std::string& reason) {
    CHECK(answer.outcome == outcome);
    CAPTURE(answer.reason);
    CHECK(answer.reason.find(reason) != std::string::npos);
}

}  // namespace

TEST_CASE("a job of eight processes comes off the GPU as a whole, and back with all it had") {
    Node node;
    Job job(node);
    const FreezerAnswer frozen = node.freeze();
    check(frozen, FreezerOutcome::Done, "");
    CHECK(frozen.bytes == static_cast<std::int64_t>(kWorkers * (kEach * kMebibyte + kContext)));
    job.check_halted();
    // Nothing of it is on the GPU: all of the memory is another job's now.
    {
        const Tenant next(node.description(), Kin::Stranger);
        CHECK(next.ask("context") == "0");
        CHECK(free_mebibytes(next) == 2048 - 64 - kContext / kMebibyte);
    }
    const FreezerAnswer thawed = node.thaw();
    check(thawed, FreezerOutcome::Done, "");
    CHECK(thawed.bytes == frozen.bytes);
    job.check_running();
    check(node.freeze(), FreezerOutcome::Done, "");
    check(node.thaw(), FreezerOutcome::Done, "");
    job.check_running();
}

TEST_CASE("asked again, what is done already is done") {
    Node node;
    Job job(node, 2);
    check(node.thaw(), FreezerOutcome::Done, "");
    job.check_running();
    check(node.freeze(), FreezerOutcome::Done, "");
    check(node.freeze(), FreezerOutcome::Done, "");
    job.check_halted();
    check(node.thaw(), FreezerOutcome::Done, "");
    check(node.thaw(), FreezerOutcome::Done, "");
    job.check_running();
}

TEST_CASE("processes of the job that use no GPU are halted with the others") {
    Node node;
    Job job(node, 2);
    const Tenant bystander(node.description());
    CHECK(bystander.ask("nothing") == "unknown");
    check(node.freeze(), FreezerOutcome::Done, "");
    bystander.tell("nothing");
    job.check_halted();
    check(node.thaw(), FreezerOutcome::Done, "");
    CHECK(bystander.hear() == "unknown");
}

TEST_CASE("a job that uses no GPU is left as it is") {
    Node node;
    const Tenant bystander(node.description());
    CHECK(bystander.ask("nothing") == "unknown");
    check(node.freeze(), FreezerOutcome::Undone, "none of its processes uses a GPU");
    CHECK(bystander.ask("nothing") == "unknown");
}

TEST_CASE("a job goes on where there is no host memory for what it has on the GPU") {
    Node node("", {"--host-memory", "100M"});
    Job job(node);
    check(node.freeze(), FreezerOutcome::Undone,
          "512M on its GPUs do not fit into the 100M of host memory");
    job.check_running();
}

TEST_CASE("one process whose work does not end in time keeps the whole job running") {
    Node node;
    Job job(node);
    CHECK(job.workers[5].tenant().ask("launch 5000000000") == "0");
    check(node.freeze(100), FreezerOutcome::Undone, "CUDA_ERROR_NOT_READY");
    job.check_running();
    check(node.freeze(), FreezerOutcome::Done, "");
    check(node.thaw(), FreezerOutcome::Done, "");
    job.check_running();
}

TEST_CASE("one process that cannot be checkpointed keeps the whole job running") {
    Node node;
    Job job(node);
    CHECK(job.workers[3].tenant().ask("managed 4096").starts_with("0 "));
    check(node.freeze(), FreezerOutcome::Undone, "CUDA_ERROR_NOT_SUPPORTED");
    job.check_running();
}

TEST_CASE("a checkpoint that finds no memory is undone, one that fails loses the job") {
    for (const std::string outcome : {"out_of_memory", "unsupported"}) {
        Node node("driver=13.0; checkpoint=" + outcome);
        Job job(node);
        check(node.freeze(), FreezerOutcome::Undone, "process ");
        job.check_running();
    }
    Node node("driver=13.0; checkpoint=fails");
    const Job job(node);
    check(node.freeze(), FreezerOutcome::Lost, "the driver gave up a process");
}

TEST_CASE("a job without room to come back to stays frozen, until there is room") {
    Node node;
    Job job(node);
    check(node.freeze(), FreezerOutcome::Done, "");
    Tenant next(node.description(), Kin::Stranger);
    CHECK(next.ask("context") == "0");
    CHECK(next.ask("alloc " + std::to_string(1700 * kMebibyte)).starts_with("0 "));
    check(node.thaw({}, 100), FreezerOutcome::Undone, "CUDA_ERROR_OUT_OF_MEMORY");
    job.check_halted();
    CHECK(free_mebibytes(next) == 2048 - 64 - 1700 - kContext / kMebibyte);
    // A process that leaves while it is asked for need not have left before.
    node.tell_thaw();
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    next.kill();
    check(node.hear().value(), FreezerOutcome::Done, "");
    job.check_running();
}

TEST_CASE("a process that dies frozen, or on the way, does not hold the others up") {
    Node node;
    Job job(node);
    check(node.freeze(), FreezerOutcome::Done, "");
    job.workers[7].tenant().kill();
    job.workers.pop_back();
    check(node.thaw(), FreezerOutcome::Done, "");
    job.check_running();
    CHECK(job.workers[6].tenant().ask("launch 400000000") == "0");
    node.tell_freeze();
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    job.workers[6].tenant().kill();
    job.workers.pop_back();
    check(node.hear().value(), FreezerOutcome::Done, "");
    check(node.thaw(), FreezerOutcome::Done, "");
    job.check_running();
}

TEST_CASE("a job comes back on another GPU of the node, and again on the first") {
    Node node;
    Job job(node, 2);
    check(node.freeze(), FreezerOutcome::Done, "");
    check(node.thaw({{0, 1}}), FreezerOutcome::Done, "");
    job.check_running();
    const Tenant next(node.description(), Kin::Stranger);
    CHECK(next.ask("context") == "0");  // on the first GPU
    CHECK(free_mebibytes(next) == 2048 - 64 - kContext / kMebibyte);
    check(node.freeze(), FreezerOutcome::Done, "");
    check(node.thaw({{1, 0}}), FreezerOutcome::Done, "");
    job.check_running();
}

TEST_CASE("a driver before CUDA 13 brings a job back on the same GPUs only") {
    Node node("driver=12.8");
    Job job(node, 2);
    check(node.freeze(), FreezerOutcome::Done, "");
    check(node.thaw({{0, 1}}), FreezerOutcome::Undone, "CUDA 13.0 can move it");
    job.check_halted();
    check(node.thaw({{0, 0}}), FreezerOutcome::Done, "");
    job.check_running();
}

TEST_CASE("a freezer says at its start what the driver cannot do") {
    Node node;
    node.kill_freezer();
    CHECK(node.start_freezer() == "ready moves");
    Node stays("driver=12.8");
    stays.kill_freezer();
    CHECK(stays.start_freezer() == "ready stays");
}

TEST_CASE("a freezer killed at any moment leaves nothing that its successor does not put right") {
    Node node("driver=13.0; copy_gib_per_s=4");
    Job job(node);
    std::mt19937 dice(20);
    int cut = 0;
    for (int round = 0; round < 30; ++round) {
        CAPTURE(round);
        const bool is_freeze = round % 2 == 0;
        is_freeze ? node.tell_freeze() : node.tell_thaw();
        std::this_thread::sleep_for(std::chrono::microseconds(dice() % 60'000));
        node.kill_freezer();
        ++cut;
        CHECK(node.start_freezer() == "ready moves");
        // Half of the time it goes on, else it goes back.
        const bool wants_frozen = dice() % 2 == 0;
        check(wants_frozen ? node.freeze() : node.thaw(), FreezerOutcome::Done, "");
        if (wants_frozen) {
            job.check_halted();
            check(node.thaw(), FreezerOutcome::Done, "");
        }
        job.check_running();
        if (!is_freeze) continue;
        check(node.freeze(), FreezerOutcome::Done, "");
    }
    CHECK(cut == 30);
}
