// SPDX-License-Identifier: Apache-2.0
#include "cli/ledger/efficiency_page.h"

#include <utility>
#include <vector>

#include "cli/ledger/ledger_page.h"
#include "cli/pages/job_text.h"
#include "cli/terminal/page_lines.h"
#include "ledger/advice.h"
#include "ledger/gpu_time_text.h"

namespace berth::cli {
namespace {

using ledger::GpuTimeUnit;
using ledger::part_text;
using model::GpuTimes;

std::int64_t measured(const GpuTimes& times) { return times.busy + times.allocated_idle; }
std::int64_t lost(const GpuTimes& times) { return times.lost_to_pause + times.lost_to_failure; }

std::string answer(const codec::JobView& job, const GpuTimeUnit& unit) {
    const GpuTimes& times = job.milli_gpu_ms;
    const std::int64_t all = times.sum();
    std::string text = job_title(job);
    if (all == 0 && job.attained_gpu_ms > 0) {
        return text + " had GPUs before there was a ledger: what they did is not on record.";
    }
    if (all == 0) return text + " has had no GPU yet.";
    text += " has had " + unit.text(all) + " " + std::string(unit.words());
    if (ledger::is_measured(times)) {
        text += "; " + part_text(times.busy, measured(times)) + " of what was measured was work";
    } else {
        text += "; how busy they were is not known";
    }
    if (lost(times) > 0) text += ", " + part_text(lost(times), all) + " was lost";
    return text + ".";
}

std::string advice_text(const ledger::Advice& advice, const GpuTimeUnit& unit) {
    if (advice.gets == 0) return advice.act;
    return advice.act + " (at most " + unit.text(advice.gets) + " " + std::string(unit.words()) +
           " " + use_words(advice.use) + ")";
}

}  // namespace

std::string efficiency_page(const codec::JobView& job, base::TimePoint now, const Style& style) {
    const GpuTimes& times = job.milli_gpu_ms;
    const GpuTimeUnit unit(times.sum());
    std::string text = headline(answer(job, unit), "", style);
    if (times.sum() == 0) return text;
    text += line("asks", gpus_text(job), style);
    text += line("state",
                 std::string(state_word(job)) + " " + run_or_wait(job, now) + ", attempts " +
                     std::to_string(job.attempts) + ", pauses " + std::to_string(job.pauses),
                 style);
    text += "\n" + use_table(times, unit, style) + "\n";
    const std::vector<ledger::Advice> advice = ledger::advice(job, times);
    std::string_view label = "next time";
    for (const ledger::Advice& each : advice) {
        text += line(std::exchange(label, ""), advice_text(each, unit), style);
    }
    if (advice.empty()) {
        text += line(label, "nothing that was measured says to ask for something else", style);
    }
    if (times.not_measured > 0) {
        text +=
            line("not known",
                 "how busy they were for " + unit.text(times.not_measured) + " " +
                     std::string(unit.words()) + ": not looked at yet, or the GPU does not say it",
                 style);
    }
    return text;
}

}  // namespace berth::cli
