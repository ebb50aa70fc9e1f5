// SPDX-License-Identifier: Apache-2.0
#include "cli/pages/order_text.h"

#include <cstdlib>

namespace berth::cli {
namespace {

using model::EvidenceOf;
using model::HeldBackBy;
using model::OrderAccount;
using model::Turn;

std::string counted(std::int64_t count, const std::string& one, const std::string& several) {
    return std::to_string(count) + " " + (count == 1 ? one : several);
}

std::string stage_word(model::JobOrder by) {
    return by == model::JobOrder::Learned ? "stage" : "level";
}

// What those that ended took, and what the others have used: " took, and 2 more have used so far"
std::string amount_text(std::int64_t ended, std::int64_t unfinished) {
    if (unfinished == 0) return " took";
    const std::string used = unfinished == 1 ? " has used so far" : " have used so far";
    return ended == 0 ? used : " took, and " + std::to_string(unfinished) + " more" + used;
}

// "as 24 jobs of ada named train-# submitted within 1h took"
std::string evidence_text(const model::OrderEvidence& evidence) {
    if (evidence.from == EvidenceOf::None) return "a guess: no job has ended yet";
    const std::string within =
        evidence.reach > base::Duration{0} ? " submitted within " + age(evidence.reach) : "";
    const std::int64_t ended = evidence.jobs - evidence.unfinished;
    const std::int64_t first = ended > 0 ? ended : evidence.jobs;
    const std::string amount = amount_text(ended, evidence.unfinished);
    const auto jobs = [&](const std::string& between) {
        return "as " + counted(first, between + "job", between + "jobs");
    };
    switch (evidence.from) {
        case EvidenceOf::All: return jobs("ended ") + amount;
        case EvidenceOf::Width: return jobs("ended ") + " of as many GPUs" + amount;
        case EvidenceOf::Command:
            return jobs("") + (first == 1 ? " that runs " : " that run ") + evidence.key + within +
                   amount;
        default: return jobs("") + " of " + evidence.key + within + amount;
    }
}

// "1 stage behind", of the job that waits.
std::string distance_text(int behind, model::JobOrder by) {
    const std::string stage = stage_word(by);
    if (behind == 0) return "on the same " + stage;
    return counted(std::abs(behind), stage, stage + "s") + (behind > 0 ? " behind" : " ahead");
}

// Why no job is preempted now: "none before 14:03:13, when its preemption delay has passed; "
std::string held_back_text(const model::OrderPrice& price) {
    const std::string before = price.until ? "none before " + clock_time(*price.until) : "none";
    switch (price.held_back_by) {
        case HeldBackBy::Nothing: return {};
        case HeldBackBy::Order: return "none: ";
        case HeldBackBy::Delay: return before + ", when its preemption delay has passed; ";
        case HeldBackBy::WasteBudget:
            return "none before 00:00 UTC: the waste budget of today is used up; ";
        case HeldBackBy::MinimumRun: return before + ", when a minimum run time ends; ";
        case HeldBackBy::Room:
            return "none: preempting all candidates would not free enough GPUs; ";
    }
    return {};
}

}  // namespace

std::string place_text(const OrderAccount& order, const std::string& project) {
    std::string text = ordinal(order.position) + " of " +
                       counted(order.waiting, "waiting job", "waiting jobs") + " of " + project;
    if (!order.is_ranked) text += ", before those that can be preempted";
    if (order.by == model::JobOrder::Age) text += ", by age";
    if (order.jobs_before == 0) return text + "; no running job is before it";
    return text + "; " + counted(order.jobs_before, "running job", "running jobs") + " before it " +
           (order.jobs_before == 1 ? "uses " : "use ") + base::format(order.gpus_before) + " of " +
           base::format_gpus(order.capacity);
}

std::string cost_text(const OrderAccount& order) {
    if (!order.is_ranked || order.by == model::JobOrder::Age) return {};
    const std::string stage = stage_word(order.by) + " " + std::to_string(order.stage);
    if (order.by != model::JobOrder::Learned) return stage + ", by the GPU time it has used";
    if (!order.cost_gpu_ms) return stage;
    const std::string cost =
        gpu_time(*order.cost_gpu_ms) + " until it ends, " + evidence_text(order.evidence);
    if (order.cost_counts) return stage + ": " + cost;
    return stage + ": it has used less than 1 GPU-min; then " + cost;
}

std::string price_text(const OrderAccount& order, const codec::NameTable& names) {
    if (!order.is_ranked || order.by == model::JobOrder::Age || order.position == 0) return {};
    if (!order.price) return "none: no job of its priority or a lower one can be preempted";
    const model::OrderPrice& price = *order.price;
    const std::string candidate = named(price.candidate, names);
    const std::string loses = " would lose " + gpu_time(price.loses_gpu_ms) + "; it ";
    const std::string where = "is " + distance_text(price.stage - order.stage, order.by) +
                              ", and jobs are preempted from " +
                              distance_text(price.preempted_from - order.stage, order.by) + " on";
    const std::string why = loses + (price.is_of_lower_priority ? "has a lower priority" : where);
    if (price.held_back_by == HeldBackBy::Nothing) return candidate + why;
    return held_back_text(price) + "the next candidate, " + candidate + "," + why;
}

std::string due_text(const OrderAccount& order, base::TimePoint now) {
    if (const int higher = order.jobs_of_higher_priority; higher > 0) {
        return "no bound: " + counted(higher, "job", "jobs") + " of higher priority " +
               (higher == 1 ? "goes" : "go") + " first, however long it waits";
    }
    switch (order.turn) {
        case Turn::Granted: return "now: it goes before all jobs but new ones";
        case Turn::Due: return "now: it goes after other due jobs";
        case Turn::NotDue: break;
    }
    if (!order.due) return {};
    return "by its wait at " + clock_time(*order.due) + ", in " + age(*order.due - now);
}

std::string stages_text(const OrderAccount& order) {
    std::string text;
    for (const model::StageChange& change : order.changes) {
        text += (text.empty() ? "" : ", ") + std::to_string(change.stage) + " since " +
                clock_time(change.time);
    }
    return text;
}

std::string order_receipt_text(const model::OrderReceipt& order, const model::PauseCost& cost) {
    const std::string stage = stage_word(order.by) + " ";
    const auto side = [&](std::int64_t cost_gpu_ms, int at) {
        if (cost_gpu_ms > 0) return gpu_time(cost_gpu_ms);
        return order.by == model::JobOrder::Learned && at == 0 ? "a first GPU-min"
                                                               : stage + std::to_string(at);
    };
    const std::string other = order.beneficiary_turn == Turn::Granted
                                  ? "a due job"
                                  : side(order.beneficiary_cost_gpu_ms, order.beneficiary_stage);
    const bool has_cost = order.cost_gpu_ms > 0;
    return other + " against its " + side(order.cost_gpu_ms, order.stage) +
           (has_cost ? " until it ends" : "") + "; the pause may cost " +
           gpu_time(cost.unsaved_gpu_ms + cost.restart_gpu_ms);
}

std::string accuracy_lines(std::span<const codec::ProjectView> projects) {
    std::string text;
    for (const codec::ProjectView& project : projects) {
        if (!project.predicted) continue;
        const model::Accuracy& of = *project.predicted;
        const auto part = [](std::int64_t thousandths) {
            return base::format_thousandths((thousandths + 5) / 10 * 10);
        };
        text += printable(project.name) + ": predicted / used GPU time: median " +
                part(of.median_thousandths) + ", p90 " + part(of.p90_thousandths) + " of " +
                counted(of.jobs, "ended job", "ended jobs") + "\n";
    }
    return text;
}

}  // namespace berth::cli
