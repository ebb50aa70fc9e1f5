// SPDX-License-Identifier: Apache-2.0
#include "cli/ledger/efficiency_page.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "cli/ledger/ledger_page.h"
#include "cli/pages/job_text.h"
#include "cli/terminal/page_lines.h"

namespace berth::cli {
namespace {

using model::GpuTimes;
using model::GpuUse;

std::int64_t measured(const GpuTimes& times) { return times.busy + times.allocated_idle; }
std::int64_t lost(const GpuTimes& times) { return times.lost_to_pause + times.lost_to_failure; }

// Work was measured, and most of its time. Idle time alone is known of other jobs too: of those
// that were parked, or ended while no server was there.
bool is_measured(const GpuTimes& times) {
    return times.busy > 0 && measured(times) > times.not_measured;
}

std::string answer(const codec::JobView& job, const GpuTimeUnit& unit) {
    const GpuTimes& times = job.milli_gpu_ms;
    const std::int64_t all = times.sum();
    std::string text = job_title(job);
    if (all == 0 && job.attained_gpu_ms > 0) {
        return text + " had GPUs before there was a ledger: what they did is not on record.";
    }
    if (all == 0) return text + " has had no GPU yet.";
    text += " has had " + unit.text(all) + " " + std::string(unit.words());
    if (is_measured(times)) {
        text += "; " + part_text(times.busy, measured(times)) + " of what was measured was work";
    } else {
        text += "; how busy they were is not known";
    }
    if (lost(times) > 0) text += ", " + part_text(lost(times), all) + " was lost";
    return text + ".";
}

// A tenth more than was used, in steps of 0.05.
std::int64_t enough_of(std::int64_t milli, const GpuTimes& times) {
    constexpr std::int64_t kStep = 50;
    constexpr std::int64_t kCoarse = 1000;
    const std::int64_t whole = std::max<std::int64_t>(measured(times) / kCoarse, 1);
    const std::int64_t used = milli * (times.busy / kCoarse) / whole;
    return std::max((used * 11 / 10 + kStep - 1) / kStep * kStep, kStep);
}

std::vector<std::string> advice(const codec::JobView& job, const GpuTimeUnit& unit) {
    const GpuTimes& times = job.milli_gpu_ms;
    const std::int64_t all = times.sum();
    std::vector<std::string> lines;
    const model::TaskRequest& request = job.spec.request;
    const bool is_small =
        request.gpus == 1 && job.spec.tasks_max == 1 && request.gpu_memory == base::Bytes{0};
    const std::int64_t had = request.share.value;
    if (is_measured(times) && is_small && had > 0) {
        if (const std::int64_t enough = enough_of(had, times); enough < had) {
            lines.push_back("-g " + base::format_thousandths(enough) +
                            " is time enough, a tenth more than it used; its memory must fit too");
        }
    }
    if (is_measured(times) && times.allocated_idle > 0 && job.spec.kind == model::JobKind::Build &&
        !job.spec.park_after) {
        lines.push_back("--park-after 30m gives its GPUs back while it does nothing: " +
                        unit.text(times.allocated_idle) + " " + std::string(unit.words()));
    }
    if (times.lost_to_pause > 0) {
        lines.push_back("save more often, or on SIGTERM: pauses lost " +
                        unit.text(times.lost_to_pause) + " " + std::string(unit.words()));
    }
    if (times.lost_to_failure > 0) {
        lines.push_back("save more often: failures lost " + unit.text(times.lost_to_failure) + " " +
                        std::string(unit.words()));
    }
    constexpr std::int64_t kMuch = 10;  // a tenth
    if (times.starting * kMuch > all && model::is_final(job.state)) {
        lines.push_back("start faster: " + part_text(times.starting, all) +
                        " of its time went by before it ran");
    }
    return lines;
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
    const std::vector<std::string> lines = advice(job, unit);
    std::string_view label = "next time";
    for (const std::string& each : lines) text += line(std::exchange(label, ""), each, style);
    if (lines.empty()) {
        text += line(label, "nothing that was measured says to ask for something else", style);
    }
    if (times.not_measured > 0) {
        text += line("not known",
                     "how busy whole GPUs are; it is measured of parts of a GPU that Berth keeps",
                     style);
    }
    return text;
}

}  // namespace berth::cli
