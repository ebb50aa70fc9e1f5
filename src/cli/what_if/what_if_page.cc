// SPDX-License-Identifier: Apache-2.0
#include "cli/what_if/what_if_page.h"

#include "cli/pages/job_text.h"
#include "cli/terminal/table.h"

namespace berth::cli {
namespace {

using model::Fate;
using model::JobFate;

std::string fate_text(const JobFate& fate, const codec::NameTable& names) {
    const std::string where = where_text(fate.tasks, names);
    const std::string winner =
        fate.beneficiary.is_valid() ? " for " + named(fate.beneficiary, names) : "";
    switch (fate.fate) {
        case Fate::Absent: return "-";
        case Fate::Runs: return "runs";
        case Fate::Starts: return "starts on " + where;
        case Fate::Grows: return "grows by " + where;
        case Fate::Promised: return "starts on " + where + " when these GPUs are free";
        case Fate::Pauses: return "pauses" + winner;
        case Fate::Shrinks: return "gives up " + where + winner;
        case Fate::Moves: return "moves to " + where + winner;
        case Fate::Waits: return "waits: " + fate.reason;
    }
    return {};
}

Tone tone_of(Fate fate) {
    switch (fate) {
        case Fate::Starts:
        case Fate::Grows:
        case Fate::Promised: return Tone::Good;
        case Fate::Pauses:
        case Fate::Shrinks:
        case Fate::Moves: return Tone::Busy;
        case Fate::Waits: return Tone::Warning;
        default: return Tone::Plain;
    }
}

std::string amount_text(model::MilliGpu gpus) {
    return gpus < model::kUnlimited ? base::format(gpus) : "none";
}

// "4", or "4 -> 6" where it changes.
Cell change_cell(const std::string& now, const std::string& then) {
    if (now == then) return {now};
    return {now + " -> " + then, Tone::Strong};
}

std::string shares_table(const std::vector<model::ShareChange>& changes, const Style& style) {
    if (changes.empty()) return "";
    Table table({{.title = "PROJECT", .worth = 2, .width_min = 8},
                 {.title = "POOL", .worth = 1, .width_min = 7},
                 {.title = "QUOTA", .align = Align::Right},
                 {.title = "LIMIT", .align = Align::Right},
                 {.title = "WEIGHT", .align = Align::Right},
                 {.title = "FAIR SHARE", .align = Align::Right},
                 {.title = "USES", .align = Align::Right},
                 {.title = "WAITING", .align = Align::Right}});
    for (const auto& [project, pool, now, then] : changes) {
        const auto gpus = [&now = now, &then = then](model::MilliGpu model::ShareThen::* amount) {
            return change_cell(amount_text(now.*amount), amount_text(then.*amount));
        };
        table.add_row({project, pool, gpus(&model::ShareThen::quota),
                       gpus(&model::ShareThen::limit),
                       change_cell(base::format_thousandths(now.weight_thousandths),
                                   base::format_thousandths(then.weight_thousandths)),
                       gpus(&model::ShareThen::fair_share), gpus(&model::ShareThen::used),
                       gpus(&model::ShareThen::waiting)});
    }
    return table.render(style);
}

}  // namespace

std::string what_if_page(const model::WhatIf& what_if, const codec::NameTable& names,
                         const std::string& title, const Style& style) {
    Table table({{.title = "JOB", .worth = 2, .width_min = 10},
                 {.title = "NOW", .worth = 3, .width_min = 16},
                 {.title = "THEN", .worth = 3, .width_min = 16},
                 {.title = "WHY", .worth = 4, .width_min = 12}});
    for (const model::FateChange& change : what_if.jobs) {
        table.add_row({named(change.job, names),
                       fate_text(change.now, names),
                       {fate_text(change.then, names), tone_of(change.then.fate)},
                       change.then.why});
    }
    std::string text = style.paint(Tone::Strong, printable(title)) + "\n";
    if (!what_if.sentence.empty()) text += printable(what_if.sentence) + "\n";
    if (!what_if.jobs.empty()) text += table.render(style);
    text += shares_table(what_if.projects, style);
    std::string note = "nothing was changed";
    const int others = what_if.waiting_then - what_if.reasons_compared;
    const bool is_cut = what_if.reasons_compared >= 10 && others > 0;
    if (is_cut) {
        note = "of jobs that still wait, the reasons of the first " +
               std::to_string(what_if.reasons_compared) + " were compared; " + note;
    }
    return text + style.paint(Tone::Faint, note) + "\n";
}

}  // namespace berth::cli
