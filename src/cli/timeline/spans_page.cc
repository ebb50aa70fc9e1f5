// SPDX-License-Identifier: Apache-2.0
#include "cli/timeline/spans_page.h"

#include <algorithm>
#include <array>

#include "cli/terminal/page_lines.h"
#include "cli/terminal/table.h"
#include "cli/terminal/time_text.h"
#include "codec/words/words.h"

namespace berth::cli {
namespace {

using model::JobState;

constexpr int kParts = 48;
constexpr model::Duration kShort{48 * 60'000};  // with seconds on its axis

// What a job can be for most of a part; in front what is shown where two are as long.
enum class Was : std::uint8_t { Nothing, Queued, Changing, Runs, Paused, Expected };
constexpr std::size_t kWasCount = 6;
constexpr std::array<std::string_view, kWasCount> kMarks{" ", "·", "▒", "█", "╱", "░"};
constexpr std::array<std::string_view, kWasCount> kAsciiMarks{" ", ".", "+", "#", "/", "="};

Was was(JobState state) {
    switch (state) {
        case JobState::Queued: return Was::Queued;
        case JobState::Running: return Was::Runs;
        case JobState::Paused: return Was::Paused;
        case JobState::Starting:
        case JobState::Pausing:
        case JobState::Cancelling: return Was::Changing;
        case JobState::Succeeded:
        case JobState::Failed:
        case JobState::Cancelled: return Was::Nothing;
    }
    return Was::Nothing;
}

struct Part {
    model::TimePoint from;
    model::TimePoint to;

    model::Duration shared(model::TimePoint begin, model::TimePoint end) const {
        return std::max(std::min(to, end) - std::max(from, begin), model::Duration{0});
    }
};

Part part_of(const model::ClusterTimeline& timeline, int index) {
    const model::Duration whole = timeline.to - timeline.from;
    return {timeline.from + whole * index / kParts, timeline.from + whole * (index + 1) / kParts};
}

Was most_of(const model::JobSpans& job, const Part& part, const model::ClusterTimeline& timeline) {
    std::array<model::Duration, kWasCount> times{};
    const auto add = [&](Was what, model::TimePoint from, model::TimePoint to) {
        times[static_cast<std::size_t>(what)] += part.shared(from, to);
    };
    for (const model::PastSpan& span : job.spans) {
        add(was(span.state), span.from, span.to.value_or(std::max(timeline.now, span.from)));
    }
    for (const model::ExpectedSpan& span : job.expected) {
        if (span.state != JobState::Running || !span.from.expected) continue;
        add(Was::Expected, *span.from.expected, span.to.expected.value_or(*span.from.expected));
    }
    times[static_cast<std::size_t>(Was::Nothing)] = model::Duration{0};
    const auto longest = std::ranges::max_element(times);
    return static_cast<Was>(longest - times.begin());
}

std::string bar(const model::JobSpans& job, const model::ClusterTimeline& timeline,
                const Style& style) {
    std::string text;
    for (int index = 0; index < kParts; ++index) {
        const Was what = most_of(job, part_of(timeline, index), timeline);
        text += (style.unicode ? kMarks : kAsciiMarks)[static_cast<std::size_t>(what)];
    }
    text.erase(text.find_last_not_of(' ') + 1);
    return text;
}

// "08:38" where each of four parts of the time begins.
std::string axis(const model::ClusterTimeline& timeline) {
    const bool is_short = timeline.to - timeline.from < kShort;
    std::string text;
    for (int index = 0; index < kParts; index += kParts / 4) {
        text.resize(static_cast<std::size_t>(index), ' ');
        const std::string time = clock_time(part_of(timeline, index).from);
        text += is_short ? time : time.substr(0, time.rfind(':'));
    }
    return text;
}

std::string legend(const Style& style) {
    const auto& marks = style.unicode ? kMarks : kAsciiMarks;
    constexpr std::array<std::string_view, kWasCount> kMeanings{
        "", "queued", "starting or stopping", "running", "paused", "expected"};
    std::string text;
    for (std::size_t i = 1; i < kWasCount; ++i) {
        text += (i == 1 ? "" : "   ") + std::string(marks[i]) + " " + std::string(kMeanings[i]);
    }
    return style.paint(Tone::Faint, text) + "\n";
}

}  // namespace

std::string spans_page(const model::ClusterTimeline& timeline, const Style& style) {
    std::string text = timeline.sentence + "\n";
    if (timeline.known_from) {
        text +=
            style.paint(Tone::Faint, "Earlier than " +
                                         moment(*timeline.known_from, timeline.now, TimeForm::Iso) +
                                         " some jobs are no longer known.") +
            "\n";
    }
    if (timeline.items.empty()) return text;
    const std::string times = axis(timeline);
    Table table({{"job", Align::Right},
                 {"name", Align::Left, 2},
                 {"project", Align::Left, 1},
                 {"gpus", Align::Right},
                 {"state"},
                 {times}});
    for (const model::JobSpans& job : timeline.items) {
        table.add_row({std::to_string(job.id), job.name, job.project, base::format(job.gpus),
                       std::string(codec::word(job.state)), bar(job, timeline, style)});
    }
    return text + "\n" + table.render(style) + "\n" + legend(style);
}

}  // namespace berth::cli
