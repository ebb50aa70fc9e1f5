// SPDX-License-Identifier: Apache-2.0
#include "adapters/gpu_shares/pairs.h"

#include <algorithm>
#include <set>

namespace berth::gpu_shares {
namespace {

// Thousandths of what it would have made alone.
std::int64_t speed(const LaneSight& sight, std::int64_t made, base::Duration window) {
    return made * sight.iteration_us / std::max<std::int64_t>(window.count(), 1);
}

bool says_something(const LaneSight& sight, std::int64_t made) {
    return made > 0 || sight.is_waiting;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> Pairs::look(std::span<const LaneSight> sights,
                                                             base::TimePoint now) {
    std::map<std::string, std::vector<const LaneSight*>> lanes;
    for (const LaneSight& sight : sights) lanes[sight.lane].push_back(&sight);
    std::set<std::pair<std::string, std::string>> here;
    std::vector<std::pair<std::string, std::string>> slow;
    for (const auto& [lane, members] : lanes) {
        if (members.size() != 2) continue;
        const LaneSight& first = *members[0];
        const LaneSight& second = *members[1];
        const std::pair names(first.tenant, second.tenant);
        here.insert(names);
        const auto [known, is_new] = pairs_.try_emplace(names);
        Pair& pair = known->second;
        if (!is_new && now - pair.since < kWindow) continue;
        const base::Duration window = now - pair.since;
        const std::int64_t of_first = first.iterations - pair.first;
        const std::int64_t of_second = second.iterations - pair.second;
        pair.since = now;
        pair.first = first.iterations;
        pair.second = second.iterations;
        const bool counts = !is_new && (of_first > 0 || of_second > 0) &&
                            says_something(first, of_first) && says_something(second, of_second);
        if (!counts) continue;
        const std::int64_t together =
            speed(first, of_first, window) + speed(second, of_second, window);
        pair.windows = together < kTogetherMin ? pair.windows + 1 : 0;
        if (pair.windows < kWindowsMin || pair.is_told) continue;
        pair.is_told = true;
        slow.push_back(names);
    }
    std::erase_if(pairs_, [&](const auto& entry) { return !here.contains(entry.first); });
    return slow;
}

}  // namespace berth::gpu_shares
