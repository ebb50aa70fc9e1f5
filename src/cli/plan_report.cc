// SPDX-License-Identifier: Apache-2.0
#include "cli/plan_report.h"

#include <algorithm>
#include <vector>

#include "cli/job_text.h"
#include "cli/table.h"
#include "codec/gpu_request.h"
#include "codec/json_writer.h"
#include "codec/timestamp.h"
#include "codec/words.h"
#include "scenario/render.h"
#include "scheduling/explain.h"

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
    Table table({{.title = "JOB", .flex = 2, .width_min = 10},
                 {.title = "GPUS"},
                 {.title = "WHERE", .flex = 1, .width_min = 10},
                 {.title = "RULE"}});
    for (const model::Start& start : plan.starts) {
        table.add_row({scenario::name_of(state, start.job),
                       codec::gpu_summary(state.jobs.at(start.job).spec),
                       scenario::places(state.cluster, start.tasks), rule_word(start.rule)});
    }
    return table;
}

Table pauses_of(const State& state, const model::Plan& plan) {
    Table table({{.title = "JOB", .flex = 2, .width_min = 10},
                 {.title = "LEAVES", .flex = 1, .width_min = 10},
                 {.title = "RULE"},
                 {.title = "FOR", .flex = 2, .width_min = 10},
                 {.title = "UNSAVED", .align = Align::Right},
                 {.title = "RESTART", .align = Align::Right}});
    for (const model::Pause& pause : plan.pauses) {
        const std::string shrinks = pause.whole_job ? "" : " (shrinks)";
        table.add_row({scenario::name_of(state, pause.job) + shrinks,
                       scenario::places(state.cluster, tasks_leaving(state, pause)),
                       rule_word(pause.rule), scenario::name_of(state, pause.beneficiary),
                       gpu_time(pause.cost.unsaved_gpu_ms), gpu_time(pause.cost.restart_gpu_ms)});
    }
    return table;
}

Table reservations_of(const State& state, const model::Plan& plan) {
    Table table({{.title = "JOB", .flex = 2, .width_min = 10},
                 {.title = "GPUS"},
                 {.title = "WILL START ON", .flex = 1, .width_min = 13},
                 {.title = "RULE"}});
    for (const model::Reservation& reservation : plan.reservations) {
        table.add_row({scenario::name_of(state, reservation.job),
                       codec::gpu_summary(state.jobs.at(reservation.job).spec),
                       scenario::places(state.cluster, reservation.tasks),
                       rule_word(reservation.rule)});
    }
    return table;
}

Table verdicts_of(const State& state, std::span<const model::Verdict> verdicts) {
    Table table({{.title = "JOB", .flex = 2, .width_min = 10},
                 {.title = "GPUS"},
                 {.title = "REASON"},
                 {.title = "WHY", .flex = 4, .width_min = 20},
                 {.title = "IN THE WAY", .flex = 3, .width_min = 10}});
    for (const model::Verdict& verdict : verdicts) {
        table.add_row({scenario::name_of(state, verdict.job),
                       codec::gpu_summary(state.jobs.at(verdict.job).spec),
                       {std::string(name(verdict.reason)), Tone::Warning},
                       scheduling::explain_text(verdict), names_of(state, verdict.blockers)});
    }
    return table;
}

// --- JSON

void write_job(codec::JsonWriter& json, const State& state, model::JobId job) {
    const model::JobSpec& spec = state.jobs.at(job).spec;
    json.begin_object();
    json.key("id"), json.number(job.value);
    json.key("project"), json.string(spec.project);
    json.key("name"), json.string(spec.name);
    json.end_object();
}

void write_tasks(codec::JsonWriter& json, const State& state,
                 std::span<const model::TaskPlacement> tasks) {
    json.key("tasks");
    json.begin_array();
    for (const model::TaskPlacement& task : tasks) {
        json.begin_object();
        json.key("task"), json.number(task.task);
        json.key("node"), json.string(state.cluster.description(task.node).name);
        json.key("gpus");
        json.begin_array();
        for (int gpu = 0; gpu < model::kGpusPerNodeMax; ++gpu) {
            if ((task.gpu_mask >> gpu & 1U) != 0) json.number(gpu);
        }
        json.end_array();
        json.key("share"), json.raw(base::format(task.share));
        json.end_object();
    }
    json.end_array();
}

