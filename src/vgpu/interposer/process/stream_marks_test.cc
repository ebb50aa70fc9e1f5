// SPDX-License-Identifier: Apache-2.0
#include "vgpu/interposer/process/stream_marks.h"

#include <doctest/doctest.h>

using namespace berth::vgpu::interposer;

namespace {

constexpr std::int64_t kUs = 1000;
constexpr std::int64_t kAhead = 2000 * kUs;
const CUevent kEvent = reinterpret_cast<CUevent>(std::uintptr_t{16});

// Launches `count` pieces at once with a mark behind the last.
void launch(StreamMarks& marks, int count, std::int64_t now) {
    for (; count > 0; --count) marks.launched(now);
    marks.mark(kEvent, now);
}

// A stream whose pieces are known to take this time.
StreamMarks that_takes(std::int64_t ns) {
    StreamMarks marks;
    for (std::int64_t now = 0; now < 100 * ns; now += ns) {
        launch(marks, 1, now);
        marks.passed(1, now + ns, Seen::at_once);
    }
    return marks;
}

}  // namespace

TEST_CASE("what a launch takes is what lies between marks that were waited for") {
    const StreamMarks marks = that_takes(1000 * kUs);
    CHECK(marks.launch_ns() == doctest::Approx(1000.0 * kUs).epsilon(0.01));
}

TEST_CASE("what is found long after its end says nothing of what a launch takes") {
    StreamMarks marks = that_takes(50 * kUs);
    std::int64_t now = 10'000'000 * kUs;
    for (int round = 0; round < 20; ++round, now += 20'000 * kUs) {
        launch(marks, 1, now);
        marks.passed(1, now + 20'000 * kUs, Seen::later);
    }
    CHECK(marks.launch_ns() < 60 * kUs);
    // Looks that follow each other closely do.
    for (int round = 0; round < 50; ++round, now += 400 * kUs) {
        launch(marks, 1, now);
        marks.not_passed(now + 200 * kUs);
        marks.passed(1, now + 400 * kUs, Seen::later);
    }
    CHECK(marks.launch_ns() > 300 * kUs);
}

TEST_CASE(
    "there is room for what ends within the time ahead, and for one piece behind a long one") {
    StreamMarks shorts = that_takes(100 * kUs);
    const std::int64_t now = 10'000'000 * kUs;
    int launched = 0;
    for (; shorts.room_at(kAhead, now) <= now && launched < 1000; ++launched)
        launch(shorts, 1, now);
    CHECK(launched >= 15);
    CHECK(launched <= 21);
    CHECK(shorts.room_at(kAhead, now) < now + kAhead);
    StreamMarks longs = that_takes(20'000 * kUs);
    launch(longs, 1, now);
    const std::int64_t at = longs.room_at(kAhead, now);
    CHECK(at > now + 15'000 * kUs);
    CHECK(at < now + 20'000 * kUs);
}

TEST_CASE("of work that nothing is known about a few pieces may be under way") {
    StreamMarks marks;
    int launched = 0;
    for (; marks.room_at(kAhead, 1) <= 1 && launched < 1000; ++launched) launch(marks, 1, 1);
    CHECK(launched == 4);
    CHECK(marks.room_at(kAhead, 1) == StreamMarks::kNever);
}

TEST_CASE("short work behind a passed mark goes without one, for a while") {
    StreamMarks marks = that_takes(5 * kUs);
    const std::int64_t now = 10'000'000 * kUs;
    launch(marks, 1, now);
    marks.passed(1, now + 5 * kUs, Seen::at_once);
    marks.launched(now + 6 * kUs);
    CHECK(!marks.is_mark_due(now + 6 * kUs));
    CHECK(marks.unmarked_ns(now + 6 * kUs) > 0);
    CHECK(marks.unmarked_ns(now + 50 * kUs) == 0);
    marks.launched(now + 60 * kUs);
    CHECK(marks.is_mark_due(now + 60 * kUs));
}
