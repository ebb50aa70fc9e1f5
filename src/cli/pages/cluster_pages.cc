// SPDX-License-Identifier: Apache-2.0
#include "cli/pages/cluster_pages.h"

#include <algorithm>
#include <vector>

#include "cli/pages/gpu_bar.h"
#include "cli/pages/job_table.h"
#include "cli/pages/order_text.h"
#include "codec/words/words.h"

namespace berth::cli {
namespace {

bool is_of_others(const codec::NodeView& node, const codec::GpuView& gpu) {
    return std::ranges::find(node.others.gpu_indices, gpu.index) != node.others.gpu_indices.end();
}

GpuLook look_of(const codec::NodeView& node, const codec::GpuView& gpu) {
    if (!gpu.healthy || node.health == model::NodeHealth::Down) return GpuLook::Unhealthy;
    if (gpu.jobs.empty() && is_of_others(node, gpu)) return GpuLook::Busy;
    if (gpu.jobs.empty()) return GpuLook::Free;
    if (gpu.jobs.size() > 1 || gpu.used < base::kWholeGpu) return GpuLook::Shared;
    return gpu.utilization_percent == 0 ? GpuLook::HeldIdle : GpuLook::Busy;
}

std::string percent(std::optional<int> value) { return value ? std::to_string(*value) + "%" : "-"; }

// "0.5"; "0.9+70G" where tasks hold different parts of its compute and memory.
std::string held_of(const codec::NodeView& node, const codec::GpuView& gpu) {
    const model::Bytes all = model::memory_left_by_driver(node);
    const model::GpuPart held{gpu.compute_held, gpu.memory_held};
    if (held == model::GpuPart{}) return base::format(gpu.used);
    return model::format_part(held, model::part_rounded_up(gpu.memory_held, all));
}

std::string used_memory(const codec::NodeView& node, const codec::GpuView& gpu) {
    const std::string all = node.gpu_memory.value > 0 ? base::format(node.gpu_memory) : "-";
    return gpu.memory_used ? base::format(*gpu.memory_used) + "/" + all : all;
}

// " (3.1G of 8G, 45%)": memory, and of the time. Empty where that is not known.
std::string use_of(const codec::GpuView& gpu, model::JobId job) {
    const auto use = std::ranges::find(gpu.shares, job, &codec::ShareView::job);
    if (use == gpu.shares.end()) return {};
    std::string text = " (" + base::format(use->memory_used);
    if (use->memory_limit) text += " of " + base::format(*use->memory_limit);
    if (use->compute_used) text += ", " + std::to_string(use->compute_used->value / 10) + "%";
    if (use->cap) text += ", cap " + std::to_string(use->cap->value / 10) + "%";
    return text + ")";
}

// "7 vision/train (3.1G of 8G, 45%)", of each of its jobs.
std::vector<std::string> holders_of(const codec::GpuView& gpu, const codec::NameTable& names) {
    std::vector<std::string> holders;
    for (const model::JobId job : gpu.jobs) holders.push_back(named(job, names) + use_of(gpu, job));
    return holders;
}

Cell gpu_state(const codec::NodeView& node, const codec::GpuView& gpu) {
    if (!gpu.healthy) return {"unhealthy", Tone::Bad};
    if (node.health != model::NodeHealth::Ready) {
        return {std::string(codec::word(node.health)), Tone::Warning};
    }
    if (!node.joins.empty()) return {"to pool " + printable(node.joins), Tone::Warning};
    if (gpu.jobs.empty() && is_of_others(node, gpu)) return {"others", Tone::Busy};
    return gpu.jobs.empty() ? Cell{std::string("free"), Tone::Faint}
                            : Cell{std::string("held"), Tone::Good};
}

std::string bound_cell(model::MilliGpu amount) {
    return amount >= model::kUnlimited || amount.value < 0 ? "-" : base::format(amount);
}

// The sums of a project over all pools.
struct Sums {
    model::MilliGpu quota{0};
    model::MilliGpu fair_share{0};
    model::MilliGpu used{0};
    model::MilliGpu waiting{0};
    model::MilliCpu cpu_used{0};
    model::Bytes memory_used{0};
};

Sums sums_of(const codec::ProjectView& project) {
    Sums sums;
    for (const codec::UseInPool& use : project.use) {
        sums.quota += use.quota;
        sums.fair_share += use.fair_share;
        sums.used += use.used;
        sums.waiting += use.waiting;
        sums.cpu_used += use.cpu_used;
        sums.memory_used += use.memory_used;
    }
    return sums;
}

struct TreeRow {
    const codec::ProjectView* project;
    int depth;
};

// Children behind their parents, in the order of the list.
void add_children(std::span<const codec::ProjectView> projects, std::string_view parent, int depth,
                  std::vector<TreeRow>& rows) {
    constexpr int kDepthMax = 32;
    for (const codec::ProjectView& project : projects) {
        if (project.parent != parent || depth > kDepthMax) continue;
        rows.push_back({&project, depth});
        if (!project.name.empty()) add_children(projects, project.name, depth + 1, rows);
    }
}

// What it uses above its quota is borrowed; what it leaves of it is spare, and lent to who asks.
Cell lending_cell(const Sums& sums, model::QuotaKind kind) {
    if (sums.used > sums.quota) {
        return {"borrows " + base::format(sums.used - sums.quota), Tone::Warning};
    }
    if (sums.used < sums.quota && kind == model::QuotaKind::Guaranteed) {
        return {"spare " + base::format(sums.quota - sums.used)};
    }
    return {};
}

struct NodeSums {
    std::vector<GpuLook> looks;
    model::MilliGpu held{0};
    std::vector<std::pair<model::JobId, std::string>> jobs;  // each once, and its use of a share
    int utilization = 0;
    int measured = 0;                // GPUs whose utilization is known
    std::optional<model::Bytes> memory_used;
    std::optional<int> power_watts;
};

// "6/8  71% busy  310G of 640G  2.1 kW": what is not measured is left out.
std::string numbers_of(const codec::NodeView& node, const NodeSums& sums) {
    std::string text = base::format(sums.held) + "/" + std::to_string(sums.looks.size());
    if (sums.measured > 0) text += "  " + percent(sums.utilization / sums.measured) + " busy";
    if (sums.memory_used) {
        constexpr std::int64_t kGib = std::int64_t{1} << 30;
        const auto count = static_cast<std::int64_t>(node.devices.size());
        text += "  " + std::to_string(sums.memory_used->value / kGib) + "G of " +
                base::format(node.gpu_memory * count);
    }
    if (sums.power_watts) {
        const int watts = *sums.power_watts;
        text += "  " + (watts < 1000 ? std::to_string(watts) + " W"
                                     : base::format_thousandths(watts / 100 * 100) + " kW");
    }
    return text;
}

NodeSums sums_of(const codec::NodeView& node) {
    NodeSums sums;
    for (const codec::GpuView& gpu : node.devices) {
        sums.looks.push_back(look_of(node, gpu));
        sums.held += gpu.used;
        if (gpu.utilization_percent) {
            sums.utilization += *gpu.utilization_percent;
            ++sums.measured;
        }
        if (gpu.memory_used) {
            sums.memory_used = sums.memory_used.value_or(model::Bytes{0}) + *gpu.memory_used;
        }
        if (gpu.power_watts) sums.power_watts = sums.power_watts.value_or(0) + *gpu.power_watts;
        for (const model::JobId job : gpu.jobs) {
            const auto is_it = [job](const auto& known) { return known.first == job; };
            if (std::ranges::none_of(sums.jobs, is_it))
                sums.jobs.emplace_back(job, use_of(gpu, job));
        }
    }
    return sums;
}

// Processes that use its GPUs and have no part in a share.
std::string uncounted_lines(const codec::NodeView& node, const codec::NameTable& names,
                            const Style& style) {
    std::string text;
    for (const codec::GpuView& gpu : node.devices) {
        for (const codec::ProcessView& process : gpu.uncounted) {
            const std::string whose =
                process.job ? "of " + named(*process.job, names) + ", beside its share"
                            : "of no job";
            text += style.paint(Tone::Warning, "  process " + std::to_string(process.pid) + " " +
                                                   printable(whose) + ", holds " +
                                                   base::format(process.memory) + " of GPU " +
                                                   std::to_string(gpu.index)) +
                    "\n";
        }
    }
    return text;
}

// What work of no project uses of it.
std::string others_line(const codec::NodeView& node, const Style& style) {
    if (node.others == model::OthersUse{}) return {};
    return style.paint(Tone::Faint, "  others use " + others_text(node.others)) + "\n";
}

// Keeps the first lines of a table and counts the rest.
std::string first_lines(const std::string& text, int lines_max) {
    std::size_t end = 0;
    for (int kept = 0; end < text.size(); ++kept) {
        if (kept == lines_max) {
            const auto rest =
                std::count(text.begin() + static_cast<std::ptrdiff_t>(end), text.end(), '\n');
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

std::string others_text(const model::OthersUse& use) {
    std::string text;
    const auto add = [&](bool is_some, const std::string& amount) {
        if (is_some) text += (text.empty() ? "" : ", ") + amount;
    };
    add(use.gpus > 0, base::format_gpus(base::gpus(use.gpus)));
    add(use.cpu.value > 0, base::format(use.cpu) + " CPUs");
    add(use.memory.value > 0, base::format(use.memory) + " of memory");
    for (const auto& [name, amount] : use.resources) {
        add(amount > 0, base::format(base::Bytes{amount}) + " of " + name);
    }
    return text.empty() ? "nothing" : text;
}

Table gpu_table(std::span<const codec::NodeView> nodes, const codec::NameTable& names) {
    Table table({{.title = "NODE", .worth = 2, .width_min = 6},
                 {.title = "GPU", .align = Align::Right},
                 {.title = "MODEL", .worth = 1, .width_min = 5},
                 {.title = "STATE"},
                 {.title = "HELD", .align = Align::Right},
                 {.title = "BUSY", .align = Align::Right},
                 {.title = "MEMORY", .align = Align::Right},
                 {.title = "POWER", .align = Align::Right},
                 {.title = "JOBS", .worth = 3, .width_min = 10}});
    for (const codec::NodeView& node : nodes) {
        for (const codec::GpuView& gpu : node.devices) {
            const std::vector<std::string> holders = holders_of(gpu, names);
            table.add_row({node.name, std::to_string(gpu.index),
                           node.gpu_model.empty() ? "-" : node.gpu_model, gpu_state(node, gpu),
                           held_of(node, gpu), percent(gpu.utilization_percent),
                           used_memory(node, gpu),
                           gpu.power_watts ? std::to_string(*gpu.power_watts) + "W" : "-",
                           holders.empty() ? "" : holders.front()});
            // A line for each further job, so that none is cut.
            for (std::size_t next = 1; next < holders.size(); ++next)
                table.add_row({"", "", "", "", "", "", "", "", holders[next]});
        }
    }
    return table;
}

Table project_table(std::span<const codec::ProjectView> projects, Detail detail) {
    std::vector<Column> columns({{.title = "PROJECT", .worth = 1, .width_min = 10},
                                 {.title = "QUOTA", .align = Align::Right},
                                 {.title = "KIND"},
                                 {.title = "LIMIT", .align = Align::Right},
                                 {.title = "WEIGHT", .align = Align::Right},
                                 {.title = "FAIR SHARE", .align = Align::Right},
                                 {.title = "USED", .align = Align::Right},
                                 {.title = "WAITING", .align = Align::Right},
                                 {.title = "LENDING"}});
    const bool is_wide = detail == Detail::Wide;
    if (is_wide) columns.push_back({.title = "ORDER"});
    if (is_wide) columns.push_back({.title = "TAIL", .align = Align::Right});
    for (const char* title :
         {"CPU QUOTA", "CPU LIMIT", "CPU USED", "MEMORY QUOTA", "MEMORY LIMIT", "MEMORY USED"}) {
        if (is_wide) columns.push_back({.title = title, .align = Align::Right});
    }
    Table table(std::move(columns));
    std::vector<TreeRow> rows;
    add_children(projects, "", 0, rows);
    for (const auto& [project, depth] : rows) {
        const model::Entitlement& rights = project->rights;
        const Sums sums = sums_of(*project);
        std::vector<Cell> row{std::string(static_cast<std::size_t>(depth) * 2, ' ') + project->name,
                              base::format(sums.quota),
                              std::string(codec::word(rights.kind)),
                              bound_cell(rights.limit),
                              base::format_thousandths(rights.weight),
                              base::format(sums.fair_share),
                              base::format(sums.used),
                              base::format(sums.waiting),
                              lending_cell(sums, rights.kind)};
        if (is_wide) {
            row.emplace_back(project->job_order ? codec::word(*project->job_order) : "-");
            row.emplace_back(project->job_tail ? std::to_string(*project->job_tail) : "-");
            const auto add_bound = [&](const auto& bound) {
                row.emplace_back(bound ? base::format(*bound) : "-");
            };
            add_bound(rights.cpu_quota);
            add_bound(rights.cpu_limit);
            row.emplace_back(base::format(sums.cpu_used));
            add_bound(rights.memory_quota);
            add_bound(rights.memory_limit);
            row.emplace_back(base::format(sums.memory_used));
        }
        table.add_row(std::move(row));
    }
    return table;
}

std::string orders_note(std::span<const codec::ProjectView> projects) {
    std::string text;
    for (const codec::ProjectView& project : projects) {
        if (!project.job_order && !project.job_tail) continue;
        text += (text.empty() ? "order of jobs: " : "; ") + printable(project.name);
        if (project.job_order) text += " " + std::string(codec::word(*project.job_order));
        if (project.job_tail) text += " tail " + std::to_string(*project.job_tail);
    }
    for (const codec::ProjectView& project : projects) {
        if (!project.idle_after && !project.idle_act) continue;
        text += (text.empty() ? "" : "; ") + printable(project.name) + ": idle jobs";
        if (project.idle_after) {
            const bool is_never = *project.idle_after == base::Duration{0};
            text +=
                is_never ? " are never warned" : " are warned after " + age(*project.idle_after);
        }
        if (project.idle_act) text += ", then " + std::string(codec::word(*project.idle_act));
    }
    return text;
}

std::string status_page(const codec::ServerView& server, base::TimePoint now, const Style& style) {
    const auto row = [&](std::string_view label, const std::string& text) {
        std::string padded(label);
        padded.resize(10, ' ');
        return "  " + style.paint(Tone::Faint, padded) + printable(text) + "\n";
    };
    const std::string separator = " " + std::string(style.glyphs().dot) + " ";
    const std::string process =
        "up " + age(now - server.started) + ", process " + std::to_string(server.pid);
    std::string text = style.paint(Tone::Strong, "Berth " + server.version) + "  " +
                       (now < server.started ? "now; another process served then" : process) + "\n";
    text += row(
        "gpus",
        base::format(server.gpus.total) + separator + base::format(server.gpus.used) + " used" +
            separator + base::format(server.gpus.idle) + " idle" +
            (server.gpus.ready < server.gpus.total
                 ? separator + base::format(server.gpus.total - server.gpus.ready) + " not ready"
                 : std::string()));
    std::string jobs;
    for (const auto& [state, count] : server.jobs) {
        if (count == 0) continue;
        jobs += (jobs.empty() ? "" : separator) + std::to_string(count) + " " + state;
    }
    text += row("jobs", jobs.empty() ? "none" : jobs);
    for (const codec::SharesKept& shares : server.shares) {
        const std::string where = server.shares.size() > 1 ? "of " + shares.node + " " : "";
        text += row("shares",
                    where + (shares.lack.empty() ? "kept by " + shares.kept_by
                                                 : "of GPUs cannot be kept: " + shares.lack +
                                                       "; jobs that ask for one are refused"));
    }
    if (!server.checkpoint_lack.empty())
        text += row("pauses", "by signal, no processes are kept: " + server.checkpoint_lack);
    text += row("profile", server.profile);
    text += row("store", server.data_dir + ", " + std::to_string(server.sequence) +
                             (server.sequence == 1 ? " event" : " events"));
    if (server.storage.text) text += row("full", *server.storage.text);
    if (server.port > 0) text += row("address", "http://127.0.0.1:" + std::to_string(server.port));
    return text;
}

std::string node_bars(std::span<const codec::NodeView> nodes, const codec::NameTable& names,
                      const Style& style) {
    int name_width = 0;
    int bar_width = 0;
    for (const codec::NodeView& node : nodes) {
        name_width = std::max(name_width, display_width(printable(node.name)));
        bar_width = std::max(bar_width, static_cast<int>(node.devices.size()));
    }
    std::string text;
    for (const codec::NodeView& node : nodes) {
        std::string line = printable(node.name);
        line.append(static_cast<std::size_t>(name_width - display_width(line) + 2), ' ');
        const NodeSums sums = sums_of(node);
        line += gpu_bar(sums.looks, style);
        line.append(static_cast<std::size_t>(bar_width) - sums.looks.size() + 2, ' ');
        const std::string numbers = numbers_of(node, sums);
        std::string who;
        for (const auto& [job, use] : sums.jobs)
            who += (who.empty() ? "" : ", ") + named(job, names) + use;
        const int room = style.width - name_width - bar_width - display_width(numbers) - 6;
        line += numbers;
        if (!who.empty()) {
            line += "  " + truncated(printable(who), std::max(room, 8), style.glyphs().ellipsis);
        }
        text += line + "\n" + others_line(node, style) + uncounted_lines(node, names, style);
    }
    return text;
}

std::string top_page(const TopInput& input, base::TimePoint now, int rows_max, const Style& style) {
    model::MilliGpu held{0};
    std::size_t gpus = 0;
    for (const codec::NodeView& node : input.nodes) {
        held += sums_of(node).held;
        gpus += node.devices.size();
    }
    std::string text =
        first_lines(node_bars(input.nodes, input.node_jobs, style), std::max(4, rows_max / 2));
    text += gpu_bar_legend(style) + "    " + base::format(held) + " of " + std::to_string(gpus) +
            " GPUs held\n";
    if (!input.projects.empty()) {
        const std::string projects = project_table(input.projects).render(style);
        text += "\n" + first_lines(projects, std::max(4, rows_max / 3));
        text += first_lines(accuracy_lines(input.projects), std::max(2, rows_max / 6));
    }
    if (!input.jobs.empty()) {
        const Table jobs = job_table(input.jobs, input.names, now, style.glyphs(), Detail::Usual);
        const int left = rows_max - count_lines(text) - 2;
        text += "\n" + first_lines(jobs.render(style), std::max(4, left));
    }
    return text;
}

}  // namespace berth::cli
