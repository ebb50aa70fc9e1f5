// SPDX-License-Identifier: Apache-2.0
#include "cli/demo/demo_bar.h"

#include <map>
#include <vector>

#include "cli/pages/job_text.h"
#include "codec/words/words.h"

namespace berth::cli {
namespace {

constexpr std::size_t kCellWidth = 7;
constexpr Tone kTones[] = {Tone::Busy, Tone::Good, Tone::Warning};

Tone tone_of(std::string_view project) {
    return project == "susan" ? kTones[0] : project == "joe" ? kTones[1] : kTones[2];
}

// "[susan] [susan] [joe  ] [.    ]"
std::string cells(const NodeList& nodes, const Style& style) {
    std::string text = "  ";
    for (const codec::NodeView& node : nodes.nodes) {
        for (const codec::GpuView& gpu : node.devices) {
            std::string who(style.glyphs().gpu_free);
            Tone tone = Tone::Faint;
            if (!gpu.jobs.empty()) {
                const auto known = nodes.names.jobs.find(gpu.jobs.front());
                who = known == nodes.names.jobs.end() ? "?" : known->second;
                who.resize(std::min(who.find('/'), who.size()));
                tone = tone_of(who);
            }
            const auto spare = static_cast<int>(kCellWidth) - 2 - display_width(who);
            who.append(static_cast<std::size_t>(std::max(0, spare)), ' ');
            text += style.paint(Tone::Faint, "[") + style.paint(tone, who) +
                    style.paint(Tone::Faint, "]") + " ";
        }
    }
    text.pop_back();
    return text;
}

// "susan 4 running, 4 paused   joe 2 running"
std::string sums(std::span<const codec::JobView> jobs) {
    std::vector<std::string> projects;
    std::map<std::string, std::map<std::string_view, int>> counts;
    for (const codec::JobView& job : jobs) ++counts[job.spec.project][codec::word(job.state)];
    std::string text = "  ";
    for (const char* project : {"susan", "joe", "jemma"}) {
        if (!counts.contains(project)) continue;
        if (text.size() > 2) text += "    ";
        text += project;
        std::string_view separator = " ";
        for (const auto state : codec::kWords<model::JobState>) {
            const auto count = counts[project].find(state);
            if (count == counts[project].end()) continue;
            text +=
                std::string(separator) + std::to_string(count->second) + " " + std::string(state);
            separator = ", ";
        }
    }
    return text;
}

}  // namespace

void DemoBar::show(const NodeList& nodes, std::span<const codec::JobView> jobs) {
    const base::TimePoint now = clock_now();
    if (begun_ == base::TimePoint{}) begun_ = now;
    const std::string bar = cells(nodes, style_);
    const std::string line = truncated(sums(jobs), style_.width - 1, style_.glyphs().ellipsis);
    if (style_.is_terminal) {
        const std::string_view up = is_live_ ? "\x1b[2A" : "";
        print(std::string(up) + "\x1b[K" + bar + "\n\x1b[K" + line + "\n");
    } else if (bar + line != last_) {
        const std::int64_t tenths = (now - begun_).count() / 100;
        std::string time = std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + "s";
        time.insert(0, time.size() < 6 ? 6 - time.size() : 0, ' ');
        print(time + bar + "  " + line + "\n");
    }
    last_ = bar + line;
    is_live_ = true;
}

}  // namespace berth::cli
