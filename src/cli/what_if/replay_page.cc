// SPDX-License-Identifier: Apache-2.0
#include "cli/what_if/replay_page.h"

#include "cli/terminal/table.h"
#include "ledger/gpu_time_text.h"

namespace berth::cli {
namespace {

using model::ReplayFigures;
using model::ReplaySides;

std::string time_text(model::Duration time) {
    return base::format(std::chrono::round<std::chrono::seconds>(time));
}

std::string gpu_time(std::int64_t gpu_ms) {
    return ledger::GpuTimeUnit(gpu_ms * 1000).said(gpu_ms * 1000);
}

// Of no job there is nothing to say.
std::string shown(const ReplayFigures& side, const auto& text) {
    return side.jobs > 0 ? text(side) : "-";
}

std::string figures_table(const ReplaySides& all, const Style& style) {
    Table table({{.title = "ALL JOBS"},
                 {.title = "REALLY", .align = Align::Right},
                 {.title = "AS SET", .align = Align::Right},
                 {.title = "CHANGED", .align = Align::Right}});
    const auto row = [&](const char* name, auto text) {
        const std::string as_set = shown(all.as_set, text);
        const std::string changed = shown(all.changed, text);
        const Tone tone = as_set == changed ? Tone::Plain : Tone::Strong;
        table.add_row({name, shown(all.really, text), as_set, {changed, tone}});
    };
    row("jobs that ended", [](const ReplayFigures& side) { return std::to_string(side.jobs); });
    row("mean wait", [](const ReplayFigures& side) { return time_text(side.mean_wait); });
    row("p95 wait", [](const ReplayFigures& side) { return time_text(side.p95_wait); });
    row("mean time to the end",
        [](const ReplayFigures& side) { return time_text(side.mean_completion); });
    row("pauses", [](const ReplayFigures& side) { return std::to_string(side.pauses); });
    row("lost", [](const ReplayFigures& side) { return gpu_time(side.lost_gpu_ms); });
    row("use", [](const ReplayFigures& side) {
        return ledger::part_text(side.used_gpu_ms, side.capacity_gpu_ms);
    });
    return table.render(style);
}

Cell change_of(const std::string& as_set, const std::string& changed) {
    if (as_set == changed) return {as_set};
    return {as_set + " -> " + changed, Tone::Strong};
}

std::string projects_table(const std::vector<ReplaySides>& projects, const Style& style) {
    Table table({{.title = "PROJECT", .worth = 2, .width_min = 8},
                 {.title = "JOBS", .align = Align::Right},
                 {.title = "MEAN WAIT", .align = Align::Right},
                 {.title = "P95 WAIT", .align = Align::Right},
                 {.title = "TO THE END", .align = Align::Right},
                 {.title = "PAUSES", .align = Align::Right}});
    for (const ReplaySides& one : projects) {
        const auto both = [&](auto text) {
            return change_of(shown(one.as_set, text), shown(one.changed, text));
        };
        const auto time = [&](model::Duration ReplayFigures::* figure) {
            return both([&](const ReplayFigures& side) { return time_text(side.*figure); });
        };
        table.add_row({one.project,
                       change_of(std::to_string(one.as_set.jobs), std::to_string(one.changed.jobs)),
                       time(&ReplayFigures::mean_wait), time(&ReplayFigures::p95_wait),
                       time(&ReplayFigures::mean_completion), both([](const ReplayFigures& side) {
                           return std::to_string(side.pauses);
                       })});
    }
    return table.render(style);
}

}  // namespace

std::string replay_page(const model::WhatIfReplay& replay, const std::string& title,
                        const Style& style) {
    std::string text = style.paint(Tone::Strong, printable(title)) + "\n";
    text += printable(replay.sentence) + "\n" + printable(replay.trust) + "\n";
    text += figures_table(replay.all, style) + projects_table(replay.projects, style);
    std::string note = "nothing was changed";
    if (replay.never_ran > 0) {
        note = std::to_string(replay.never_ran) +
               (replay.never_ran == 1 ? " job that has" : " jobs that have") +
               " not run are left out; " + note;
    }
    if (replay.changes_passed_over > 0) {
        note = "changes of the cluster that could not be played again: " +
               std::to_string(replay.changes_passed_over) + "; " + note;
    }
    return text + style.paint(Tone::Faint, note) + "\n";
}

}  // namespace berth::cli
