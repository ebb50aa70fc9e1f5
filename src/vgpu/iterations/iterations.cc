// SPDX-License-Identifier: Apache-2.0
#include "vgpu/iterations/iterations.h"

#include <algorithm>
#include <bit>

namespace berth::vgpu::iterations {
namespace {

constexpr std::uint32_t kGram = 8;      // launches in a hash
constexpr std::uint32_t kRunMin = 16;   // launches: fewer may be equal by chance
constexpr std::uint32_t kSettled = 32;  // regular iterations, then there is nothing to search
constexpr std::uint64_t kBase = 0x2545F4914F6CDD1DU;

constexpr std::uint64_t power(std::uint64_t base, std::uint32_t exponent) {
    std::uint64_t result = 1;
    for (; exponent > 0; --exponent) result *= base;
    return result;
}
constexpr std::uint64_t kLeaving = power(kBase, kGram);

}  // namespace

void Iterations::waited(std::int64_t ns) {
    const auto us = static_cast<std::uint64_t>(std::max<std::int64_t>(ns, 0)) / 1000;
    const auto length = static_cast<std::uint32_t>(1 + std::bit_width(us) / 3);
    wait_ = std::max(wait_, std::min(length, kWaitMask));
}

Passage Iterations::look_closer(std::uint64_t at, std::uint32_t word) {
    if (!searching_) begin_search(at);
    search(at, word);
    if (period_ == 0) return {};
    // The pattern must not be overwritten before it is compared.
    if (at - reference_ + period_ >= kWindow) {
        period_ = 0;
        fresh_ = 0;
        odd_ = false;
        return {};
    }
    return follow(word);
}

Passage Iterations::follow(std::uint32_t word) {
    const auto matches = [&] { return are_equal(word, words_[(reference_ + phase_) % kWindow]); };
    if (matches()) {
        ++phase_;
    } else {
        odd_ = true;
        clean_ = 0;
        phase_ = 0;
        if (matches()) phase_ = 1;
    }
    if (phase_ == period_) return end(true);
    if (odd_ && gram_ == before_end_) return end(false);
    return inside();
}

Passage Iterations::end(bool regular) {
    const Passage passage = fresh_ | kInside | kEnds | (regular ? kRegular : 0);
    fresh_ = kBegins;
    odd_ = false;
    phase_ = 0;
    if (!regular) return passage;
    reference_ = count_ - period_;
    if (++clean_ >= kSettled && (candidate_ == period_ || candidate_ == 0)) searching_ = false;
    return passage;
}

void Iterations::begin_search(std::uint64_t at) {
    searching_ = true;
    candidate_ = run_ = 0;
    gram_ = 0;
    for (std::uint64_t back = kGram; back > 0; --back) gram_ = gram_ * kBase + id(at - back);
}

void Iterations::search(std::uint64_t at, std::uint32_t word) {
    gram_ = gram_ * kBase + id(at) - id(at - kGram) * kLeaving;
    std::uint32_t& place = places_[(gram_ * kBase) >> 48U];
    const std::uint32_t distance = static_cast<std::uint32_t>(at) + 1 - place;
    place = static_cast<std::uint32_t>(at) + 1;
    if (candidate_ != 0 && are_equal(word, this->word(at - candidate_))) {
        ++run_;
        if (distance == candidate_) this->word(at) |= kUnique;
    } else {
        candidate_ = is_repeated(at, distance) ? distance : 0;
        run_ = candidate_ == 0 ? 0 : kGram;
        if (candidate_ != 0) this->word(at) |= kUnique;
    }
    const bool is_known = candidate_ == period_ && !odd_;
    if (candidate_ == 0 || is_known || run_ < std::max({2 * candidate_, 4 * period_, kRunMin}))
        return;
    const std::uint64_t begin = best_begin(candidate_);
    if (candidate_ > period_ && is_waited_for(begin))
        run_ = 0;
    else
        settle_on(candidate_, begin);
}

bool Iterations::is_repeated(std::uint64_t at, std::uint32_t distance) {
    if (distance > kPeriodMax || distance + kGram > at + 1) return false;
    for (std::uint32_t back = 0; back < kGram; ++back)
        if (!are_equal(word(at - back), word(at - back - distance))) return false;
    return true;
}

// The last two periods and more were equal; where in the last one does one begin?
std::uint64_t Iterations::best_begin(std::uint32_t period) {
    const auto worth = [this](std::uint64_t at) {
        return (word(at - 1) & kUnique) | (word(at) & kWaitMask);
    };
    std::uint64_t begin = count_ - period;
    for (std::uint64_t at = begin + 1; at < count_; ++at)
        if (worth(at) > worth(begin)) begin = at;
    return begin;
}

// Does the program wait for each iteration as it is known about as long as for a longer one?
bool Iterations::is_waited_for(std::uint64_t longer) {
    const std::uint32_t wait = period_ == 0 ? 0 : word(reference_) & kWaitMask;
    return wait != 0 && wait + 1 >= (word(longer) & kWaitMask);
}

void Iterations::settle_on(std::uint32_t period, std::uint64_t begin) {
    period_ = period;
    ++kinds_;
    reference_ = begin - period;
    phase_ = static_cast<std::uint32_t>(count_ - 1 - begin);  // before this launch is followed
    before_end_ = 0;
    for (std::uint64_t back = kGram; back > 0; --back)
        before_end_ = before_end_ * kBase + id(begin - back);
    clean_ = 0;
    fresh_ = 0;
    odd_ = false;
}

}  // namespace berth::vgpu::iterations
