// SPDX-License-Identifier: Apache-2.0
#include "vgpu/device/engine.h"

#include <doctest/doctest.h>

#include <memory>

using namespace berth::vgpu::device;

namespace {

constexpr std::uint64_t kMs = 1'000'000;
constexpr EngineRule kSlices = {Sharing::Slices, 2 * kMs};
constexpr EngineRule kConcurrent = {Sharing::Concurrent, 2 * kMs};

std::unique_ptr<Engine> engine() { return std::make_unique<Engine>(); }

}  // namespace

TEST_CASE("a queue alone is served as time passes, and no more than its work") {
    const auto gpu = engine();
    const auto queue = open_queue(*gpu, 0);
    CHECK(submit(*gpu, queue, 1000, 5 * kMs) == 5 * kMs);
    advance(*gpu, kSlices, 3 * kMs);
    CHECK(gpu->queues[queue].served_ns == 3 * kMs);
    advance(*gpu, kSlices, 9 * kMs);
    CHECK(gpu->queues[queue].served_ns == 5 * kMs);
    CHECK(gpu->busy_ns == 5 * kMs);
    CHECK(gpu->queues[queue].dry_ns == 5 * kMs);
}

TEST_CASE("work that comes late does not run in the past") {
    const auto gpu = engine();
    const auto queue = open_queue(*gpu, 0);
    advance(*gpu, kSlices, 10 * kMs);
    submit(*gpu, queue, 1000, kMs);
    advance(*gpu, kSlices, 10 * kMs);
    CHECK(gpu->queues[queue].served_ns == 0);
    advance(*gpu, kSlices, 10 * kMs + kMs / 2);
    CHECK(gpu->queues[queue].served_ns == kMs / 2);
}

TEST_CASE("processes take turns of one slice") {
    const auto gpu = engine();
    const auto one = open_queue(*gpu, 3);
    const auto other = open_queue(*gpu, 7);
    submit(*gpu, one, 1000, 100 * kMs);
    submit(*gpu, other, 1000, 100 * kMs);
    advance(*gpu, kSlices, 3 * kMs);
    CHECK(gpu->queues[one].served_ns == 2 * kMs);
    CHECK(gpu->queues[other].served_ns == 1 * kMs);
    advance(*gpu, kSlices, 40 * kMs);
    CHECK(gpu->queues[one].served_ns == 20 * kMs);
    CHECK(gpu->queues[other].served_ns == 20 * kMs);
}

TEST_CASE("a process with more streams gets no more slices") {
    const auto gpu = engine();
    const auto one = open_queue(*gpu, 0);
    const auto two = open_queue(*gpu, 0);
    const auto other = open_queue(*gpu, 1);
    for (const auto queue : {one, two, other}) submit(*gpu, queue, 1000, 1000 * kMs);
    advance(*gpu, kSlices, 80 * kMs);
    CHECK(gpu->served_ns[0] == 40 * kMs);
    CHECK(gpu->served_ns[1] == 40 * kMs);
    CHECK(gpu->queues[one].served_ns == gpu->queues[two].served_ns);
}

TEST_CASE("an idle process gives its slice away at once") {
    const auto gpu = engine();
    const auto one = open_queue(*gpu, 0);
    const auto other = open_queue(*gpu, 1);
    submit(*gpu, one, 1000, 100 * kMs);
    submit(*gpu, other, 1000, kMs / 2);
    advance(*gpu, kSlices, 50 * kMs);
    CHECK(gpu->queues[other].served_ns == kMs / 2);
    CHECK(gpu->queues[one].served_ns == 50 * kMs - kMs / 2);
    CHECK(gpu->busy_ns == 50 * kMs);
}

TEST_CASE("small streams of one process run side by side, large ones share") {
    const auto gpu = engine();
    const auto one = open_queue(*gpu, 0);
    const auto two = open_queue(*gpu, 0);
    submit(*gpu, one, 400, 10 * kMs);
    submit(*gpu, two, 400, 10 * kMs);
    advance(*gpu, kSlices, 10 * kMs);
    CHECK(gpu->queues[one].backlog_ns() == 0);
    CHECK(gpu->queues[two].backlog_ns() == 0);
    submit(*gpu, one, 1000, 10 * kMs);
    submit(*gpu, two, 1000, 10 * kMs);
    advance(*gpu, kSlices, 20 * kMs);
    CHECK(gpu->queues[one].backlog_ns() == 5 * kMs);
    CHECK(gpu->queues[two].backlog_ns() == 5 * kMs);
}

TEST_CASE("concurrent sharing runs processes side by side and slows a crowd") {
    const auto gpu = engine();
    const auto one = open_queue(*gpu, 0);
    const auto other = open_queue(*gpu, 1);
    submit(*gpu, one, 500, 10 * kMs);
    submit(*gpu, other, 500, 10 * kMs);
    advance(*gpu, kConcurrent, 10 * kMs);
    CHECK(gpu->queues[one].backlog_ns() == 0);
    CHECK(gpu->queues[other].backlog_ns() == 0);
    submit(*gpu, one, 1000, 10 * kMs);
    submit(*gpu, other, 500, 10 * kMs);
    advance(*gpu, kConcurrent, 25 * kMs);
    CHECK(gpu->queues[one].backlog_ns() == 0);
    CHECK(gpu->queues[other].backlog_ns() == 0);
}

TEST_CASE("many small advances give what one large advance gives") {
    const auto fine = engine();
    const auto coarse = engine();
    for (const auto& gpu : {fine.get(), coarse.get()}) {
        for (std::uint32_t process = 0; process < 3; ++process)
            submit(*gpu, open_queue(*gpu, process), 1000, (10 + process) * kMs);
    }
    for (std::uint64_t now = 0; now <= 40 * kMs; now += 137'000) advance(*fine, kSlices, now);
    advance(*fine, kSlices, 40 * kMs);
    advance(*coarse, kSlices, 40 * kMs);
    CHECK(fine->busy_ns == coarse->busy_ns);
    for (int queue = 0; queue < 3; ++queue)
        CHECK(fine->queues[queue].served_ns == coarse->queues[queue].served_ns);
}

TEST_CASE("the queues of a process that is gone are free again") {
    const auto gpu = engine();
    const auto gone = open_queue(*gpu, 0);
    submit(*gpu, gone, 1000, 1000 * kMs);
    const auto stays = open_queue(*gpu, 1);
    submit(*gpu, stays, 1000, 10 * kMs);
    close_queues_of(*gpu, 0);
    advance(*gpu, kSlices, 10 * kMs);
    CHECK(gpu->queues[stays].backlog_ns() == 0);
    CHECK(open_queue(*gpu, 2) == gone);
    CHECK(gpu->queues[gone].backlog_ns() == 0);
}
