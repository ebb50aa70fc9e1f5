// SPDX-License-Identifier: Apache-2.0
#include "vgpu/interposer/process/stream_marks.h"

#include <algorithm>

namespace berth::vgpu::interposer {
namespace {

constexpr std::int64_t kBetweenMarks = 500'000;  // ns of work
constexpr std::int64_t kUnmarkedMax = 50'000;    // of short work behind the last passed mark
constexpr std::int64_t kFollows = 500'000;       // before one ends the next must be launched
constexpr std::uint32_t kLaunchesMax = 64;       // between marks
constexpr std::int64_t kLateMax = 250'000;       // of who looks whether a mark is passed
constexpr std::int64_t kWeightMax = 16;
constexpr std::uint32_t kMarksUnmeasured = 4;  // while nothing is known about the work

}  // namespace

std::int64_t StreamMarks::oldest_since() const {
    return std::max(marks_[first_].made_at, busy_until_);
}

// What is left of what was launched, by what launches took lately. What is on the GPU now may take
// longer than that, and counts for nothing then; so the next one is launched before it ends.
std::int64_t StreamMarks::under_way(std::int64_t now) const {
    const std::int64_t left = marks_[first_].launches * launch_ns_ - (now - oldest_since());
    std::int64_t launches = unmarked_;
    for (std::uint32_t index = 1; index < count_; ++index)
        launches += marks_[(first_ + index) % kMarksMax].launches;
    return launches * launch_ns_ + std::max<std::int64_t>(left, 0);
}

std::int64_t StreamMarks::room_at(std::int64_t ahead, std::int64_t now) const {
    if (count_ == 0) return now;
    if (launch_ns_ == 0) return count_ >= kMarksUnmeasured ? kNever : now;
    if (count_ == kMarksMax) return kNever;
    const std::int64_t left = under_way(now);
    if (left <= std::max(ahead - launch_ns_, kFollows)) return now;
    // For several at once, where they are short: to wake for each costs more than they take.
    return now + left - std::max(ahead - kBetweenMarks, kFollows);
}

void StreamMarks::launched(std::int64_t now) {
    // Those before it have ended long ago, without a mark.
    if (count_ == 0 && now - launched_at_ >= kUnmarkedMax) unmarked_ = 0;
    launched_at_ = now;
    if (unmarked_++ == 0) first_unmarked_at_ = now;
}

bool StreamMarks::is_mark_due(std::int64_t now) const {
    const std::int64_t between = count_ == 0 ? kUnmarkedMax : kBetweenMarks;
    return launch_ns_ == 0 || unmarked_ >= kLaunchesMax || unmarked_ * launch_ns_ >= between ||
           now - first_unmarked_at_ >= between || (count_ == 0 && now - marked_at_ >= between);
}

void StreamMarks::mark(CUevent event, std::int64_t now) {
    if (count_ == 0) looked_at_ = now;
    marks_[(first_ + count_++) % kMarksMax] = {event, first_unmarked_at_, unmarked_};
    unmarked_ = 0;
    marked_at_ = now;
}

// Several marks that are found together took the time together.
void StreamMarks::passed(std::uint32_t count, std::int64_t now, Seen seen) {
    const std::int64_t began = oldest_since();
    const bool is_begin_known = !was_seen_late_ || marks_[first_].made_at > busy_until_;
    std::int64_t launches = 0;
    for (; count > 0; --count, --count_) {
        launches += std::max<std::uint32_t>(marks_[first_].launches, 1);
        first_ = (first_ + 1) % kMarksMax;
    }
    was_seen_late_ = seen == Seen::later && now - std::max(looked_at_, began) > kLateMax;
    if (is_begin_known && !was_seen_late_) learn(std::max<std::int64_t>(now - began, 0), launches);
    busy_until_ = looked_at_ = now;
}

void StreamMarks::learn(std::int64_t took, std::int64_t launches) {
    const std::int64_t each = took / launches;
    // What took little may say more about who looks late: it counts by its launches.
    const std::int64_t weight = took >= kLateMax ? kWeightMax : std::min(launches, kWeightMax);
    if (launch_ns_ == 0) launch_ns_ = each;
    launch_ns_ += (each - launch_ns_) * weight / (4 * kWeightMax) + 1;
}

std::int64_t StreamMarks::unmarked_ns(std::int64_t now) const {
    if (count_ > 0 || unmarked_ == 0) return 0;
    // It ran on from when the last mark was passed, or from its launch.
    const std::int64_t from = was_seen_late_ ? launched_at_ : busy_until_;
    return std::max<std::int64_t>(unmarked_ * launch_ns_ - (now - from), 0);
}

}  // namespace berth::vgpu::interposer
