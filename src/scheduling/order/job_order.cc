// SPDX-License-Identifier: Apache-2.0
#include "scheduling/order/job_order.h"

#include <algorithm>
#include <tuple>

namespace berth::scheduling {
namespace {

void sort_last_first(std::vector<ClassHead>& heads) {
    std::ranges::sort(heads,
                      [](const auto& left, const auto& right) { return is_before(right, left); });
}

}  // namespace

bool is_before(const ClassHead& left, const ClassHead& right) {
    return std::tie(right.job_class.priority_key, left.job_class.gang_phase, left.created,
                    left.job) < std::tie(left.job_class.priority_key, right.job_class.gang_phase,
                                         right.created, right.job);
}

ClassHead class_head_of(const cluster::Job& job) {
    cluster::JobClassKey job_class;
    job_class.priority_key = job.queue_priority();
    job_class.gang_phase = job.gang_phase();
    return {job_class, job.created, job.id};
}

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
    for (const ClassHead& head : open_) {
        const bool is_closed = std::binary_search(closed_.begin(), closed_.end(), head.job_class);
        if (!is_closed) left_.push_back(head);
    }
    open_ = left_;
}

void JobOrder::read_without_passed(const cluster::Claim& claim) {
    left_.clear();
    for (const auto& [key, job_class] : claim.queue) {
        if (std::ranges::find(closed_, key) != closed_.end()) continue;
        auto first = job_class.begin();
        while (first != job_class.end() && passed_.contains(first->second)) ++first;
        if (first != job_class.end()) left_.push_back({key, first->first, first->second});
    }
    sort_last_first(left_);
    open_ = left_;
}

const std::vector<ClassHead>& JobOrder::heads_of(const cluster::Claim& claim) {
    if (stamp_ == claim.queue_stamp) return all_;
    stamp_ = claim.queue_stamp;
    all_.clear();
    for (const auto& [key, job_class] : claim.queue) {
        all_.push_back({key, job_class.front().first, job_class.front().second});
    }
    sort_last_first(all_);
    return all_;
}

void JobOrder::close(const cluster::JobClassKey& job_class) {
    closed_.push_back(job_class);
    const auto found =
        std::ranges::find(open_.rbegin(), open_.rend(), job_class, &ClassHead::job_class);
    if (found == open_.rend()) return;
    if (found == open_.rbegin()) {
        open_ = open_.first(open_.size() - 1);
        return;
    }
    const auto at = open_.rend() - found - 1;
    std::vector<ClassHead> left(open_.begin(), open_.end());
    left.erase(left.begin() + at);
    left_ = std::move(left);
    open_ = left_;
}

}  // namespace berth::scheduling
