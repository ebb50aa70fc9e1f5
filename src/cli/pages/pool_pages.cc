// SPDX-License-Identifier: Apache-2.0
#include "cli/pages/pool_pages.h"

#include <algorithm>

#include "cli/pages/cluster_pages.h"
#include "cli/pages/job_text.h"
#include "codec/words/words.h"

namespace berth::cli {
namespace {

std::string text_of(const model::Labels& labels) {
    std::string text;
    for (const auto& [key, value] : labels) text += (text.empty() ? "" : ",") + key + "=" + value;
    return text.empty() ? "-" : text;
}

std::string text_of(const std::map<std::string, model::MilliGpu>& exchange) {
    std::string text;
    for (const auto& [model, weight] : exchange) {
        text += (text.empty() ? "" : ",") + model + "=" + base::format(weight);
    }
    return text.empty() ? "-" : text;
}

std::string quotas_of(const codec::PoolView& pool) {
    return pool.quotas >= model::kUnlimited || pool.quotas.value < 0 ? "unlimited"
                                                                     : base::format(pool.quotas);
}

model::MilliGpu held_on(const codec::NodeView& node) {
    model::MilliGpu held{0};
    for (const codec::GpuView& gpu : node.devices) held += gpu.used;
    return held;
}

Cell state_cell(const codec::NodeView& node) {
    const bool is_ready = node.health == model::NodeHealth::Ready;
    return {std::string(codec::word(node.health)), is_ready ? Tone::Plain : Tone::Warning};
}

// Why it does not simply stand where its labels say.
Cell place_cell(const codec::NodeView& node) {
    if (!node.joins.empty()) return {"to " + node.joins + " once empty", Tone::Warning};
    if (node.labelled_pool.empty() || node.labelled_pool == node.pool) return {};
    return {"swapped, of " + node.labelled_pool, Tone::Faint};
}

std::string jobs_of(const codec::NodeView& node, const codec::NameTable& names) {
    std::vector<model::JobId> jobs;
    for (const codec::GpuView& gpu : node.devices) {
        for (const model::JobId job : gpu.jobs) {
            if (std::ranges::find(jobs, job) == jobs.end()) jobs.push_back(job);
        }
    }
    std::string text;
    for (const model::JobId job : jobs) text += (text.empty() ? "" : ", ") + named(job, names);
    return text;
}

Table standing_table(const PoolPage& page) {
    Table table({{.title = "NODE", .worth = 2, .width_min = 6},
                 {.title = "STATE"},
                 {.title = "GPUS", .align = Align::Right},
                 {.title = "HELD", .align = Align::Right},
                 {.title = "MODEL", .worth = 1, .width_min = 5},
                 {.title = "PLACE", .worth = 3, .width_min = 12},
                 {.title = "JOBS", .worth = 3, .width_min = 8}});
    for (const codec::NodeView& node : page.nodes) {
        const bool comes = node.joins == page.pool.name;
        if (node.pool != page.pool.name && !comes) continue;
        const Cell place =
            comes ? Cell{"comes once empty, in " + node.pool, Tone::Warning} : place_cell(node);
        table.add_row({node.name, state_cell(node), std::to_string(node.gpus),
                       base::format(held_on(node)), node.gpu_model.empty() ? "-" : node.gpu_model,
                       place, jobs_of(node, page.names)});
    }
    return table;
}

}  // namespace

Table pool_table(std::span<const codec::PoolView> pools) {
    Table table({{.title = "POOL", .worth = 2, .width_min = 8},
                 {.title = "NODES", .align = Align::Right},
                 {.title = "READY", .align = Align::Right},
                 {.title = "GPUS", .align = Align::Right},
                 {.title = "USED", .align = Align::Right},
                 {.title = "QUOTAS", .align = Align::Right},
                 {.title = "SPARES", .worth = 1, .width_min = 6},
                 {.title = "LABELS", .worth = 3, .width_min = 10},
                 {.title = "EXCHANGE", .worth = 2, .width_min = 8}});
    for (const codec::PoolView& pool : pools) {
        table.add_row({pool.name, std::to_string(pool.nodes), std::to_string(pool.nodes_ready),
                       base::format(pool.gpus), base::format(pool.used), quotas_of(pool),
                       pool.spares.empty() ? "-" : pool.spares, text_of(pool.labels),
                       text_of(pool.exchange)});
    }
    return table;
}

Table node_table(std::span<const codec::NodeView> nodes, const codec::NameTable& names) {
    Table table({{.title = "NODE", .worth = 2, .width_min = 6},
                 {.title = "POOL", .worth = 2, .width_min = 7},
                 {.title = "STATE"},
                 {.title = "HELD", .align = Align::Right},
                 {.title = "MODEL", .worth = 1, .width_min = 5},
                 {.title = "PLACE", .worth = 3, .width_min = 11},
                 {.title = "LABELS", .worth = 2, .width_min = 6},
                 {.title = "TOPOLOGY", .worth = 1, .width_min = 6},
                 {.title = "JOBS", .worth = 1, .width_min = 7}});
    for (const codec::NodeView& node : nodes) {
        table.add_row({node.name, node.pool, state_cell(node),
                       base::format(held_on(node)) + "/" + std::to_string(node.gpus),
                       node.gpu_model.empty() ? "-" : node.gpu_model, place_cell(node),
                       text_of(node.labels), text_of(node.topology), jobs_of(node, names)});
    }
    return table;
}

std::string pool_page(const PoolPage& page, const Style& style) {
    const codec::PoolView& pool = page.pool;
    const auto row = [&](std::string_view label, const std::string& text) {
        std::string padded(label);
        padded.resize(10, ' ');
        return "  " + style.paint(Tone::Faint, padded) + printable(text) + "\n";
    };
    std::string text = style.paint(Tone::Strong, "pool " + printable(pool.name)) + "  " +
                       base::format_gpus(pool.gpus) + " on " + std::to_string(pool.nodes_ready) +
                       " of " + std::to_string(pool.nodes) + " nodes, " + base::format(pool.used) +
                       " used, quotas " + quotas_of(pool) + "\n";
    const bool is_default = pool.name == model::kDefaultPool;
    text += row("labels", is_default ? "nodes in no other pool" : text_of(pool.labels));
    if (!pool.spares.empty()) {
        text += row("spares", "idle nodes of " + pool.spares + " replace nodes that are not ready");
    }
    if (pool.strict_shares) text += row("shares", "a share of a GPU is also its cap");
    if (!pool.exchange.empty()) text += row("exchange", text_of(pool.exchange));
    const Table standing = standing_table(page);
    if (!standing.is_empty()) text += "\n" + standing.render(style);
    const auto projects = in_pool({page.projects.begin(), page.projects.end()}, page.pool.name);
    if (!projects.empty()) text += "\n" + project_table(projects).render(style);
    return text;
}

std::vector<codec::ProjectView> in_pool(std::vector<codec::ProjectView> projects,
                                        const std::string& pool) {
    for (codec::ProjectView& project : projects) {
        project.rights = model::rights_in(project, pool);
        std::erase_if(project.use, [&](const auto& use) { return use.pool != pool; });
    }
    return projects;
}

}  // namespace berth::cli
