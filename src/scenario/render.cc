// SPDX-License-Identifier: Apache-2.0
#include "scenario/render.h"

#include <algorithm>
#include <map>
#include <string_view>

#include "scheduling/explain/explain.h"
#include "scheduling/shares/overcommitment.h"

namespace berth::scenario {
namespace {

std::string_view rule_name(model::Rule rule) {
    switch (rule) {
        case model::Rule::Allocate: return "allocate";
        case model::Rule::Reclaim: return "reclaim";
        case model::Rule::Preempt: return "preempt";
        case model::Rule::Consolidate: return "consolidate";
        case model::Rule::Hold: return "hold";
        case model::Rule::User: return "user";
        case model::Rule::Stale: return "stale";
        case model::Rule::Part: return "part";
        case model::Rule::Park: return "park";
    }
    return {};
}

std::string_view order_name(model::JobOrder by) {
    switch (by) {
        case model::JobOrder::Learned: return "learned";
        case model::JobOrder::ByLevels: return "levels";
        case model::JobOrder::Age: return "age";
    }
    return {};
}

std::string_view turn_name(model::Turn turn) {
    switch (turn) {
        case model::Turn::NotDue: return "not due";
        case model::Turn::Due: return "due";
        case model::Turn::Granted: return "granted";
    }
    return {};
}

std::string_view evidence_name(model::EvidenceOf of) {
    switch (of) {
        case model::EvidenceOf::None: return "none";
        case model::EvidenceOf::All: return "all";
        case model::EvidenceOf::Width: return "width";
        case model::EvidenceOf::User: return "user";
        case model::EvidenceOf::Name: return "name";
        case model::EvidenceOf::Command: return "command";
    }
    return {};
}

std::string_view held_back_name(model::HeldBackBy by) {
    switch (by) {
        case model::HeldBackBy::Nothing: return "now";
        case model::HeldBackBy::Order: return "not by order";
        case model::HeldBackBy::Delay: return "not before its delay";
        case model::HeldBackBy::WasteBudget: return "not with this waste budget";
        case model::HeldBackBy::MinimumRun: return "not before a minimum run time";
        case model::HeldBackBy::Room: return "not enough room";
    }
    return {};
}

std::string gpu_time(std::int64_t gpu_ms) { return base::format(model::Duration{gpu_ms}); }

// "0-3,5".
std::string ranges(std::uint64_t mask) {
    std::string text;
    for (int gpu = 0; gpu < model::kGpusPerNodeMax; ++gpu) {
        if ((mask >> gpu & 1) == 0) continue;
        int last = gpu;
        while (last + 1 < model::kGpusPerNodeMax && (mask >> (last + 1) & 1) != 0) ++last;
        if (!text.empty()) text += ',';
        text += std::to_string(gpu);
        if (last > gpu) text += '-' + std::to_string(last);
        gpu = last;
    }
    return text;
}

}  // namespace

std::string name_of(const lifecycle::State& state, model::JobId job) {
    const auto found = state.jobs.find(job);
    if (found == state.jobs.end()) return "#" + std::to_string(job.value);
    return found->second.spec.project + "/" + found->second.spec.name;
}

std::string places(const cluster::Cluster& cluster,
                   const std::vector<model::TaskPlacement>& tasks) {
    std::map<base::NodeId, std::vector<const model::TaskPlacement*>> by_node;
    for (const auto& task : tasks) by_node[task.node].push_back(&task);
    std::string text;
    for (auto& [node, here] : by_node) {
        std::ranges::sort(here, {}, &model::TaskPlacement::task);
        const std::string& name = cluster.node_name(node);
        std::uint64_t whole = 0;
        std::string shares;
        for (const auto* task : here) {
            if (task->gpu_mask == 0) {
                shares += " " + name;
            } else if (task->share == base::kWholeGpu) {
                whole |= task->gpu_mask;
            } else {
                shares += " " + name + ":" + ranges(task->gpu_mask) + "/" +
                          format_part(task->part(), task->memory_share);
            }
        }
        if (whole != 0) text += " " + name + ":" + ranges(whole);
        text += shares;
    }
    return text.empty() ? text : text.substr(1);
}

std::vector<std::string> render(const lifecycle::State& state, const model::Plan& plan) {
    std::vector<std::string> lines;
    for (const auto& found : plan.overcommitted) {
        lines.push_back("note " + scheduling::overcommitment_text(found));
    }
    for (const model::NodeMove& move : plan.node_moves) {
        std::string line = "node " + move.node + " joins " + move.pool;
        if (!move.replaces.empty()) {
            const auto& node = state.cluster.nodes()[state.cluster.find_node(move.node).index()];
            line += " for " + move.replaces + ", which joins " + state.cluster.pool(node.pool).name;
        }
        lines.push_back(line);
    }
    for (const auto job : plan.give_ups) {
        lines.push_back("give up the processes of " + name_of(state, job));
    }
    for (const auto job : plan.dropped) lines.push_back("drop " + name_of(state, job));
    for (const auto& pause : plan.pauses) {
        std::vector<model::TaskPlacement> tasks;
        for (const auto& task : state.jobs.at(pause.job).tasks) {
            if (std::ranges::find(pause.tasks, task.task) != pause.tasks.end()) {
                tasks.push_back(task);
            }
        }
        const std::string gains =
            pause.beneficiary.is_valid() ? " for " + name_of(state, pause.beneficiary) : "";
        lines.push_back((pause.whole_job ? "pause " : "shrink ") + name_of(state, pause.job) + " " +
                        places(state.cluster, tasks) + gains + " by " +
                        std::string(rule_name(pause.rule)));
    }
    for (const auto& move : plan.moves) {
        lines.push_back("move " + name_of(state, move.job) + " " +
                        places(state.cluster, state.jobs.at(move.job).tasks) + " to " +
                        places(state.cluster, move.tasks) + " for " +
                        name_of(state, move.beneficiary) + " by " +
                        std::string(rule_name(move.rule)));
    }
    for (const auto& start : plan.starts) {
        const bool grows = !state.jobs.at(start.job).tasks.empty();
        lines.push_back((grows ? "grow " : "start ") + name_of(state, start.job) + " " +
                        places(state.cluster, start.tasks) +
                        (start.rule == model::Rule::Hold ? " by hold" : ""));
    }
    for (const auto& reservation : plan.reservations) {
        lines.push_back("reserve " + name_of(state, reservation.job) + " " +
                        places(state.cluster, reservation.tasks));
    }
    return lines;
}

std::vector<std::string> render_backfill(const lifecycle::State& state, const model::Plan& plan,
                                         model::TimePoint now) {
    std::vector<std::string> lines;
    for (const auto& backfill_reservation : plan.backfill) {
        std::string line = "book " + name_of(state, backfill_reservation.job) + " " +
                           places(state.cluster, backfill_reservation.tasks) + " in " +
                           base::format(backfill_reservation.start - now);
        if (!backfill_reservation.kept.empty())
            line += " keeps " + places(state.cluster, backfill_reservation.kept);
        lines.push_back(line);
    }
    return lines;
}

std::string render(const lifecycle::State& state, const model::Verdict& verdict) {
    std::string line = "wait " + name_of(state, verdict.job) + " " +
                       std::string(model::name(verdict.reason)) + ": " +
                       scheduling::explain_text(verdict);
    if (!verdict.blockers.empty()) line += " [";
    for (std::size_t i = 0; i < verdict.blockers.size(); ++i) {
        line += (i > 0 ? " " : "") + name_of(state, verdict.blockers[i]);
    }
    return line + (verdict.blockers.empty() ? "" : "]");
}

std::vector<std::string> render(const model::ShareAccount& account) {
    std::vector<std::string> lines;
    for (const model::ShareLevel& level : account.levels) {
        lines.push_back((level.parent.empty() ? "pool " + account.pool : level.parent) +
                        " divides " + format(level.total) + ", surplus " + format(level.surplus));
        for (const model::ShareRow& row : level.rows) {
            lines.push_back("  " + row.project + " quota " +
                            (row.quota == model::kUnlimited ? "unlimited" : format(row.quota)) +
                            " wants " + format(row.wants) + ": " + format(row.from_quota) + " + " +
                            format(row.from_surplus) + " + " + format(row.odd) + " = " +
                            format(row.fair));
        }
        for (const model::ShareOffer& offer : level.offers) {
            lines.push_back("  priority " + std::to_string(offer.priority) + " round " +
                            std::to_string(offer.round) + " " + offer.project + " " +
                            base::format_thousandths(offer.part_ppm / 10) + "% of " +
                            format(offer.left) + " = " + format(offer.offered) + ", takes " +
                            format(offer.taken));
        }
    }
    return lines;
}

std::vector<std::string> render(const lifecycle::State& state, model::JobId job,
                                const model::OrderAccount& account, model::TimePoint now) {
    const std::string name = name_of(state, job);
    std::string order = name + " by " + std::string(order_name(account.by)) + " in stage " +
                        std::to_string(account.stage);
    if (!account.is_ranked) order += ", not ranked";
    if (account.cost_gpu_ms) {
        order += account.cost_counts ? ", by the cost of " : ", later by the cost of ";
        order += std::to_string(account.evidence.jobs) + " jobs (" +
                 std::string(evidence_name(account.evidence.from)) + ")";
    }
    std::vector<std::string> lines{order};
    if (account.position == 0) return lines;
    std::string place = name + " is " + std::to_string(account.position) + " of " +
                        std::to_string(account.waiting) + ", " +
                        std::to_string(account.jobs_before) + " before it with " +
                        format(account.gpus_before) + " of " + format_gpus(account.capacity) +
                        ", " + std::to_string(account.jobs_of_higher_priority) +
                        " of higher priority, " + std::string(turn_name(account.turn));
    if (account.due) place += ", due in " + base::format(*account.due - now);
    lines.push_back(place);
    if (!account.price) return lines;
    const model::OrderPrice& price = *account.price;
    lines.push_back(name_of(state, price.candidate) + " in stage " + std::to_string(price.stage) +
                    " loses " + gpu_time(price.loses_gpu_ms) + ", preempted from " +
                    std::to_string(price.preempted_from) +
                    (price.is_behind ? ", is behind" : ", is not behind") +
                    (price.is_of_lower_priority ? ", lower priority: " : ": ") +
                    std::string(held_back_name(price.held_back_by)) +
                    (price.until ? " in " + base::format(*price.until - now) : ""));
    return lines;
}

}  // namespace berth::scenario
