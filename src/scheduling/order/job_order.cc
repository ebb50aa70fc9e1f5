// SPDX-License-Identifier: Apache-2.0
#include "scheduling/order/job_order.h"

#include <algorithm>
#include <tuple>

namespace berth::scheduling {
namespace {

bool is_before(const LaneHead& left, const LaneHead& right) {
    return std::tie(right.lane.precedence, left.lane.stage, left.created, left.job) <
           std::tie(left.lane.precedence, right.lane.stage, right.created, right.job);
}

void sort_last_first(std::vector<LaneHead>& heads) {
    std::ranges::sort(heads,
                      [](const auto& left, const auto& right) { return is_before(right, left); });
}

}  // namespace

void JobOrder::open(const cluster::Claim& claim) {
    closed_.clear();
    passed_.clear();
    open_ = heads_of(claim);
}

void JobOrder::read(const cluster::Claim& claim) {
    if (!passed_.empty()) return read_without_passed(claim);
    open_ = heads_of(claim);
    if (closed_.empty()) return;
    std::sort(closed_.begin(), closed_.end());
    left_.clear();
    for (const LaneHead& head : open_) {
        const bool is_closed = std::binary_search(closed_.begin(), closed_.end(), head.lane);
        if (!is_closed) left_.push_back(head);
    }
    open_ = left_;
}

void JobOrder::read_without_passed(const cluster::Claim& claim) {
    left_.clear();
    for (const auto& [key, lane] : claim.lanes) {
        if (std::ranges::find(closed_, key) != closed_.end()) continue;
        auto first = lane.begin();
        while (first != lane.end() && passed_.contains(first->second)) ++first;
        if (first != lane.end()) left_.push_back({key, first->first, first->second});
    }
    sort_last_first(left_);
    open_ = left_;
}

const std::vector<LaneHead>& JobOrder::heads_of(const cluster::Claim& claim) {
    if (stamp_ == claim.lanes_stamp) return all_;
    stamp_ = claim.lanes_stamp;
    all_.clear();
    for (const auto& [key, lane] : claim.lanes) {
        all_.push_back({key, lane.front().first, lane.front().second});
    }
    sort_last_first(all_);
    return all_;
}

void JobOrder::close(const cluster::LaneKey& lane) {
    closed_.push_back(lane);
    const auto found = std::ranges::find(open_.rbegin(), open_.rend(), lane, &LaneHead::lane);
    if (found == open_.rend()) return;
    if (found == open_.rbegin()) {
        open_ = open_.first(open_.size() - 1);
        return;
    }
    const auto at = open_.rend() - found - 1;
    std::vector<LaneHead> left(open_.begin(), open_.end());
    left.erase(left.begin() + at);
    left_ = std::move(left);
    open_ = left_;
}

}  // namespace berth::scheduling
