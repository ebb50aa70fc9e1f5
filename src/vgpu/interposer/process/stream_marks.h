// SPDX-License-Identifier: Apache-2.0
//
// When may a stream be given more work, and when is a mark to follow it? A mark is an event
// without timing behind some of the launches; it is passed when all before it has ended.
//
// What a launch takes is learned from marks whose passing was seen at about the time it happened.
// Of two looks at a stream the first may have been long ago; then nothing is learned. Marks are set
// so that about half a millisecond of work lies between two of them. Short work behind the last
// passed mark may stay without one: a mark for each short kernel would take longer than the kernel.
//
// Holds no clock and calls no driver. Times are in ns, and never go back.
#pragma once

#include <cstdint>

#include "vgpu/abi/cuda_values.h"

namespace berth::vgpu::interposer {

// Whether the passing of a mark was waited for, or found at a look.
enum class Seen { at_once, later };

class StreamMarks {
  public:
    static constexpr std::int64_t kNever = INT64_MAX;

    // When there is room for one more launch, if no mark is passed before that; `now` or before:
    // there is. kNever: once a mark is passed. `ahead` ns of work may be under way, and always as
    // much as lets a piece follow another without a gap.
    std::int64_t room_at(std::int64_t ahead, std::int64_t now) const;

    // Something was launched.
    void launched(std::int64_t now);
    // Whether a mark is to follow it now, and there is room for one.
    bool is_mark_due(std::int64_t now) const;
    bool has_room_for_mark() const { return count_ < kMarksMax; }
    void mark(CUevent event, std::int64_t now);

    bool is_empty() const { return count_ == 0; }
    // The oldest mark: its event, and since when work before it has been under way.
    CUevent oldest() const { return marks_[first_].event; }
    std::int64_t oldest_since() const;
    // The oldest mark has not been passed by now.
    void not_passed(std::int64_t now) { looked_at_ = now; }
    // The `count` oldest marks have been passed.
    void passed(std::uint32_t count, std::int64_t now, Seen seen);
    CUevent event(std::uint32_t index) const { return marks_[(first_ + index) % kMarksMax].event; }
    std::uint32_t count() const { return count_; }

    // What one launch takes, lately; 0: not known.
    std::int64_t launch_ns() const { return launch_ns_; }
    // Of work behind the last mark, how much may still be under way where all marks are passed.
    std::int64_t unmarked_ns(std::int64_t now) const;

  private:
    static constexpr std::uint32_t kMarksMax = 64;
    struct Mark {
        CUevent event = nullptr;
        std::int64_t made_at = 0;  // when the first launch before it was, behind the mark before
        std::uint32_t launches = 0;  // since the mark before
    };

    std::int64_t under_way(std::int64_t now) const;
    void learn(std::int64_t took, std::int64_t launches);

    Mark marks_[kMarksMax];  // a ring: what is under way
    std::uint32_t first_ = 0;
    std::uint32_t count_ = 0;
    std::uint32_t unmarked_ = 0;  // launches since the last mark
    std::int64_t launch_ns_ = 0;
    std::int64_t busy_until_ = 0;  // a mark was seen as passed
    bool was_seen_late_ = false;  // it may have been passed long before
    std::int64_t first_unmarked_at_ = 0;  // when work began behind the last mark
    std::int64_t marked_at_ = 0;
    std::int64_t launched_at_ = 0;
    std::int64_t looked_at_ = 0;  // the oldest mark was not yet passed
};

}  // namespace berth::vgpu::interposer
