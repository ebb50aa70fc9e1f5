// SPDX-License-Identifier: Apache-2.0
#include "cli/pages/plan_report.h"

#include <algorithm>
#include <vector>

#include "cli/pages/job_text.h"
#include "cli/terminal/table.h"
#include "codec/api/json_api.h"
#include "codec/words/gpu_request.h"
#include "scenario/render.h"
#include "scheduling/explain/explain.h"
#include "scheduling/shares/overcommitment.h"

namespace berth::cli {
namespace {

using lifecycle::State;

std::vector<model::TaskPlacement> tasks_leaving(const State& state, const model::Pause& pause) {
    std::vector<model::TaskPlacement> tasks;
    for (const model::TaskPlacement& task : state.jobs.at(pause.job).tasks) {
        if (std::find(pause.tasks.begin(), pause.tasks.end(), task.task) != pause.tasks.end()) {
            tasks.push_back(task);
        }
    }
    return tasks;
}

std::string names_of(const State& state, std::span<const model::JobId> jobs) {
    std::string text;
    for (const model::JobId job : jobs) {
        text += (text.empty() ? "" : ", ") + scenario::name_of(state, job);
    }
    return text;
}

std::string section(std::string_view title, const Table& table, const Style& style) {
    if (table.is_empty()) return {};
    return style.paint(Tone::Faint, title) + "\n" + table.render(style) + "\n";
}

Table starts_of(const State& state, const model::Plan& plan) {
    Table table({{.title = "JOB", .worth = 2, .width_min = 10},
                 {.title = "GPUS"},
                 {.title = "WHERE", .worth = 2, .width_min = 10},
                 {.title = "RULE"}});
    for (const model::Start& start : plan.starts) {
        table.add_row({scenario::name_of(state, start.job),
                       codec::gpu_summary(state.jobs.at(start.job).spec),
                       scenario::places(state.cluster, start.tasks), rule_word(start.rule)});
    }
    return table;
}

Table pauses_of(const State& state, const model::Plan& plan) {
    Table table({{.title = "JOB", .worth = 2, .width_min = 10},
                 {.title = "LEAVES", .worth = 2, .width_min = 10},
                 {.title = "RULE"},
                 {.title = "FOR", .worth = 2, .width_min = 10},
                 {.title = "UNSAVED", .align = Align::Right},
                 {.title = "RESTART", .align = Align::Right}});
    for (const model::Pause& pause : plan.pauses) {
        const std::string shrinks = pause.whole_job ? "" : " (shrinks)";
        table.add_row(
            {scenario::name_of(state, pause.job) + shrinks,
             scenario::places(state.cluster, tasks_leaving(state, pause)), rule_word(pause.rule),
             pause.beneficiary.is_valid() ? scenario::name_of(state, pause.beneficiary) : "-",
             gpu_time(pause.cost.unsaved_gpu_ms), gpu_time(pause.cost.restart_gpu_ms)});
    }
    return table;
}

Table moves_of(const State& state, const model::Plan& plan) {
    Table table({{.title = "JOB", .worth = 2, .width_min = 10},
                 {.title = "LEAVES", .worth = 2, .width_min = 10},
                 {.title = "GOES TO", .worth = 2, .width_min = 10},
                 {.title = "RULE"},
                 {.title = "FOR", .worth = 2, .width_min = 10},
                 {.title = "UNSAVED", .align = Align::Right},
                 {.title = "RESTART", .align = Align::Right}});
    for (const model::Move& move : plan.moves) {
        table.add_row({scenario::name_of(state, move.job),
                       scenario::places(state.cluster, state.jobs.at(move.job).tasks),
                       scenario::places(state.cluster, move.tasks), rule_word(move.rule),
                       scenario::name_of(state, move.beneficiary),
                       gpu_time(move.cost.unsaved_gpu_ms), gpu_time(move.cost.restart_gpu_ms)});
    }
    return table;
}

Table reservations_of(const State& state, const model::Plan& plan) {
    Table table({{.title = "JOB", .worth = 2, .width_min = 10},
                 {.title = "GPUS"},
                 {.title = "WILL START ON", .worth = 2, .width_min = 13},
                 {.title = "RULE"}});
    for (const model::Reservation& reservation : plan.reservations) {
        table.add_row({scenario::name_of(state, reservation.job),
                       codec::gpu_summary(state.jobs.at(reservation.job).spec),
                       scenario::places(state.cluster, reservation.tasks),
                       rule_word(reservation.rule)});
    }
    return table;
}

Table backfill_of(const State& state, const model::Plan& plan) {
    Table table({{.title = "JOB", .worth = 2, .width_min = 10},
                 {.title = "GPUS"},
                 {.title = "WILL START ON", .worth = 2, .width_min = 13},
                 {.title = "IN", .align = Align::Right},
                 {.title = "KEPT IDLE", .worth = 2, .width_min = 10}});
    for (const model::BackfillReservation& backfill_reservation : plan.backfill) {
        table.add_row({scenario::name_of(state, backfill_reservation.job),
                       codec::gpu_summary(state.jobs.at(backfill_reservation.job).spec),
                       scenario::places(state.cluster, backfill_reservation.tasks),
                       age(std::max(backfill_reservation.start - state.time, model::Duration{0})),
                       scenario::places(state.cluster, backfill_reservation.kept)});
    }
    return table;
}

Table verdicts_of(const State& state, std::span<const model::Verdict> verdicts) {
    Table table({{.title = "JOB", .worth = 2, .width_min = 10},
                 {.title = "GPUS"},
                 {.title = "REASON"},
                 {.title = "WHY", .worth = 5, .width_min = 20},
                 {.title = "IN THE WAY", .worth = 2, .width_min = 10}});
    for (const model::Verdict& verdict : verdicts) {
        table.add_row({scenario::name_of(state, verdict.job),
                       codec::gpu_summary(state.jobs.at(verdict.job).spec),
                       {std::string(name(verdict.reason)), Tone::Warning},
                       scheduling::explain_text(verdict),
                       names_of(state, verdict.blockers)});
    }
    return table;
}

}  // namespace

namespace {

std::string notes_of(const model::Plan& plan) {
    std::string text;
    for (const model::NodeMove& move : plan.node_moves) {
        text += "note: node " + printable(move.node) + " joins pool " + printable(move.pool);
        if (!move.replaces.empty()) text += " in the place of " + printable(move.replaces);
        text += '\n';
    }
    for (const model::Overcommitment& found : plan.overcommitted) {
        text += "note: " + printable(scheduling::overcommitment_text(found)) +
                "; each quota is scaled down\n";
    }
    return text.empty() ? text : text + "\n";
}

}  // namespace

std::string plan_report(const State& state, const model::Plan& plan,
                        std::span<const model::Verdict> verdicts, const Style& style) {
    std::string text =
        section("start now", starts_of(state, plan), style) +
        section("ask to save and pause", pauses_of(state, plan), style) +
        section("ask to save and move", moves_of(state, plan), style) +
        section("start when these GPUs are free", reservations_of(state, plan), style);
    text += section("start at a reserved time", backfill_of(state, plan), style);
    if (!plan.dropped.empty()) {
        text += style.paint(Tone::Faint, "no longer reserved for") + "\n" +
                printable(names_of(state, plan.dropped)) + "\n\n";
    }
    text += section("wait", verdicts_of(state, verdicts), style);
    if (text.empty()) return notes_of(plan) + "nothing to do, and no job waits\n";
    text.pop_back();  // the empty line behind the last section
    return notes_of(plan) + text;
}

std::string plan_document(const State& state, const model::Plan& plan,
                          std::span<const model::Verdict> verdicts) {
    const codec::NameSource names{
        .node = [&](model::NodeId node) { return state.cluster.node_name(node); },
        .job = [&](model::JobId job) { return scenario::name_of(state, job); }};
    return codec::plan_json({plan, {verdicts.begin(), verdicts.end()}}, names);
}

}  // namespace berth::cli
