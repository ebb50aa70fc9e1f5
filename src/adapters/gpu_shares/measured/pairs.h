// SPDX-License-Identifier: Apache-2.0
//
// Which jobs that take turns on a GPU get less done together than one after the other? Of each it
// is known how many iterations it has made and how long one is without waiting for turns: what it
// makes in a window of time, by that length, is its part of the speed it has alone. Pure.
//
// A window counts when both made iterations in it, or one that made none waited for its turn at the
// end: who still loads its data says nothing. It is long enough for eight iterations of either: of
// three windows the iterations under way at both ends are a small part, and a pair whose iterations
// take two seconds parts within a minute. A pair parts when three windows in a row count
// and both together made less than 1.05 in them of what one makes alone.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/quantity.h"

namespace berth::gpu_shares {

// A tenant in a rotation, as it is seen now.
struct RotationSight {
    std::string tenant;
    std::string rotation;
    std::int64_t iterations = 0;  // so far; 0: none were found
    std::int64_t iteration_us = 0;
    bool is_waiting = false;  // for its turn
};

class Pairs {
  public:
    static constexpr base::Duration kWindowMin{5'000};
    static constexpr std::int64_t kIterationsMin = 8;  // alone, as long as a window
    static constexpr int kWindows = 3;
    static constexpr std::int64_t kTogetherMin = 1050;  // thousandths of the speed of one alone

    // Names of tenants that should part, each pair once.
    std::vector<std::pair<std::string, std::string>> look(std::span<const RotationSight> sights,
                                                          base::TimePoint now);

  private:
    // Iterations of both by then.
    struct Seen {
        base::TimePoint at;
        std::int64_t first = 0;
        std::int64_t second = 0;
    };
    struct Pair {
        Seen begin;  // of the windows that count
        Seen window;  // where the one under way began
        int windows = 0;
        bool is_told = false;
    };

    std::map<std::pair<std::string, std::string>, Pair> pairs_;
};

}  // namespace berth::gpu_shares
