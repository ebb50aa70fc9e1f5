// SPDX-License-Identifier: Apache-2.0
//
// A verdict as one sentence with its numbers. The only place where verdicts become words.
#include "scheduling/explain.h"

namespace berth::scheduling {
namespace {

using model::Reason;
using model::Verdict;

std::string quota_text(const Verdict& verdict) {
    const std::string use = verdict.scope + " uses " + base::format(verdict.used) + " of ";
    const std::string asks = ", this asks " + base::format(verdict.asks) + " more";
    if (verdict.detail == "quota") {
        return use + "the quota of " + base::format_gpus(verdict.bound) +
               " that work which cannot be paused may take" + asks;
    }
    return use + "its " + verdict.detail + " of " + base::format_gpus(verdict.bound) + asks;
}

std::string fair_text(const Verdict& verdict) {
    if (verdict.detail == "set aside") {
        return base::format(verdict.used) + " of " + base::format(verdict.capacity) +
               " set aside for fixed quotas such as that of " + verdict.scope + ", " +
               base::format(verdict.bound) + " may be lent, this asks " +
               base::format(verdict.asks);
    }
    return verdict.scope + " holds " + base::format(verdict.used) + " of its fair share of " +
           base::format_gpus(verdict.bound) + " and asks " + base::format(verdict.asks) + "; " +
           base::format(verdict.idle) + " of " + base::format(verdict.capacity) + " idle";
}

// "3 of 4 tasks fit in rack r7"
std::string best_domain(const Verdict& verdict, const std::string& fit) {
    const bool is_group = !verdict.group.empty();
    if (verdict.scope.empty()) {
        return "no node " + std::string(is_group ? "with room " : "") + "says in which " +
               verdict.detail + " it is";
    }
    return std::to_string(verdict.tasks_fit) + " of " + std::to_string(verdict.tasks_asked) +
           " tasks " + fit + verdict.scope +
           (is_group ? ", the best left by its other groups" : "");
}

std::string topology_never(const Verdict& verdict) {
    const std::string whose = verdict.group.empty() ? "" : ", those of group " + verdict.group;
    return "asks " + base::format_gpus(verdict.asks) + whose + " in one " + verdict.detail + ": " +
           best_domain(verdict,
                       verdict.group.empty() ? "would fit in the best, " : "would fit in ") +
           (verdict.scope.empty() ? "" : ", when it is empty");
}

// "its companion driver, which asks 4 CPUs and 16G of memory"
std::string companion_text(const Verdict& verdict) {
    if (verdict.tasks_asked == 1) {
        return "its companion " + verdict.group + ", which asks " + verdict.cause;
    }
    return "its " + std::to_string(verdict.tasks_asked) + " companions " + verdict.group +
           ", each of which asks " + verdict.cause;
}

std::string never_text(const Verdict& verdict) {
    if (verdict.detail == "companion") {
        return "even when they are empty, the nodes have no room for " + companion_text(verdict);
    }
    if (verdict.detail == "resource") {
        const bool is_pods = verdict.cause == model::kPodsResource;
        return (is_pods ? "nodes take too few pods" : "each task needs " + verdict.cause) + ": " +
               std::to_string(verdict.tasks_fit) + " of " + std::to_string(verdict.tasks_asked) +
               " tasks would fit into the empty pool";
    }
    if (verdict.detail == "host resources") {
        return "no empty node has the CPU and memory this asks beside its GPUs: " +
               std::to_string(verdict.tasks_fit) + " of " + std::to_string(verdict.tasks_asked) +
               " tasks would fit into the empty pool";
    }
    if (verdict.detail == "shares") {
        return "it asks for a share of a GPU, and shares are not kept here: " + verdict.cause;
    }
    if (verdict.detail != "gpus" && verdict.detail != "node size") return topology_never(verdict);
    if (verdict.detail == "node size") return "no node has the GPUs one task of this asks";
    return "asks " + base::format_gpus(verdict.asks) + ", the pool has " +
           base::format(verdict.capacity) + ": " + std::to_string(verdict.tasks_fit) + " of " +
           std::to_string(verdict.tasks_asked) + " tasks would fit when it is empty";
}

std::string idle_text(const Verdict& verdict) {
    return "asks " + base::format_gpus(verdict.asks) + "; " + base::format(verdict.idle) + " of " +
           base::format(verdict.capacity) + " idle";
}

// "asks 0.7 of a GPU and 10G of its memory; the best has 0.8 and 5G left, too little memory"
std::string parts_text(const Verdict& verdict) {
    const bool lacks_compute = verdict.compute_left < verdict.compute_asked;
    const bool lacks_memory = verdict.memory_left < verdict.memory_asked;
    const std::string lacks = lacks_compute && lacks_memory ? "too little of both"
                              : lacks_compute               ? "too little compute"
                              : lacks_memory                ? "too little memory"
                                                            : "each is enough";
    return "asks " + base::format(verdict.compute_asked) + " of a GPU and " +
           base::format(verdict.memory_asked) + " of its memory; the best has " +
           base::format(verdict.compute_left) + " and " + base::format(verdict.memory_left) +
           " left, " + lacks;
}

// "; 4 GPUs of node n1 are used by others"
std::string others_text(const Verdict& verdict) {
    const bool is_host = verdict.reason == Reason::HostResources;
    const std::string of_host =
        verdict.cause.empty() ? "CPU or memory" : "CPU, memory or another resource";
    const std::string what = is_host ? of_host : base::format_gpus(verdict.used);
    const bool is_one = is_host || verdict.used == base::kWholeGpu;
    return "; " + what + " of node " + verdict.scope + (is_one ? " is" : " are") +
           " used by others";
}

bool tells_parts(const Verdict& verdict) { return verdict.memory_asked > model::Bytes{0}; }

std::string kind_text(const Verdict& verdict) {
    if (verdict.detail == "label") return "no node has " + verdict.cause;
    if (verdict.detail == "taint") {
        return "taint " + verdict.cause + " is not tolerated, and no other node would do";
    }
    return "no node carries the GPU model or labels it asks for";
}

// What beside GPUs is missing.
std::string host_text(const Verdict& verdict) {
    const std::string idle = idle_text(verdict);
    if (verdict.detail == "others") return idle + others_text(verdict);
    if (verdict.detail == "companion") {
        return idle + ", but the nodes have no room for " + companion_text(verdict);
    }
    if (verdict.detail != "resource") return idle + ", but CPU or memory beside them is taken";
    if (verdict.cause == model::kPodsResource) return idle + ", on nodes that take no more pods";
    return idle + "; each task needs " + verdict.cause +
           ", and too little of it is left beside them";
}

// What holds the pauses back.
std::string full_text(const Verdict& verdict) {
    if (verdict.detail == "preemption delay") return " before its preemption delay has passed";
    if (verdict.detail == "waste budget") {
        return " before 00:00 UTC: the unsaved work that pauses may destroy today is spent";
    }
    if (verdict.detail == "minimum run") {
        const bool is_one = verdict.used <= base::kWholeGpu;
        return " before " + verdict.cause + ": " + base::format_gpus(verdict.used) +
               (is_one ? " is held by a job within its minimum run"
                       : " are held by jobs within their minimum run");
    }
    return verdict.detail.empty() ? "" : " on nodes of the kind it asks";
}

}  // namespace

std::string explain_text(const Verdict& verdict) {
    switch (verdict.reason) {
        case Reason::Invalid: return "the request cannot be understood: " + verdict.detail;
        case Reason::NeverFits: return never_text(verdict);
        case Reason::Held: return "held by a user before it ran; resume it to let it run";
        case Reason::Dependency: return "waits for another job";
        case Reason::NotBefore: return "waits for its time";
        case Reason::Paused: return "paused by a user; resume it to let it run";
        case Reason::Parked:
            return "it made no GPU call for long; it wakes on its next one, or when it is resumed";
        case Reason::QuotaHard: return quota_text(verdict);
        case Reason::QuotaFair: return fair_text(verdict);
        case Reason::PriorityAhead:
            return "would fit, but jobs ahead of it take the room; number " +
                   std::to_string(verdict.position) + " in " + verdict.scope;
        case Reason::PoolFull:
            if (verdict.detail == "others") return idle_text(verdict) + others_text(verdict);
            return (tells_parts(verdict) ? parts_text(verdict) : idle_text(verdict)) +
                   ", and nobody may be paused for it" + full_text(verdict);
        case Reason::Fragmented:
            if (!verdict.detail.empty()) {
                return idle_text(verdict) + ", but too little on " + verdict.detail +
                       ", where its processes are kept";
            }
            if (tells_parts(verdict)) return parts_text(verdict) + ", though all have enough";
            return idle_text(verdict) + ", but at most " + base::format(verdict.largest_free) +
                   " together on one node";
        case Reason::Topology:
            return idle_text(verdict) + ", but not " +
                   (verdict.group.empty() ? "" : "those of group " + verdict.group + " ") +
                   "in one " + verdict.detail + ": " + best_domain(verdict, "fit in ");
        case Reason::ModelMismatch: return kind_text(verdict);
        case Reason::HostResources: return host_text(verdict);
        case Reason::Gang:
            return idle_text(verdict) + ", but only " + std::to_string(verdict.tasks_fit) + " of " +
                   std::to_string(verdict.tasks_asked) + " tasks fit at once";
        case Reason::Unhealthy:
            if (verdict.detail == "kept there") {
                return "its processes are kept on " + verdict.scope +
                       ", which joins another pool; 10m after it was put in line they are given " +
                       "up, and it starts anew";
            }
            if (verdict.detail == "joins") {
                return "would fit if nodes such as " + verdict.scope +
                       ", which join this pool once they are empty, had";
            }
            return "would fit if drained or failed nodes such as " + verdict.scope + " were back";
        case Reason::Reserved:
            if (verdict.detail == "booking") {
                return idle_text(verdict) + ", " + format(verdict.bound) +
                       " of them kept for a gang that has waited longer";
            }
            return idle_text(verdict) + " besides those kept for another job";
        case Reason::WaitingForPause:
            return "its " + base::format_gpus(verdict.asks) +
                   (verdict.asks == base::kWholeGpu ? " is" : " are") + " being freed";
        case Reason::Starting: return "starts now";
        case Reason::NotYetEvaluated: return "not looked at yet";
    }
    return {};
}

namespace {

std::string above_text(const Verdict& verdict, const std::string& bound) {
    return base::format(verdict.used) + " held + " + base::format(verdict.asks) +
           " asked = " + base::format(verdict.used + verdict.asks) + ", above " + bound + " of " +
           base::format(verdict.bound);
}

std::string shortage_text(const Verdict& verdict) {
    const auto line = [](const auto& asked, const auto& left, const std::string& of) {
        return base::format(asked) + of + " asked - " + base::format(left) +
               " left = " + base::format(asked - left) + " short";
    };
    if (verdict.memory_left < verdict.memory_asked) {
        return line(verdict.memory_asked, verdict.memory_left, " of memory");
    }
    if (verdict.compute_asked <= verdict.compute_left) return {};
    return line(verdict.compute_asked, verdict.compute_left, " of compute");
}

std::string short_text(std::int64_t asked, std::int64_t there, const std::string& where) {
    return std::to_string(asked) + " tasks asked - " + std::to_string(there) + " " + where + " = " +
           std::to_string(asked - there) + " short";
}

}  // namespace

std::string arithmetic_text(const Verdict& verdict) {
    switch (verdict.reason) {
        case Reason::QuotaHard:
            return above_text(verdict, verdict.detail == "quota" ? "the quota for work that stays"
                                                                 : "the " + verdict.detail);
        case Reason::QuotaFair:
            if (verdict.detail != "set aside") return above_text(verdict, "the fair share");
            return base::format(verdict.used + verdict.bound) + " free - " +
                   base::format(verdict.used) + " set aside = " + base::format(verdict.bound) +
                   " to lend, below the " + base::format(verdict.asks) + " asked";
        case Reason::NeverFits:
            if (verdict.detail == "node size" || verdict.detail == "companion") return {};
            return short_text(verdict.tasks_asked, verdict.tasks_fit, "that fit when it is empty");
        case Reason::Gang: return short_text(verdict.tasks_asked, verdict.tasks_fit, "that fit");
        case Reason::Fragmented: return tells_parts(verdict) ? shortage_text(verdict) : "";
        case Reason::PoolFull:
            if (tells_parts(verdict)) return shortage_text(verdict);
            [[fallthrough]];
        case Reason::Reserved:
        case Reason::Unhealthy:
            if (verdict.idle >= verdict.asks) return {};
            return base::format(verdict.asks) + " asked - " + base::format(verdict.idle) +
                   " idle = " + base::format(verdict.asks - verdict.idle) + " short";
        default: return {};
    }
}

}  // namespace berth::scheduling
