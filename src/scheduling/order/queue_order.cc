// SPDX-License-Identifier: Apache-2.0
#include "scheduling/order/queue_order.h"

#include <algorithm>
#include <compare>
#include <limits>
#include <utility>

#include "base/check.h"

namespace berth::scheduling {
namespace {

__extension__ using Wide = __int128;

// allocated / allocatable as a fraction; R2 counts a missing share as 1/1000 of a GPU.
std::strong_ordering compare_shares(MilliGpu left, MilliGpu left_of, MilliGpu right,
                                    MilliGpu right_of) {
    const auto part = [](MilliGpu whole) { return Wide{whole.value == 0 ? 1 : whole.value}; };
    const Wide l = Wide{left.value} * part(right_of);
    const Wide r = Wide{right.value} * part(left_of);
    return l <=> r;
}

constexpr std::uint64_t kOverFair = std::uint64_t{1} << 35;
constexpr std::uint64_t kAboveQuota = std::uint64_t{1} << 34;
constexpr int kShareBits = 20;

// In millionths or so, the largest number for all that are larger.
std::uint64_t rounded_share(MilliGpu amount, MilliGpu whole) {
    constexpr std::int64_t kNarrow = INT64_C(1) << (62 - kShareBits);
    if (amount.value >= 0 && amount.value < kNarrow && whole.value > 0) {
        return static_cast<std::uint64_t>((amount.value << kShareBits) / whole.value);
    }
    const Wide scaled = Wide{amount.value} << kShareBits;
    const Wide share = scaled / Wide{whole.value == 0 ? 1 : whole.value};
    return static_cast<std::uint64_t>(
        std::clamp<Wide>(share, 0, std::numeric_limits<std::int64_t>::max()));
}

}  // namespace

ServiceKey service_key(const PoolView& view, ProjectId project, MilliGpu amount) {
    const cluster::Claim& claim = view.claim(project);
    ServiceKey key;
    key.allocated = claim.usage.allocated;
    key.with_job = key.allocated + amount;
    key.allocatable = view.shares.allocatable[project.index()];
    const bool over_fair = key.allocated > view.shares.fair[project.index()];
    const bool above_quota = key.with_job > view.quota(project);
    const bool no_share = key.allocatable == MilliGpu{0} && key.with_job > MilliGpu{0};
    const auto higher_first = static_cast<std::uint64_t>(std::numeric_limits<int>::max() -
                                                         std::int64_t{claim.rights.priority});
    key.first = (over_fair ? kOverFair : 0) | (above_quota ? kAboveQuota : 0) | higher_first << 1 |
                (no_share ? 1 : 0);
    key.share = rounded_share(key.with_job, key.allocatable);
    return key;
}

bool is_before(const ServiceKey& left, const ServiceKey& right) {
    if (left.first != right.first) return left.first < right.first;
    if (left.share != right.share) return left.share < right.share;
    const auto with_job =
        compare_shares(left.with_job, left.allocatable, right.with_job, right.allocatable);
    if (with_job != 0) return with_job < 0;
    const auto without_job =
        compare_shares(left.allocated, left.allocatable, right.allocated, right.allocatable);
    if (without_job != 0) return without_job < 0;
    return left.allocatable < right.allocatable;
}

QueueOrder::QueueOrder(const PoolView& view, QueueMemory& memory, ClassTest test)
    : view_(view), memory_(memory), test_(std::move(test)) {
    BERTH_CHECK(!std::exchange(memory.is_lent, true), "a pool has one order at a time");
    const std::size_t projects = view.cluster.projects().size();
    memory_.jobs.resize(projects);
    memory_.best.resize(projects);
    // All of them: one that is removed, or has others below it now, keeps nothing from before.
    for (std::size_t i = 0; i < projects; ++i) {
        memory_.jobs[i].open(view.claim({static_cast<ProjectId::Rep>(i)}));
    }
    read_below(cluster::kRoot);
}

void QueueOrder::read_below(ProjectId project) {
    for (const ProjectId child : view_.cluster.projects()[project.index()].children) {
        read_below(child);
    }
    refresh(project);
}

void QueueOrder::refresh(ProjectId project) {
    Best& best = memory_.best[project.index()];
    best.project = {};
    if (view_.cluster.is_leaf(project)) {
        if (memory_.jobs[project.index()].next() != nullptr) best.project = project;
    } else {
        const Best* first = nullptr;
        for (const ProjectId child : view_.cluster.projects()[project.index()].children) {
            const Best& other = memory_.best[child.index()];
            if (!other.project.is_valid()) continue;
            if (first == nullptr || is_before(other.key, first->key)) first = &other;
        }
        if (first != nullptr) best.project = first->project;
    }
    if (!best.project.is_valid() || project == cluster::kRoot) return;
    best.amount = asked(head(best).job_class);
    best.key = service_key(view_, project, best.amount);
}

MilliGpu QueueOrder::asked(const cluster::JobClassKey& job_class) const {
    return ask_gpus(view_, job_class);
}

std::optional<Candidate> QueueOrder::next() {
    const Best& best = memory_.best[cluster::kRoot.index()];
    while (best.project.is_valid() && !test_(best.project, head(best))) {
        if (!is_worth_going_on()) return {};
        close(best.project, cluster::JobClassKey(head(best).job_class));
    }
    if (!best.project.is_valid()) return {};
    return Candidate{best.project, head(best).job_class, head(best).job};
}

// Looks for one job class that passes, and again when that one was closed: then a decision that has
// given away all there is ends here, however many job classes wait. Job classes are closed from the
// end.
bool QueueOrder::is_worth_going_on() {
    for (; hopeful_.projects < memory_.jobs.size(); ++hopeful_.projects, hopeful_.job_class = 0) {
        const std::size_t at = (hopeful_.first + hopeful_.projects) % memory_.jobs.size();
        const auto heads = memory_.jobs[at].heads();
        const ProjectId project{static_cast<ProjectId::Rep>(at)};
        for (; hopeful_.job_class < heads.size(); ++hopeful_.job_class) {
            if (!hopeful_.is_found) hopeful_.is_found = test_(project, heads[hopeful_.job_class]);
            if (hopeful_.is_found) return true;
        }
        hopeful_.is_found = false;
    }
    return false;
}

// From the project where the last one was found.
void QueueOrder::look_again() {
    const std::size_t at = (hopeful_.first + hopeful_.projects) % memory_.jobs.size();
    hopeful_ = {};
    hopeful_.first = at;
}

void QueueOrder::close(const Candidate& candidate) {
    const ClassHead* next = memory_.jobs[candidate.project.index()].next();
    if (next == nullptr || next->job_class != candidate.job_class) look_again();
    close(candidate.project, candidate.job_class);
}

void QueueOrder::close(ProjectId project, const cluster::JobClassKey& job_class) {
    memory_.jobs[project.index()].close(job_class);
    const ClassHead* next = memory_.jobs[project.index()].next();
    // Nothing but what is asked has changed since: the project stands where it stood.
    const bool is_unchanged =
        next != nullptr && asked(next->job_class) == memory_.best[project.index()].amount;
    if (!is_unchanged) refresh_from(project);
}

void QueueOrder::pass_over(const Candidate& candidate) {
    memory_.jobs[candidate.project.index()].pass_over(candidate.job);
    changed(candidate.project);
}

void QueueOrder::changed(ProjectId project) {
    look_again();
    memory_.jobs[project.index()].read(view_.claim(project));
    refresh_from(project);
}

void QueueOrder::refresh_from(ProjectId project) {
    for (ProjectId at = project; at.is_valid(); at = view_.parent(at)) refresh(at);
}

}  // namespace berth::scheduling