void write_pause(codec::JsonWriter& json, const State& state, const model::Pause& pause) {
    json.begin_object();
    json.key("job"), write_job(json, state, pause.job);
    json.key("rule"), json.string(rule_word(pause.rule));
    json.key("beneficiary"), write_job(json, state, pause.beneficiary);
    json.key("whole_job"), json.boolean(pause.whole_job);
    json.key("cost");
    json.begin_object();
    json.key("unsaved_gpu_seconds"), json.raw(base::format_thousandths(pause.cost.unsaved_gpu_ms));
    json.key("restart_gpu_seconds"), json.raw(base::format_thousandths(pause.cost.restart_gpu_ms));
    json.end_object();
    write_tasks(json, state, tasks_leaving(state, pause));
    json.end_object();
}

// Starts and reservations alike.
template <typename Placed>
void write_placed(codec::JsonWriter& json, const State& state, const Placed& placed) {
    json.begin_object();
    json.key("job"), write_job(json, state, placed.job);
    json.key("rule"), json.string(rule_word(placed.rule));
    write_tasks(json, state, placed.tasks);
    json.end_object();
}

void write_verdict(codec::JsonWriter& json, const State& state, const model::Verdict& verdict) {
    json.begin_object();
    json.key("job"), write_job(json, state, verdict.job);
    json.key("reason"), json.string(name(verdict.reason));
    json.key("text"), json.string(scheduling::explain_text(verdict));
    const auto gpus = [&](std::string_view key, model::MilliGpu amount) {
        json.key(key), json.raw(base::format(amount));
    };
    gpus("asks", verdict.asks), gpus("idle", verdict.idle), gpus("capacity", verdict.capacity);
    gpus("used", verdict.used), gpus("bound", verdict.bound);
    gpus("largest_free", verdict.largest_free);
    json.key("tasks_asked"), json.number(verdict.tasks_asked);
    json.key("tasks_fit"), json.number(verdict.tasks_fit);
    json.key("scope"), json.string(verdict.scope);
    json.key("detail"), json.string(verdict.detail);
    json.key("position"), json.number(verdict.position);
    json.key("blockers");
    json.begin_array();
    for (const model::JobId blocker : verdict.blockers) write_job(json, state, blocker);
    json.end_array();
    json.end_object();
}

}  // namespace

std::string plan_report(const State& state, const model::Plan& plan,
                        std::span<const model::Verdict> verdicts, const Style& style) {
    std::string text = section("start now", starts_of(state, plan), style) +
                       section("ask to save and pause", pauses_of(state, plan), style) +
                       section("start when the pauses are done", reservations_of(state, plan),
                               style);
    if (!plan.dropped.empty()) {
        text += style.paint(Tone::Faint, "no longer held for") + "\n" +
                printable(names_of(state, plan.dropped)) + "\n\n";
    }
    text += section("wait", verdicts_of(state, verdicts), style);
    if (text.empty()) return "nothing to do, and nothing waits\n";
    text.pop_back();  // the empty line behind the last section
    return text;
}

std::string plan_json(const State& state, const model::Plan& plan,
                      std::span<const model::Verdict> verdicts) {
    std::string out;
    codec::JsonWriter json(out);
    json.begin_object();
    json.key("apiVersion"), json.string("berth/v1");
    json.key("kind"), json.string("Plan");
    const auto list = [&](std::string_view key, const auto& items, const auto& write) {
        json.key(key);
        json.begin_array();
        for (const auto& item : items) write(json, state, item);
        json.end_array();
    };
    list("starts", plan.starts, write_placed<model::Start>);
    list("pauses", plan.pauses, write_pause);
    list("reservations", plan.reservations, write_placed<model::Reservation>);
    list("dropped", plan.dropped, write_job);
    list("verdicts", verdicts, write_verdict);
    json.key("next_wakeup");
    if (plan.next_wakeup) {
        json.string(codec::format_time(*plan.next_wakeup));
    } else {
        json.null();
    }
    json.end_object();
    return out;
}

}  // namespace berth::cli
