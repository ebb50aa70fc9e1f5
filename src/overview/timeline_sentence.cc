// SPDX-License-Identifier: Apache-2.0
#include "overview/timeline_sentence.h"

#include <algorithm>
#include <vector>

#include "overview/sentences.h"
#include "overview/spoken_time.h"

namespace berth::overview {
namespace {

std::string number_of(std::int64_t count, const char* one, const char* many) {
    return std::to_string(count) + " " + (count == 1 ? one : many);
}

// "In the last 6 h"; of a time that is over, how long it lasted; of one to come, that it is.
std::string when(const model::ClusterTimeline& timeline) {
    if (timeline.from >= timeline.now) return "In the time to come";
    if (timeline.to <= timeline.now) return "In these " + spoken(timeline.to - timeline.from);
    return "In the last " + spoken(timeline.now - timeline.from);
}

// "9 GPU-s", "12 GPU-min", "3.4 GPU-h".
std::string gpu_time(std::int64_t gpu_ms) {
    constexpr std::int64_t kGpuMinute = 60'000;
    constexpr std::int64_t kGpuHour = 60 * kGpuMinute;
    if (gpu_ms < kGpuMinute) return std::to_string((gpu_ms + 999) / 1'000) + " GPU-s";
    if (gpu_ms < kGpuHour)
        return std::to_string((gpu_ms + kGpuMinute / 2) / kGpuMinute) + " GPU-min";
    const std::int64_t tenths = (gpu_ms + kGpuHour / 20) / (kGpuHour / 10);
    return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " GPU-h";
}

}  // namespace

std::string timeline_sentence(const model::ClusterTimeline& timeline,
                              const std::optional<NextEnd>& next) {
    const model::SpanCounts& counts = timeline.counts;
    std::string text = when(timeline) + ": ";
    if (counts.jobs == 0) return text + "no job.";
    std::vector<std::string> parts{number_of(counts.starts, "start", "starts"),
                                   number_of(counts.pauses, "pause", "pauses")};
    if (counts.parkings > 0) parts.push_back(std::to_string(counts.parkings) + " parked");
    if (counts.failures > 0) parts.push_back(std::to_string(counts.failures) + " failed");
    const bool is_any_lost = counts.lost_gpu_ms > 0;
    if (counts.pauses > 0)
        parts.push_back((is_any_lost ? gpu_time(counts.lost_gpu_ms) : std::string("no work")) +
                        " lost to pauses");
    for (std::size_t i = 0; i < parts.size(); ++i) text += (i == 0 ? "" : ", ") + parts[i];
    text += ".";
    const bool goes_on = timeline.to > timeline.now && next && next->when.expected;
    if (!goes_on) return text;
    return text + " Next to end: " + name_shown(next->job) + in_about(next->when, timeline.now) +
           ".";
}

}  // namespace berth::overview
