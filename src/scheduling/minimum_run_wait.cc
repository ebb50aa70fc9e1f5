// SPDX-License-Identifier: Apache-2.0
#include "scheduling/minimum_run_wait.h"

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "scheduling/minimum_run.h"
#include "scheduling/reclaim.h"
#include "scheduling/victims.h"

namespace berth::scheduling {
namespace {

struct Protected {
    MilliGpu gpus{0};
    TimePoint last;  // when the last of them is so no more
};

// What its minimum run protects: what is above its minimum was lent for as long as it idled.
MilliGpu core_of(const cluster::Job& job) {
    const MilliGpu held = job.held(cluster::Job::Leaving::Ignored);
    if (job.elastic == model::Elastic::Restart || job.active <= job.tasks_min) return held;
    return MilliGpu{held.value * job.tasks_min / job.active};
}

// Whom the job may have paused, but for their minimum run.
Protected protected_from(const PoolView& view, const Beneficiary& beneficiary) {
    const cluster::Job& asking = beneficiary.job;
    const bool is_own = beneficiary.rule == model::Rule::Preempt;
    const ReclaimLedger ledger =
        is_own ? ReclaimLedger() : ReclaimLedger(view, asking.project, beneficiary.amount);
    const bool is_by_rank = is_own && has_ranks(view.cluster, asking.project);
    const auto until = is_by_rank ? protected_by_statement : protected_until;
    Protected all;
    for (const auto& [id, job] : view.cluster.jobs()) {
        if (!job.is_victim() || job.pool != view.pool) continue;
        const bool may_be_asked =
            is_own ? job.project == asking.project && job.precedence() < asking.precedence_in_line()
                   : ledger.may_take(job.project, MilliGpu{1});
        if (!may_be_asked) continue;
        const TimePoint its = until(view, job, beneficiary.rule, asking.project);
        if (its <= view.now) continue;
        all.last = std::max(all.last, its);
        all.gpus += core_of(job);
    }
    return all;
}

std::optional<MinimumRunWait> wait_of(const PoolView& view, const Beneficiary& beneficiary) {
    const Protected all = protected_from(view, beneficiary);
    if (all.gpus == MilliGpu{0}) return {};
    VictimSearch search;
    search.open(view);
    const Eviction now = search.find(beneficiary);
    if (!now.pieces.empty() || !now.protected_until) return {};
    PoolView later = view;
    later.now = all.last;
    search.open(later);
    if (search.find(beneficiary).pieces.empty()) return {};
    return MinimumRunWait{*now.protected_until, all.gpus};
}

// 7 is "07".
std::string two_digits(std::int64_t number) { return std::to_string(100 + number).substr(1); }

}  // namespace

std::optional<MinimumRunWait> minimum_run_wait(const PoolView& view, const cluster::Job& job,
                                               MilliGpu amount) {
    const auto by = [&](model::Rule rule) {
        return wait_of(view, {job, job.ask(), amount, rule, home_of(job)});
    };
    std::optional<MinimumRunWait> wait;
    if (may_reclaim(view, job.project, job.preemptible, amount)) wait = by(model::Rule::Reclaim);
    return wait ? wait : by(model::Rule::Preempt);
}

std::string moment_text(TimePoint moment, TimePoint now) {
    using std::chrono::days;
    using std::chrono::seconds;
    const auto whole = std::chrono::ceil<seconds>(moment.time_since_epoch());
    const auto date = std::chrono::floor<days>(whole);
    const std::chrono::hh_mm_ss time(whole - date);
    std::string text = two_digits(time.hours().count()) + ":" + two_digits(time.minutes().count()) +
                       ":" + two_digits(time.seconds().count()) + " UTC";
    if (moment - now < days(1)) return text;
    const std::chrono::year_month_day day{std::chrono::sys_days(date)};
    return std::to_string(int{day.year()}) + "-" + two_digits(unsigned{day.month()}) + "-" +
           two_digits(unsigned{day.day()}) + " " + text;
}

}  // namespace berth::scheduling
