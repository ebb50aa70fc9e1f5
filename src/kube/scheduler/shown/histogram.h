// SPDX-License-Identifier: Apache-2.0
//
// How long does something take, as monitoring reads it? How often it took at most each of some
// times, from 0.01 ms to 5 s, in the steps 1, 2, 5. Costs a comparison for each.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace berth::kube::scheduler {

class Histogram {
  public:
    void add(std::chrono::nanoseconds time);
    void add(const Histogram& other);
    // The lines of a histogram of that name, which ends in _seconds.
    void append(std::string& text, std::string_view name) const;

  private:
    static constexpr std::array<std::int64_t, 18> kMostUs{
        10,     20,     50,     100,     200,     500,     1'000,     2'000,     5'000,
        10'000, 20'000, 50'000, 100'000, 200'000, 500'000, 1'000'000, 2'000'000, 5'000'000};

    std::array<std::uint64_t, kMostUs.size() + 1> counts_{};  // each without those before it
    std::chrono::nanoseconds sum_{0};
};

}  // namespace berth::kube::scheduler
