// SPDX-License-Identifier: Apache-2.0
#include "cli/cluster_pages.h"

#include <algorithm>
#include <vector>

#include "cli/gpu_bar.h"
#include "cli/job_table.h"
#include "codec/words.h"

namespace berth::cli {
namespace {

model::MilliGpu held_of(const GpuView& gpu) {
    model::MilliGpu held{0};
    for (const GpuUseView& use : gpu.jobs) held += use.share;
    return held;
}

GpuLook look_of(const GpuView& gpu) {
    if (gpu.health != "ready") return GpuLook::Unhealthy;
    if (gpu.jobs.empty()) return GpuLook::Free;
    if (gpu.jobs.size() > 1 || held_of(gpu) < base::kWholeGpu) return GpuLook::Shared;
    return gpu.utilization_percent == 0 ? GpuLook::HeldIdle : GpuLook::Busy;
}

std::string percent(int value) { return value < 0 ? "-" : std::to_string(value) + "%"; }

std::string used_memory(const GpuView& gpu) {
    if (gpu.memory.value <= 0) return "-";
    if (gpu.memory_used.value < 0) return base::format(gpu.memory);
    return base::format(gpu.memory_used) + "/" + base::format(gpu.memory);
}

std::string holders_of(const GpuView& gpu) {
    std::string text;
    for (const GpuUseView& use : gpu.jobs) {
        if (!text.empty()) text += ", ";
        text += std::to_string(use.job.value);
        if (!use.name.empty()) text += " " + use.name;
        if (use.share != base::kWholeGpu) text += " " + base::format(use.share);
    }
    return text;
}

std::string bound_cell(model::MilliGpu amount) {
    return amount >= model::kUnlimited ? "-" : base::format(amount);
}

std::string trade_cell(const ProjectView& project) {
    if (project.borrowed.value > 0) return "borrows " + base::format(project.borrowed);
    if (project.lent.value > 0) return "lends " + base::format(project.lent);
    return "";
}

struct NodeBar {
    std::string name, model;
    std::vector<GpuLook> looks;
    model::MilliGpu held{0};
    std::vector<std::string> holders;  // each job once
    int utilization_sum = 0;
    int measured = 0;
};

std::vector<NodeBar> bars_of(std::span<const GpuView> gpus) {
    std::vector<NodeBar> bars;
    for (const GpuView& gpu : gpus) {
        if (bars.empty() || bars.back().name != gpu.node) {
            bars.emplace_back();
            bars.back().name = gpu.node;
            bars.back().model = gpu.model;
        }
        NodeBar& bar = bars.back();
        bar.looks.push_back(look_of(gpu));
        bar.held += held_of(gpu);
        if (gpu.utilization_percent >= 0) {
            bar.utilization_sum += gpu.utilization_percent;
            ++bar.measured;
        }
        for (const GpuUseView& use : gpu.jobs) {
            const std::string holder = (use.name.empty() ? std::to_string(use.job.value) : use.name) +
                                       " " + use.project;
            if (std::find(bar.holders.begin(), bar.holders.end(), holder) == bar.holders.end()) {
                bar.holders.push_back(holder);
            }
        }
    }
    return bars;
}

// Keeps the first lines of a table and counts the rest.
std::string first_lines(const std::string& text, int lines_max) {
    std::size_t end = 0;
    for (int kept = 0; end < text.size(); ++kept) {
        if (kept == lines_max) {
            const auto rest = std::count(text.begin() + static_cast<std::ptrdiff_t>(end),
                                         text.end(), '\n');
            return text.substr(0, end) + "and " + std::to_string(rest) + " more\n";
        }
        end = text.find('\n', end) + 1;
    }
    return text;
}

int count_lines(std::string_view text) {
    return static_cast<int>(std::count(text.begin(), text.end(), '\n'));
}

}  // namespace

Table gpu_table(std::span<const GpuView> gpus) {
    Table table({{.title = "NODE", .flex = 1, .width_min = 6},
                 {.title = "GPU", .align = Align::Right},
                 {.title = "MODEL", .flex = 2, .width_min = 5},
                 {.title = "STATE"},
                 {.title = "HELD", .align = Align::Right},
                 {.title = "BUSY", .align = Align::Right},
                 {.title = "MEMORY", .align = Align::Right},
                 {.title = "POWER", .align = Align::Right},
                 {.title = "JOBS", .flex = 3, .width_min = 10}});
    for (const GpuView& gpu : gpus) {
        const bool is_ready = gpu.health == "ready";
        const std::string state = !is_ready ? gpu.health : gpu.jobs.empty() ? "free" : "held";
        table.add_row({gpu.node, std::to_string(gpu.index), gpu.model.empty() ? "-" : gpu.model,
                       {state, !is_ready          ? Tone::Bad
                               : gpu.jobs.empty() ? Tone::Faint
                                                  : Tone::Good},
                       base::format(held_of(gpu)), percent(gpu.utilization_percent),
                       used_memory(gpu),
                       gpu.power_watts < 0 ? "-" : std::to_string(gpu.power_watts) + "W",
                       holders_of(gpu)});
    }
    return table;
}

Table project_table(std::span<const ProjectView> projects) {
    Table table({{.title = "PROJECT", .flex = 1, .width_min = 10},
                 {.title = "QUOTA", .align = Align::Right},
                 {.title = "KIND"},
                 {.title = "LIMIT", .align = Align::Right},
                 {.title = "WEIGHT", .align = Align::Right},
                 {.title = "FAIR SHARE", .align = Align::Right},
                 {.title = "USED", .align = Align::Right},
                 {.title = "LENDING"},
                 {.title = "RUNNING", .align = Align::Right},
                 {.title = "WAITING", .align = Align::Right}});
    for (const ProjectView& view : projects) {
        const model::Entitlement& rights = view.project.rights;
        table.add_row({std::string(static_cast<std::size_t>(view.depth) * 2, ' ') +
                           view.project.name,
                       base::format(view.quota), std::string(codec::word(rights.kind)),
                       bound_cell(rights.limit), base::format_thousandths(rights.weight),
                       base::format(view.fair_share), base::format(view.used),
                       {trade_cell(view), view.borrowed.value > 0 ? Tone::Warning : Tone::Plain},
                       std::to_string(view.running), std::to_string(view.waiting)});
    }
    return table;
}

std::string event_line(const EventView& event, base::TimePoint now, TimeForm form,
                       const Style& style) {
    const std::string when =
        form == TimeForm::Iso ? moment(event.time, now, form) : clock_time(event.time);
    std::string text = event.text;
    if (event.job.is_valid()) {
        text = std::to_string(event.job.value) +
               (event.name.empty() ? " " : " " + event.name + " ") + text;
    } else if (!event.name.empty()) {
        text = event.name + " " + text;
    }
    const int room = style.is_terminal
                         ? std::max(20, style.width - display_width(when) - 4 -
                                            display_width(event.actor))
                         : 1 << 20;
    return style.paint(Tone::Faint, when) + "  " +
           truncated(printable(text), room, style.glyphs().ellipsis) + "  " +
           style.paint(Tone::Faint, printable(event.actor)) + "\n";
}

std::string status_page(const StatusView& status, base::TimePoint now, const Style& style) {
    const auto row = [&](std::string_view label, const std::string& text) {
        std::string padded(label);
        padded.resize(10, ' ');
        return "  " + style.paint(Tone::Faint, padded) + printable(text) + "\n";
    };
    const std::string separator = " " + std::string(style.glyphs().dot) + " ";
    std::string text = style.paint(Tone::Strong, "Berth " + status.version) +
                       "  up " + age(now - status.started) + ", process " +
                       std::to_string(status.pid) + "\n";
    text += row("gpus", base::format(status.total) + separator + base::format(status.used) +
                            " used" + separator + base::format(status.idle) + " idle" +
                            (status.ready < status.total
                                 ? separator + base::format(status.total - status.ready) +
                                       " not ready"
                                 : std::string()));
    std::string jobs;
    for (const auto& [state, count] : status.jobs) {
        if (count == 0) continue;
        jobs += (jobs.empty() ? "" : separator) + std::to_string(count) + " " + state;
    }
    text += row("jobs", jobs.empty() ? "none" : jobs);
    text += row("profile", status.profile);
    text += row("store", status.data_dir + ", " + std::to_string(status.sequence) + " events");
    if (status.port > 0) text += row("address", "http://127.0.0.1:" + std::to_string(status.port));
    return text;
}

std::string node_bars(std::span<const GpuView> gpus, const Style& style) {
    const std::vector<NodeBar> bars = bars_of(gpus);
    int name_width = 0;
    int bar_width = 0;
    for (const NodeBar& bar : bars) {
        name_width = std::max(name_width, display_width(bar.name));
        bar_width = std::max(bar_width, static_cast<int>(bar.looks.size()));
    }
    std::string text;
    for (const NodeBar& bar : bars) {
        std::string name = printable(bar.name);
        name.append(static_cast<std::size_t>(name_width - display_width(name) + 2), ' ');
        const std::string space(static_cast<std::size_t>(bar_width) - bar.looks.size() + 2, ' ');
        std::string sums =
            base::format(bar.held) + "/" + std::to_string(bar.looks.size());
        if (bar.measured > 0) sums += "  " + percent(bar.utilization_sum / bar.measured) + " busy";
        std::string who;
        for (const std::string& holder : bar.holders) who += (who.empty() ? "" : ", ") + holder;
        const int room = style.width - name_width - 2 - bar_width - 2 - display_width(sums) - 2;
        text += name + gpu_bar(bar.looks, style) + space + sums + "  " +
                truncated(printable(who), std::max(room, 8), style.glyphs().ellipsis);
        while (text.ends_with(' ')) text.pop_back();
        text += "\n";
    }
    return text;
}

std::string top_page(const TopInput& input, base::TimePoint now, int rows_max,
                     const Style& style) {
    model::MilliGpu held{0};
    for (const GpuView& gpu : input.gpus) held += held_of(gpu);
    std::string text = first_lines(node_bars(input.gpus, style), std::max(4, rows_max / 2));
    text += gpu_bar_legend(style) + "    " + base::format(held) + " of " +
            std::to_string(input.gpus.size()) + " GPUs held\n";
    if (!input.projects.empty()) {
        const std::string projects = project_table(input.projects).render(style);
        text += "\n" + first_lines(projects, std::max(4, rows_max / 3));
    }
    if (!input.jobs.empty()) {
        const Table jobs = job_table(input.jobs, now, style.glyphs(), Detail::Usual);
        const int left = rows_max - count_lines(text) - 2;
        text += "\n" + first_lines(jobs.render(style), std::max(4, left));
    }
    return text;
}

}  // namespace berth::cli
