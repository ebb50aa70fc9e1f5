// SPDX-License-Identifier: Apache-2.0
#include "ledger/sentences.h"

#include <algorithm>
#include <initializer_list>

#include "ledger/gpu_time_text.h"

namespace berth::ledger {
namespace {

using model::GpuTimes;
using model::GpuUse;

struct Said {
    std::string_view said;
    std::int64_t time = 0;
};

Said largest(std::initializer_list<Said> parts) {
    return *std::ranges::max_element(parts, {}, &Said::time);
}

std::string when(const Days& days, std::int64_t today) {
    const std::int64_t many = days.last - days.first + 1;
    if (days.last == today && many > 1) return "in the last " + std::to_string(many) + " days";
    if (days.last == today) return "today (UTC)";
    if (many == 1) return "on " + date_of(days.first);
    return "from " + date_of(days.first) + " to " + date_of(days.last);
}

std::string use(const GpuTimes& times, const std::string& days) {
    const std::int64_t all = times.sum();
    if (all == 0) return "No GPU time is on record " + days + ".";
    const std::string said = GpuTimeUnit(all).said(all);
    if (times.free == all) return "No job asked for a GPU: " + said + " " + days + " were free.";
    // Where little is not known, it is not worth a word.
    constexpr std::int64_t kLittle = 10;  // a tenth
    const bool is_known = times.not_measured * kLittle <= times.busy;
    const std::int64_t worked = times.busy + (is_known ? 0 : times.not_measured);
    std::string text = "Of " + said + " " + days + " " + part_text(worked, all) +
                       (is_known ? " were busy" : " were busy or not measured");
    const Said other = largest({{"were free", times.free},
                                {"started or left jobs", times.starting + times.leaving},
                                {"were reserved", times.reserved},
                                {"went to programs outside Berth", times.others},
                                {"were on nodes not ready", times.unhealthy}});
    constexpr std::int64_t kLeast = 100;  // a percent
    if (other.time * kLeast >= all && other.time > 0)
        text += " and " + part_text(other.time, all) + " " + std::string(other.said);
    return text + ".";
}

std::string_view waste_words(GpuUse use) {
    switch (use) {
        case GpuUse::AllocatedIdle: return "were allocated but idle";
        case GpuUse::LostToPause: return "were lost to pauses";
        case GpuUse::LostToFailure: return "were lost to failures";
        case GpuUse::BlockedByRoom: return "were free, too few at once for jobs that waited";
        default: return "were free and kept from jobs that waited";
    }
}

std::string waste(const GpuTimes& total, const Savings& savings) {
    const GpuUse most =
        *std::ranges::max_element(kWastes, {}, [&](GpuUse each) { return total[each]; });
    if (total[most] == 0) {
        return total.not_measured > 0 ? "No waste was measured." : "Nothing was wasted.";
    }
    std::string text = part_text(total[most], total.sum()) + " " + std::string(waste_words(most));
    const auto saving = std::ranges::find(savings.most, most, &Saving::use);
    if (saving == savings.most.end() || !saving->job.is_valid()) return text + ".";
    text += saving->gpu_time > total[most] / 2 ? ", most of it " : ", the largest part ";
    text += saving->name.empty() ? "job " + std::to_string(saving->job.value) : saving->name;
    if (saving->others > 0) {
        text += " and " + std::to_string(saving->others) +
                (saving->others == 1 ? " other job" : " other jobs");
    }
    return text + " of " + saving->user + ".";
}

}  // namespace

std::vector<Sentence> sentences(const GpuTimes& total, const Savings& savings, const Days& days,
                                std::int64_t today) {
    std::vector<Sentence> said{{About::Use, use(total, when(days, today))}};
    const bool has_jobs = total.sum() > 0 && total.free < total.sum();
    if (has_jobs) said.push_back({About::Waste, waste(total, savings)});
    return said;
}

}  // namespace berth::ledger
