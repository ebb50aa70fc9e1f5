// SPDX-License-Identifier: Apache-2.0
#include "scheduling/queue_order.h"

#include <algorithm>
#include <compare>
#include <utility>

namespace berth::scheduling {
namespace {

__extension__ using Wide = __int128;

// allocated / allocatable as a fraction; R2 counts a missing share as 1/1000 of a GPU.
std::strong_ordering compare_shares(MilliGpu left, MilliGpu left_of, MilliGpu right,
                                    MilliGpu right_of) {
    const auto part = [](MilliGpu of) { return Wide{of.value == 0 ? 1 : of.value}; };
    const Wide l = Wide{left.value} * part(right_of);
    const Wide r = Wide{right.value} * part(left_of);
    return l <=> r;
}

}  // namespace

ServiceKey service_key(const PoolView& view, ProjectId project, MilliGpu amount) {
    const cluster::Claim& claim = view.claim(project);
    ServiceKey key;
    key.allocated = claim.usage.allocated;
    key.with_job = key.allocated + amount;
    key.allocatable = view.shares.allocatable[project.index()];
    key.over_fair = key.allocated > view.shares.fair[project.index()];
    key.above_quota = key.with_job > view.quota(project);
    key.priority = claim.rights.priority;
    key.no_share = key.allocatable == MilliGpu{0} && key.with_job > MilliGpu{0};
    return key;
}

bool is_before(const ServiceKey& left, const ServiceKey& right) {
    if (left.over_fair != right.over_fair) return right.over_fair;
    if (left.above_quota != right.above_quota) return right.above_quota;
    if (left.priority != right.priority) return left.priority > right.priority;
    if (left.no_share != right.no_share) return right.no_share;
    const auto with_job =
        compare_shares(left.with_job, left.allocatable, right.with_job, right.allocatable);
    if (with_job != 0) return with_job < 0;
    const auto without_job =
        compare_shares(left.allocated, left.allocatable, right.allocated, right.allocatable);
    if (without_job != 0) return without_job < 0;
    return left.allocatable < right.allocatable;
}

QueueOrder::QueueOrder(const PoolView& view, LaneTest test)
    : view_(view),
      test_(std::move(test)),
      jobs_(view.cluster.projects().size()),
      best_(view.cluster.projects().size()) {
    read_below(cluster::kRoot);
}

void QueueOrder::read_below(ProjectId project) {
    for (const ProjectId child : view_.cluster.projects()[project.index()].children) {
        read_below(child);
    }
    if (view_.cluster.is_leaf(project)) jobs_[project.index()].read(view_.claim(project));
    refresh(project);
}

void QueueOrder::refresh(ProjectId project) {
    Best& best = best_[project.index()];
    best.project = {};
    if (view_.cluster.is_leaf(project)) {
        if (jobs_[project.index()].next() != nullptr) best.project = project;
    } else {
        const Best* first = nullptr;
        for (const ProjectId child : view_.cluster.projects()[project.index()].children) {
            const Best& other = best_[child.index()];
            if (!other.project.is_valid()) continue;
            if (first == nullptr || is_before(other.key, first->key)) first = &other;
        }
        if (first != nullptr) best.project = first->project;
    }
    if (!best.project.is_valid()) return;
    const cluster::LaneKey& lane = head(best).lane;
    const MilliGpu amount = view_.cluster.most(lane.shape, view_.pool) * lane.ask;
    best.key = service_key(view_, project, amount);
}

std::optional<Candidate> QueueOrder::next() {
    const Best& best = best_[cluster::kRoot.index()];
    while (best.project.is_valid() && !test_(best.project, head(best).lane)) {
        if (!is_worth_going_on()) return {};
        close(best.project, cluster::LaneKey(head(best).lane));
    }
    if (!best.project.is_valid()) return {};
    return Candidate{best.project, head(best).lane, head(best).job};
}

// Counted at most once between two changes, when the first lane fails: then a decision that has
// given away all there is ends here, however many lanes wait.
bool QueueOrder::is_worth_going_on() {
    if (!is_counted_) {
        is_counted_ = true;
        hopeful_ = 0;
        for (std::size_t i = 0; i < jobs_.size(); ++i) {
            const ProjectId project{static_cast<ProjectId::Rep>(i)};
            hopeful_ += static_cast<int>(std::ranges::count_if(
                jobs_[i].open(), [&](const LaneHead& head) { return test_(project, head.lane); }));
        }
    }
    return hopeful_ > 0;
}

void QueueOrder::close(const Candidate& candidate) {
    if (is_counted_) hopeful_ -= test_(candidate.project, candidate.lane);
    close(candidate.project, candidate.lane);
}

void QueueOrder::close(ProjectId project, const cluster::LaneKey& lane) {
    jobs_[project.index()].close(lane);
    refresh_from(project);
}

void QueueOrder::pass_over(const Candidate& candidate) {
    jobs_[candidate.project.index()].pass_over(candidate.job);
    changed(candidate.project);
}

void QueueOrder::changed(ProjectId project) {
    is_counted_ = false;
    jobs_[project.index()].read(view_.claim(project));
    refresh_from(project);
}

void QueueOrder::refresh_from(ProjectId project) {
    for (ProjectId at = project; at.is_valid(); at = view_.parent(at)) refresh(at);
}

}  // namespace berth::scheduling
