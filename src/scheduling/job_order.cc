// SPDX-License-Identifier: Apache-2.0
#include "scheduling/job_order.h"

#include <algorithm>
#include <tuple>

namespace berth::scheduling {
namespace {

bool is_before(const LaneHead& left, const LaneHead& right) {
    return std::tie(right.lane.priority, left.lane.stage, left.created, left.job) <
           std::tie(left.lane.priority, right.lane.stage, right.created, right.job);
}

}  // namespace

void JobOrder::read(const cluster::Claim& claim) {
    open_.clear();
    std::sort(closed_.begin(), closed_.end());
    auto closed = closed_.begin();
    for (const auto& [key, lane] : claim.lanes) {
        while (closed != closed_.end() && *closed < key) ++closed;
        if (closed != closed_.end() && *closed == key) continue;
        auto first = lane.begin();
        while (!passed_.empty() && first != lane.end() && passed_.contains(first->second)) ++first;
        if (first != lane.end()) open_.push_back({key, first->first, first->second});
    }
    std::ranges::sort(open_,
                      [](const auto& left, const auto& right) { return is_before(right, left); });
}

void JobOrder::close(const cluster::LaneKey& lane) {
    closed_.push_back(lane);
    const auto found = std::ranges::find(open_.rbegin(), open_.rend(), lane, &LaneHead::lane);
    if (found != open_.rend()) open_.erase(std::next(found).base());
}

}  // namespace berth::scheduling
