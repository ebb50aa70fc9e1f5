// SPDX-License-Identifier: Apache-2.0
#include "cli/pages/timeline_page.h"

#include <algorithm>

#include "cli/pages/job_text.h"
#include "cli/terminal/page_lines.h"
#include "codec/words/words.h"

namespace berth::cli {
namespace {

using model::JobState;

constexpr std::size_t kSpansShown = 20;

std::string state_text(const model::Span& span) {
    if (span.is_parked && span.state == JobState::Paused) return "parked";
    const bool waits = span.state == JobState::Queued || span.state == JobState::Paused;
    if (span.is_on_hold && waits) return "on hold";
    return std::string(codec::word(span.state));
}

std::string place_text(const model::Span& span, const codec::NameTable& names) {
    if (span.nodes.empty()) return "";
    const bool is_all = span.nodes.size() < model::kSpanNodesMax;
    std::string where = node_name(span.nodes.front(), names);
    for (std::size_t i = 1; is_all && i < span.nodes.size(); ++i) {
        where += "," + node_name(span.nodes[i], names);
    }
    if (!is_all) where += " and more";
    return ", attempt " + std::to_string(span.attempt) + " with " + gpu_count(span.gpus) + " on " +
           where;
}

std::string pause_text(const model::Span& span, const codec::NameTable& names) {
    if (!span.rule) return "";
    const std::string rule = " (" + std::string(rule_word(*span.rule)) + ")";
    const std::string cause = span.beneficiary.is_valid()
                                  ? ", for " + named(span.beneficiary, names)
                              : span.is_parked ? ""
                                               : ", by " + span.actor;
    if (span.state == JobState::Pausing) return cause + rule;
    if (span.state != JobState::Paused) return "";
    return cause + rule + (span.is_saved ? ", saved" : ", " + gpu_time(span.lost_gpu_ms) + " lost");
}

std::string time_text(base::TimePoint time, base::TimePoint now, TimeForm form) {
    return form == TimeForm::Iso ? moment(time, now, form) : clock_time(time);
}

std::string band_text(const model::Band& band, base::TimePoint now, TimeForm form) {
    if (!band.optimistic) return "not known";
    const std::string first = time_text(*band.optimistic, now, form);
    if (!band.expected) return first + " at the earliest";
    const std::string last =
        band.pessimistic ? " to " + time_text(*band.pessimistic, now, form) : " or later";
    return "about " + time_text(*band.expected, now, form) + " (" + first + last + ")";
}

}  // namespace

std::string timeline_page(const model::JobTimeline& timeline, const codec::NameTable& names,
                          TimeForm form, const Style& style) {
    if (timeline.spans.empty()) return {};
    std::string text = style.paint(Tone::Strong, "timeline") + "\n";
    const std::size_t shown = std::min(timeline.spans.size(), kSpansShown);
    const std::size_t first = timeline.spans.size() - shown;
    const std::int64_t left_out = timeline.left_out + static_cast<std::int64_t>(first);
    if (left_out > 0) text += line("", std::to_string(left_out) + " earlier", style);
    for (std::size_t i = first; i < timeline.spans.size(); ++i) {
        const model::Span& span = timeline.spans[i];
        std::string what = state_text(span);
        if (!model::is_final(span.state))
            what += " " + age(span.to.value_or(timeline.now) - span.from);
        what += place_text(span, names) + pause_text(span, names);
        const bool says_why = !span.reason.empty() && span.state != JobState::Pausing;
        if (says_why) what += ": " + span.reason;
        text += line(time_text(span.from, timeline.now, form), what, style);
    }
    for (const model::ExpectedSpan& span : timeline.expected) {
        text += line("expected",
                     std::string(codec::word(span.state)) + " until " +
                         band_text(span.to, timeline.now, form),
                     style);
    }
    return text;
}

}  // namespace berth::cli
