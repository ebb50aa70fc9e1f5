// SPDX-License-Identifier: Apache-2.0
#include "cli/pages/what_if_page.h"

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
    text += what_if.jobs.empty() ? std::string("no job would be affected\n") : table.render(style);
    std::string waiting = "waiting: " + std::to_string(what_if.waiting_now) + " now, " +
                          std::to_string(what_if.waiting_then) + " then";
    const int others = what_if.waiting_then - what_if.reasons_compared;
    const bool is_cut = what_if.reasons_compared >= 10 && others > 0;
    if (is_cut) {
        waiting += "; of jobs that still wait, the reasons of the first " +
                   std::to_string(what_if.reasons_compared) + " were compared";
    }
    return text + style.paint(Tone::Faint, waiting + "; nothing was changed") + "\n";
}

}  // namespace berth::cli
