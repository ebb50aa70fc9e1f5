// SPDX-License-Identifier: Apache-2.0
//
// Repeatable dice for tests, generators and simulations: the same seed gives the same numbers on
// every machine. Integers only. SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).
#pragma once

#include <cstddef>
#include <cstdint>

namespace berth::base {

class Rng {
  public:
    explicit Rng(std::uint64_t seed) : state_(seed) {}

    std::uint64_t next() {
        std::uint64_t mixed = (state_ += 0x9E3779B97F4A7C15ULL);
        mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9ULL;
        mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EBULL;
        return mixed ^ (mixed >> 31);
    }

    // Uniform in [low, high], both included. The bias of the modulo is below 2^-32 for the small
    // ranges used here.
    std::int64_t between(std::int64_t low, std::int64_t high) {
        return low + static_cast<std::int64_t>(next() % static_cast<std::uint64_t>(high - low + 1));
    }

    // True in `numerator` of `denominator` cases.
    bool chance(std::int64_t numerator, std::int64_t denominator) {
        return between(1, denominator) <= numerator;
    }

    std::size_t index(std::size_t size) { return static_cast<std::size_t>(next() % size); }

  private:
    std::uint64_t state_;
};

}  // namespace berth::base
