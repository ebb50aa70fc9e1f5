// SPDX-License-Identifier: Apache-2.0
//
// A verdict as one sentence with its numbers. The only place where verdicts become words.
#include <algorithm>
#include <array>
#include <chrono>
#include <optional>
#include <utility>

#include "base/check.h"
#include "scheduling/explain/explain.h"

namespace berth::scheduling {
namespace {

using base::format;
using base::format_gpus;
using model::Cause;
using model::Verdict;

// Braces name a number of the verdict or a part of a sentence: part() says which.
constexpr std::array<std::pair<Cause, const char*>, model::kCauseCount> kSentences{{
    {Cause::NotEvaluated, "not looked at yet"},
    {Cause::OnHold, "held by a user before it ran; resume it to let it run"},
    {Cause::PausedByUser, "paused by a user; resume it to let it run"},
    {Cause::Parked,
     "it made no GPU call for long; it wakes on its next one, or when it is resumed"},
    {Cause::Starting, "starts now"},
    {Cause::GpusReleasing, "its {asks GPUs} {asks are} being freed"},
    {Cause::HostReleasing, "{what} of {scope} {what are} being freed for it"},
    {Cause::PromiseUsedByOthers, "others use what is kept for it on {scope}"},
    {Cause::PinnedNodeLeaves,
     "its processes are kept on {scope}, which joins another pool; 10m after it was put in line "
     "they are given up, and it starts anew"},
    {Cause::LimitReached,
     "{scope} uses {used} of its limit of {bound GPUs}, this asks {asks} more"},
    {Cause::FixedQuotaReached,
     "{scope} uses {used} of its fixed quota of {bound GPUs}, this asks {asks} more"},
    {Cause::NonPreemptibleQuotaReached,
     "{scope} uses {used} of the quota of {bound GPUs} that work which cannot be paused may take, "
     "this asks {asks} more"},
    {Cause::NonPreemptibleCpuQuotaReached,
     "{scope} uses {host used} of the quota of {host bound} CPUs that work which cannot be paused "
     "may take, this asks {host asks} more"},
    {Cause::NonPreemptibleMemoryQuotaReached,
     "{scope} uses {host used} of the quota of {host bound} of memory that work which cannot be "
     "paused may take, this asks {host asks} more"},
    {Cause::CpuLimitReached,
     "{scope} uses {host used} of its limit of {host bound} CPUs, this asks {host asks} more"},
    {Cause::MemoryLimitReached,
     "{scope} uses {host used} of its limit of {host bound} of memory, this asks {host asks} more"},
    {Cause::SetAsideForFixedQuotas,
     "{used} of {capacity} set aside for fixed quotas such as that of {scope}, {bound} may be "
     "lent, this asks {asks}"},
    {Cause::AboveFairShare,
     "{scope} uses {used} of its fair share of {bound GPUs} and asks {asks}; {idle} of "
     "{capacity} idle"},
    {Cause::AboveCpuQuota,
     "{scope} uses {host used} of its quota of {host bound} CPUs, this asks {host asks} more, and "
     "too little is free"},
    {Cause::AboveMemoryQuota,
     "{scope} uses {host used} of its quota of {host bound} of memory, this asks {host asks} more, "
     "and too little is free"},
    {Cause::NeverFitsNode, "no node has the GPUs one task of this asks"},
    {Cause::NeverFitsPool,
     "asks {asks GPUs}, the pool has {capacity}: {tasks} would fit when it is empty"},
    {Cause::NeverFitsHost,
     "no empty node has the CPU and memory this asks beside its GPUs: {tasks} would fit into the "
     "empty pool"},
    {Cause::NeverFitsResource, "{each needs}: {tasks} would fit into the empty pool"},
    {Cause::NeverFitsCompanion, "even when they are empty, the nodes have no room for {companion}"},
    {Cause::NeverFitsDomain, "asks {asks GPUs} in one {what}: {best domain}"},
    {Cause::NeverFitsGroup,
     "asks {asks GPUs}, those of group {group} in one {what}: {best domain}"},
    {Cause::SharesNotKept, "it asks for a share of a GPU, and shares are not kept here: {what}"},
    {Cause::NoNodeWithLabel, "no node has {what}"},
    {Cause::TaintNotTolerated, "taint {what} is not tolerated, and no other node would do"},
    {Cause::NoNodeOfKind, "no node carries the GPU model or labels it asks for"},
    {Cause::AheadInQueue, "would fit, but jobs ahead of it take the room"},
    {Cause::BehindProjects,
     "would fit, but other projects are served first; {scope} uses {used} of its fair share of "
     "{bound GPUs} and asks {asks}"},
    {Cause::ReservedForOther, "{free} besides those kept for another job"},
    {Cause::KeptForBackfill, "{free}, {bound} of them kept for a gang that has waited longer"},
    {Cause::ShareKeptForBackfill,
     "cannot be paused, and would use GPUs of its project's fair share that are kept for a gang "
     "that has waited longer"},
    {Cause::NotEnoughFree, "{full}"},
    {Cause::NodeKindTaken, "{full} on nodes of the kind it asks"},
    {Cause::NotTogetherOnNode, "{apart}"},
    {Cause::NotOnPinnedNode, "{free}, but too little on {scope}, where its processes are kept"},
    {Cause::NotTogetherInDomain, "{free}, but not in one {what}: {best domain}"},
    {Cause::GroupNotTogether,
     "{free}, but not those of group {group} in one {what}: {best domain}"},
    {Cause::GangDoesNotFit, "{free}, but only {tasks} fit at once"},
    {Cause::HostTaken, "{free}, but CPU or memory beside them is taken"},
    {Cause::ResourceTaken, "{free}{too little}"},
    {Cause::CompanionHasNoRoom, "{free}, but the nodes have no room for {companion}"},
    {Cause::OthersUseGpus, "{free}; {used GPUs} of node {scope} {used are} used by others"},
    {Cause::OthersUseHost, "{free}; {what} of node {scope} is used by others"},
    {Cause::NodesAway, "would fit if drained or failed nodes such as {scope} were back"},
    {Cause::NodesJoin,
     "would fit if nodes such as {scope}, which join this pool once they are empty, had"},
    {Cause::PreemptionDelay, "{full} before {until}: its preemption delay has not passed"},
    {Cause::WasteBudgetSpent,
     "{full} before {until}: the unsaved work that pauses may destroy today is spent"},
    {Cause::MinRuntime, "{full} before {until}: {what is held} held by {the protected}"},
}};

// Every cause has its sentence, at its place.
static_assert([] {
    for (std::size_t i = 0; i < kSentences.size(); ++i) {
        if (kSentences[i].first != static_cast<Cause>(i)) return false;
    }
    return true;
}());

// 7 is "07".
std::string two_digits(std::int64_t number) { return std::to_string(100 + number).substr(1); }

// "14:05:00 UTC", with the date where it is a day or more from then.
std::string moment_text(model::TimePoint moment, model::TimePoint from) {
    using std::chrono::days;
    const auto whole = std::chrono::ceil<std::chrono::seconds>(moment.time_since_epoch());
    const auto date = std::chrono::floor<days>(whole);
    const std::chrono::hh_mm_ss time(whole - date);
    const std::string text = two_digits(time.hours().count()) + ":" +
                             two_digits(time.minutes().count()) + ":" +
                             two_digits(time.seconds().count()) + " UTC";
    if (moment - from < days(1)) return text;
    const std::chrono::year_month_day day{std::chrono::sys_days(date)};
    return std::to_string(int{day.year()}) + "-" + two_digits(unsigned{day.month()}) + "-" +
           two_digits(unsigned{day.day()}) + " " + text;
}

// "3 of 4 tasks"
std::string tasks_text(const Verdict& verdict) {
    return std::to_string(verdict.tasks_fit) + " of " + std::to_string(verdict.tasks_asked) +
           " tasks";
}

// "3 of 4 tasks fit in rack r7"
std::string best_domain(const Verdict& verdict) {
    const bool is_group = !verdict.group.empty();
    const bool is_never = verdict.reason == model::Reason::NeverFits;
    if (verdict.scope.empty()) {
        return "no node " + std::string(is_group ? "with room " : "") + "says in which " +
               verdict.what + " it is";
    }
    const std::string fit =
        is_never ? (is_group ? " would fit in " : " would fit in the best, ") : " fit in ";
    return tasks_text(verdict) + fit + verdict.scope +
           (is_group ? ", the best left by its other groups" : "") +
           (is_never ? ", when it is empty" : "");
}

// "its companion driver, which asks 4 CPUs and 16G of memory"
std::string companion_text(const Verdict& verdict) {
    const bool is_one = verdict.tasks_asked == 1;
    return (is_one ? "its companion "
                   : "its " + std::to_string(verdict.tasks_asked) + " companions ") +
           verdict.group + (is_one ? ", which asks " : ", each of which asks ") + verdict.what;
}

std::string idle_text(const Verdict& verdict) {
    return "asks " + format_gpus(verdict.asks) + "; " + format(verdict.idle) + " of " +
           format(verdict.capacity) + " idle";
}

bool tells_parts(const Verdict& verdict) { return verdict.memory_asked > model::Bytes{0}; }

// "asks 0.7 of a GPU and 10G of its memory; the best has 0.8 and 5G left, too little memory"
std::string parts_text(const Verdict& verdict) {
    const bool lacks_compute = verdict.compute_left < verdict.compute_asked;
    const bool lacks_memory = verdict.memory_left < verdict.memory_asked;
    const std::string lacks = lacks_compute && lacks_memory ? "too little of both"
                              : lacks_compute               ? "too little compute"
                              : lacks_memory                ? "too little memory"
                                                            : "each is enough";
    return "asks " + format(verdict.compute_asked) + " of a GPU and " +
           format(verdict.memory_asked) + " of its memory; the best has " +
           format(verdict.compute_left) + " and " + format(verdict.memory_left) + " left, " + lacks;
}

std::string apart_text(const Verdict& verdict) {
    if (tells_parts(verdict)) return parts_text(verdict) + ", though all have enough";
    return idle_text(verdict) + ", but at most " + format(verdict.largest_free) +
           " together on one node";
}

std::string are(bool is_one) { return is_one ? "is" : "are"; }

// "4" cores, "16G" of memory.
std::string host_text(const Verdict& verdict, std::int64_t amount) {
    const bool is_cpu = verdict.cause == Cause::CpuLimitReached ||
                        verdict.cause == Cause::NonPreemptibleCpuQuotaReached ||
                        verdict.cause == Cause::AboveCpuQuota;
    return is_cpu ? format(model::MilliCpu{amount}) : format(model::Bytes{amount});
}

// What a verdict says itself; nothing for parts that are put together.
std::optional<std::string> said_part(const Verdict& verdict, std::string_view name) {
    if (name == "scope") return verdict.scope;
    if (name == "what") return verdict.what;
    if (name == "what are") return are(verdict.what.find(' ') == std::string::npos);
    if (name == "group") return verdict.group;
    if (name == "asks") return format(verdict.asks);
    if (name == "asks GPUs") return format_gpus(verdict.asks);
    if (name == "asks are") return are(verdict.asks == base::kWholeGpu);
    if (name == "used") return format(verdict.used);
    if (name == "used GPUs") return format_gpus(verdict.used);
    if (name == "used are") return are(verdict.used <= base::kWholeGpu);
    if (name == "bound") return format(verdict.bound);
    if (name == "bound GPUs") return format_gpus(verdict.bound);
    if (name == "host asks") return host_text(verdict, verdict.host_asks);
    if (name == "host used") return host_text(verdict, verdict.host_used);
    if (name == "host bound") return host_text(verdict, verdict.host_bound);
    if (name == "idle") return format(verdict.idle);
    if (name == "capacity") return format(verdict.capacity);
    return {};
}

std::string part(const Verdict& verdict, std::string_view name) {
    if (const auto part = said_part(verdict, name)) return *part;
    const bool is_one_used = verdict.used <= base::kWholeGpu;
    const bool is_pods = verdict.what == model::kPodsResource;
    if (name == "tasks") return tasks_text(verdict);
    if (name == "until") return moment_text(verdict.until.value_or(verdict.at), verdict.at);
    if (name == "best domain") return best_domain(verdict);
    if (name == "companion") return companion_text(verdict);
    if (name == "free") return idle_text(verdict);
    if (name == "apart") return apart_text(verdict);
    const bool has_gpus = verdict.asks > model::MilliGpu{0};
    if (name == "what is held") {
        return has_gpus ? format_gpus(verdict.used) + " " + are(is_one_used) : "it is";
    }
    if (name == "full" && !has_gpus) {
        return "CPU or memory is taken, and no running job may be preempted for it";
    }
    if (name == "full") {
        return (tells_parts(verdict) ? parts_text(verdict) : idle_text(verdict)) +
               ", and no running job may be preempted for it";
    }
    if (name == "each needs") {
        return is_pods ? "nodes take too few pods" : "each task needs " + verdict.what;
    }
    if (name == "too little") {
        return is_pods ? ", on nodes that take no more pods"
                       : "; each task needs " + verdict.what +
                             ", and too little of it is left beside them";
    }
    BERTH_CHECK(name == "the protected", "a sentence names parts that there are");
    return is_one_used ? "a job within its minimum run" : "jobs within their minimum run";
}

}  // namespace

std::string explain_text(const Verdict& verdict) {
    std::string_view rest = kSentences[static_cast<std::size_t>(verdict.cause)].second;
    std::string text;
    for (auto open = rest.find('{'); open != rest.npos; open = rest.find('{')) {
        const auto close = rest.find('}', open);
        text += rest.substr(0, open);
        text += part(verdict, rest.substr(open + 1, close - open - 1));
        rest.remove_prefix(close + 1);
    }
    return text.append(rest);
}

namespace {

std::string above_text(const Verdict& verdict, const std::string& bound) {
    return format(verdict.used) + " held + " + format(verdict.asks) +
           " asked = " + format(verdict.used + verdict.asks) + ", above " + bound + " of " +
           format(verdict.bound);
}

std::string lend_text(const Verdict& verdict) {
    return format(verdict.used + verdict.bound) + " free - " + format(verdict.used) +
           " set aside = " + format(verdict.bound) + " to lend, below the " + format(verdict.asks) +
           " asked";
}

// "4 asked - 3 idle = 1 short"; empty where there is enough.
template <typename Amount>
std::string short_text(Amount asked, Amount there, const std::string& of_what, const char* where) {
    if (asked <= there) return {};
    return format(asked) + of_what + " asked - " + format(there) + " " + where + " = " +
           format(asked - there) + " short";
}

std::string shortage_text(const Verdict& verdict) {
    if (!tells_parts(verdict)) return short_text(verdict.asks, verdict.idle, "", "idle");
    std::string text = short_text(verdict.memory_asked, verdict.memory_left, " of memory", "left");
    if (!text.empty()) return text;
    return short_text(verdict.compute_asked, verdict.compute_left, " of compute", "left");
}

std::string tasks_short(const Verdict& verdict, const std::string& where) {
    return std::to_string(verdict.tasks_asked) + " tasks asked - " +
           std::to_string(verdict.tasks_fit) + " " + where + " = " +
           std::to_string(verdict.tasks_asked - verdict.tasks_fit) + " short";
}

}  // namespace

std::string arithmetic_text(const Verdict& verdict) {
    if (verdict.cause == Cause::LimitReached) return above_text(verdict, "the limit");
    if (verdict.cause == Cause::FixedQuotaReached) return above_text(verdict, "the fixed quota");
    if (verdict.cause == Cause::NonPreemptibleQuotaReached) {
        return above_text(verdict, "the quota for work that stays");
    }
    if (verdict.cause == Cause::AboveFairShare) return above_text(verdict, "the fair share");
    if (verdict.cause == Cause::SetAsideForFixedQuotas) return lend_text(verdict);
    if (verdict.cause == Cause::GangDoesNotFit) return tasks_short(verdict, "that fit");
    if (verdict.reason == model::Reason::PoolFull) return shortage_text(verdict);
    return {};
}

}  // namespace berth::scheduling
