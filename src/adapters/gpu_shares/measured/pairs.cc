// SPDX-License-Identifier: Apache-2.0
#include "adapters/gpu_shares/measured/pairs.h"

#include <algorithm>
#include <set>

namespace berth::gpu_shares {
namespace {

bool says_something(const RotationSight& sight, std::int64_t made) {
    return made > 0 || (made == 0 && sight.is_waiting);
}

base::Duration window_of(const RotationSight& first, const RotationSight& second) {
    const std::int64_t longer_us = std::max(first.iteration_us, second.iteration_us);
    return std::max(Pairs::kWindowMin, base::Duration{longer_us / 1000 * Pairs::kIterationsMin});
}

}  // namespace

std::vector<std::pair<std::string, std::string>> Pairs::look(std::span<const RotationSight> sights,
                                                             base::TimePoint now) {
    std::map<std::string, std::vector<const RotationSight*>> rotations;
    for (const RotationSight& sight : sights) rotations[sight.rotation].push_back(&sight);
    std::set<std::pair<std::string, std::string>> here;
    std::vector<std::pair<std::string, std::string>> slow;
    for (const auto& [rotation, members] : rotations) {
        if (members.size() != 2) continue;
        const RotationSight& first = *members[0];
        const RotationSight& second = *members[1];
        const std::pair names(first.tenant, second.tenant);
        here.insert(names);
        const Seen seen{now, first.iterations, second.iterations};
        const auto [known, is_new] = pairs_.try_emplace(names, Pair{seen, seen});
        Pair& pair = known->second;
        if (is_new || now - pair.window.at < window_of(first, second)) continue;
        const std::int64_t of_first = seen.first - pair.window.first;
        const std::int64_t of_second = seen.second - pair.window.second;
        pair.window = seen;
        const bool counts = (of_first > 0 || of_second > 0) && says_something(first, of_first) &&
                            says_something(second, of_second);
        pair.windows = counts ? pair.windows + 1 : 0;
        if (counts && pair.windows < kWindows) continue;
        // What each would have taken alone, beside what both took.
        const std::int64_t alone_us = (seen.first - pair.begin.first) * first.iteration_us +
                                      (seen.second - pair.begin.second) * second.iteration_us;
        const bool is_slow = counts && alone_us < (now - pair.begin.at).count() * kTogetherMin;
        pair.begin = seen;
        pair.windows = 0;
        if (!is_slow || pair.is_told) continue;
        pair.is_told = true;
        slow.push_back(names);
    }
    std::erase_if(pairs_, [&](const auto& entry) { return !here.contains(entry.first); });
    return slow;
}

}  // namespace berth::gpu_shares
