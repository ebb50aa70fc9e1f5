// SPDX-License-Identifier: Apache-2.0
//
// Where does an iteration of a program end, by nothing but the work it launches? Training and
// decoding repeat a sequence of functions and graphs. The sequence is taken as found when it came
// three times in a row, and over 16 launches at least; from then on each launch is compared with
// the last regular iteration, and the end is known at the last launch of one.
//
// Search: a rolling hash of the last launches names the place where the same was last launched;
// that far back is the candidate, kept while launch after launch is equal to the one so far back.
// Inside a step layers repeat as well: a shorter period is given up for a longer one that goes on
// where it broke, and another period must hold for four of the known one. So neither layers nor a
// short evaluation displace a step. Nor does an epoch, where the program waits for each step as
// long as for any; a program that never waits and evaluates often iterates by epochs.
//
// Odd steps (evaluation, a checkpoint, a kernel more or less): after the first launch that differs
// the end is where the launches before a known end come again, or where a whole regular iteration
// has passed. The iteration is forgotten when kWindow launches bring neither.
//
// Where a period begins is arbitrary; taken is the place before which the program waited longest,
// among those whose launches before occur once in it, so that it is found again.
//
// A launch costs a comparison while the period holds, a lookup and two products while it is
// searched; no allocation. One thread at a time.
#pragma once

#include <cstdint>

namespace berth::vgpu::iterations {

inline constexpr std::uint32_t kWindow = 65'536;  // launches remembered; a power of two
inline constexpr std::uint32_t kPeriodMax = kWindow / 2;

// What a launch is in its program's iterations: a sum of these.
using Passage = std::uint32_t;
inline constexpr Passage kBegins = 1;   // the first of an iteration
inline constexpr Passage kEnds = 2;     // the last of one
inline constexpr Passage kRegular = 4;  // ... that was equal to those before
inline constexpr Passage kInside = 8;   // one of an iteration, first and last as well

class Iterations {
  public:
    // Launched: a function or an executable graph, by any number that tells it from others.
    Passage launched(std::uint64_t work) {
        const std::uint32_t word = mixed(work) | wait_;
        wait_ = 0;
        const std::uint64_t at = count_++;
        words_[at % kWindow] = word;
        if (!searching_ && are_equal(word, words_[(reference_ + phase_) % kWindow])) [[likely]]
            return ++phase_ < period_ ? inside() : end(true);
        return look_closer(at, word);
    }

    // The program waited `ns` for its work.
    void waited(std::int64_t ns);

    // Launches of an iteration; 0: none is known.
    std::uint32_t period() const { return period_; }
    // How many kinds of iterations were found so far: the last is the known one.
    std::uint32_t kinds() const { return kinds_; }
    // False from the end of an iteration to the next launch.
    bool is_inside() const { return fresh_ == 0; }

  private:
    // A word is what was launched in its higher bits, and how it came below them.
    static constexpr std::uint32_t kWaitMask = 7;  // how long the program waited before it
    static constexpr std::uint32_t kUnique = 8;    // the launches up to it: once in a period
    static constexpr std::uint32_t kFlags = 15;

    static std::uint32_t mixed(std::uint64_t work) {
        return static_cast<std::uint32_t>((work + 1) * 0x9E3779B97F4A7C15U >> 32U) & ~kFlags;
    }
    static bool are_equal(std::uint32_t one, std::uint32_t other) {
        return (one ^ other) <= kFlags;
    }
    std::uint32_t& word(std::uint64_t at) { return words_[at % kWindow]; }
    std::uint64_t id(std::uint64_t at) { return word(at) & ~kFlags; }

    Passage inside() {
        const Passage begins = fresh_;
        fresh_ = 0;
        return begins | kInside;
    }
    Passage end(bool regular);
    Passage look_closer(std::uint64_t at, std::uint32_t word);
    void begin_search(std::uint64_t at);
    void search(std::uint64_t at, std::uint32_t word);
    bool is_repeated(std::uint64_t at, std::uint32_t distance);
    std::uint64_t best_begin(std::uint32_t period);
    bool is_waited_for(std::uint64_t longer);
    void settle_on(std::uint32_t period, std::uint64_t begin);
    Passage follow(std::uint32_t word);

    std::uint64_t count_ = 0;      // launches so far
    std::uint64_t reference_ = 0;  // where a regular iteration begins in words_
    std::uint32_t period_ = 0;
    std::uint32_t phase_ = 0;  // launches that were equal to the reference
    std::uint32_t clean_ = 0;  // regular iterations in a row
    std::uint32_t wait_ = 0;
    std::uint32_t kinds_ = 0;
    Passage fresh_ = 0;      // kBegins: an iteration has just ended
    bool odd_ = false;       // what is launched differs from the reference
    bool searching_ = true;

    std::uint32_t candidate_ = 0;  // a period that may be
    std::uint32_t run_ = 0;        // launches equal to those a candidate earlier
    std::uint64_t gram_ = 0;       // hash of the last launches
    std::uint64_t before_end_ = 0;  // ... at the end of an iteration
    std::uint32_t words_[kWindow] = {};
    std::uint32_t places_[kWindow] = {};  // by hash, one more than where it was last
};

}  // namespace berth::vgpu::iterations
