// SPDX-License-Identifier: Apache-2.0
//
// Which jobs that take turns on a GPU get less done together than one after the other? Of each it
// is known how many iterations it has made and how long one is without waiting for turns: what it
// makes in a window of time, by that length, is its part of the speed it has alone. Pure.
//
// A window counts when both made iterations in it, or one that made none waited for its turn at the
// end: who still loads its data says nothing. A pair parts after three windows in a row, in each of
// which both together made less than 1.05 of what one makes alone.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/quantity.h"

namespace berth::gpu_shares {

// A tenant in a lane, as it is seen now.
struct LaneSight {
    std::string tenant;
    std::string lane;
    std::int64_t iterations = 0;  // so far; 0: none were found
    std::int64_t iteration_us = 0;
    bool is_waiting = false;  // for its turn
};

class Pairs {
  public:
    static constexpr base::Duration kWindow{5'000};
    static constexpr int kWindowsMin = 3;
    static constexpr std::int64_t kTogetherMin = 1050;  // thousandths of the speed of one alone

    // Names of tenants that should part, each pair once.
    std::vector<std::pair<std::string, std::string>> look(std::span<const LaneSight> sights,
                                                          base::TimePoint now);

  private:
    struct Pair {
        base::TimePoint since;  // of the window
        std::int64_t first = 0;  // iterations of both when it began
        std::int64_t second = 0;
        int windows = 0;  // that were too slow, in a row
        bool is_told = false;
    };

    std::map<std::pair<std::string, std::string>, Pair> pairs_;
};

}  // namespace berth::gpu_shares
