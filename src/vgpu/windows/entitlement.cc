// SPDX-License-Identifier: Apache-2.0
#include "vgpu/windows/entitlement.h"

#include <algorithm>
#include <functional>

namespace berth::vgpu::windows {
namespace {

std::int64_t cap_of(const Claim& claim) { return claim.cap * (kWhole / 1000); }

// Deals `left` among `takers` (indices) by weight; who reaches its cap leaves the rest to others.
std::int64_t deal(std::int64_t left, const std::vector<Claim>& claims,
                  std::vector<std::size_t> takers, std::vector<std::int64_t>& parts) {
    while (left > 0 && !takers.empty()) {
        std::int64_t weights = 0;
        for (const std::size_t taker : takers) weights += claims[taker].weight;
        std::vector<std::size_t> uncapped;
        std::int64_t dealt = 0;
        for (const std::size_t taker : takers) {
            const std::int64_t room = cap_of(claims[taker]) - parts[taker];
            const std::int64_t offer = left * claims[taker].weight / weights;
            parts[taker] += std::min(room, offer);
            dealt += std::min(room, offer);
            if (offer < room) uncapped.push_back(taker);
        }
        left -= dealt;
        // Without a cap reached all was dealt but roundings, which the first one takes.
        if (uncapped.size() == takers.size()) {
            const std::size_t first = uncapped.front();
            const std::int64_t rest = std::min(left, cap_of(claims[first]) - parts[first]);
            parts[first] += rest;
            return left - rest;
        }
        takers = uncapped;
    }
    return left;
}

}  // namespace

std::vector<std::int64_t> entitlements(const std::vector<Claim>& claims) {
    std::vector<std::int64_t> parts;
    std::int64_t promised = 0;
    for (const Claim& claim : claims) {
        parts.push_back(std::min(claim.share * (kWhole / 1000), cap_of(claim)));
        promised += parts.back();
    }
    if (promised > kWhole) {
        for (std::int64_t& part : parts) part = part * kWhole / promised;
        return parts;
    }
    std::vector<std::int32_t> priorities;
    for (const Claim& claim : claims) priorities.push_back(claim.priority);
    std::sort(priorities.begin(), priorities.end(), std::greater<>());
    priorities.erase(std::unique(priorities.begin(), priorities.end()), priorities.end());

    std::int64_t left = kWhole - promised;
    for (const std::int32_t priority : priorities) {
        std::vector<std::size_t> takers;
        for (std::size_t index = 0; index < claims.size(); ++index)
            if (claims[index].priority == priority) takers.push_back(index);
        left = deal(left, claims, takers, parts);
    }
    return parts;
}

}  // namespace berth::vgpu::windows
