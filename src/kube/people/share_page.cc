// SPDX-License-Identifier: Apache-2.0
#include "kube/people/share_page.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "cli/pages/job_text.h"

namespace berth::kube::people {
namespace {

constexpr int kDepthMax = 32;

using Older = std::vector<const ReadProject*>;

Older from_old_to_young(const Read& read) {
    Older projects;
    for (const ReadProject& project : read.projects) projects.push_back(&project);
    std::ranges::sort(projects, {}, [](const ReadProject* project) {
        return std::tie(project->project.order, project->meta.name);
    });
    return projects;
}

void add_below(const Older& all, std::string_view parent, int depth, Branch& branch) {
    if (depth > kDepthMax) return;
    for (const ReadProject* project : all) {
        if (project->project.parent != parent) continue;
        branch.rows.push_back({project, depth});
        add_below(all, project->meta.name, depth + 1, branch);
    }
}

// A pool that is gone may still stand in a status that was written before.
bool is_there(const Read& read, const std::string& pool) {
    return pool == model::kDefaultPool || read.pool_names.contains(pool);
}

bool is_empty(const Use& use) {
    const auto is_nothing = [](const std::optional<base::MilliGpu>& gpus) {
        return gpus.value_or(base::MilliGpu{0}) == base::MilliGpu{0};
    };
    return is_nothing(use.quota) && is_nothing(use.fair_share) && is_nothing(use.used) &&
           use.waiting.value_or(0) == 0;
}

std::string gpus_cell(const std::optional<base::MilliGpu>& gpus) {
    return !gpus || *gpus >= model::kUnlimited ? "-" : base::format(*gpus);
}

const Use& use_in(const ReadProject& project, const std::string& pool) {
    static const Use kUnsaid;
    const auto found = project.pools.find(pool);
    return found == project.pools.end() ? kUnsaid : found->second;
}

}  // namespace

Branch branch_of(const Read& read, std::string_view name) {
    const Older all = from_old_to_young(read);
    Branch branch;
    const auto has_parent = [&](const ReadProject* project) {
        return std::ranges::any_of(all, [&](const ReadProject* other) {
            return other->meta.name == project->project.parent;
        });
    };
    for (const ReadProject* project : all) {
        if (name.empty() ? has_parent(project) : project->meta.name != name) continue;
        branch.rows.push_back({project, 0});
        add_below(all, project->meta.name, 1, branch);
    }
    return branch;
}

std::vector<std::string> pools_of(const Read& read, const ReadProject& project) {
    std::vector<std::string> pools;
    for (const auto& [pool, use] : project.pools) {
        if (is_there(read, pool) && !is_empty(use)) pools.push_back(pool);
    }
    if (pools.empty()) pools.emplace_back(model::kDefaultPool);
    return pools;
}

cli::Table share_table(const Read& read, const Branch& branch) {
    using cli::Align;
    const bool has_pools = !read.pool_names.empty();
    std::vector<cli::Column> columns{{.title = "PROJECT", .worth = 1, .width_min = 10}};
    if (has_pools) columns.push_back({.title = "POOL", .worth = 1, .width_min = 7});
    for (const char* title : {"QUOTA", "FAIR SHARE", "USED", "OVER", "WAITING"})
        columns.push_back({.title = title, .align = Align::Right});
    cli::Table table(std::move(columns));
    for (const auto& [project, depth] : branch.rows) {
        std::string name(static_cast<std::size_t>(depth) * 2, ' ');
        name += project->meta.name;
        for (const std::string& pool : pools_of(read, *project)) {
            const Use& use = use_in(*project, pool);
            std::vector<cli::Cell> row{name};
            if (has_pools) row.emplace_back(pool);
            for (const auto& gpus : {use.quota, use.fair_share, use.used, use.over})
                row.emplace_back(gpus_cell(gpus));
            row.emplace_back(use.waiting ? std::to_string(*use.waiting) : "-");
            table.add_row(std::move(row));
            name.assign(name.size(), ' ');
        }
    }
    return table;
}

std::string entitlement_lines(const Read& read, const ReadProject& project,
                              const cli::Style& style) {
    std::string text;
    for (const std::string& pool : pools_of(read, project)) {
        const auto& fair = use_in(project, pool).fair_share;
        const std::string line =
            fair ? project.meta.name + " is entitled to " + cli::gpu_count(*fair) +
                       " of the pool " + pool + " now"
                 : "the scheduler has not yet written the fair share of " + project.meta.name;
        text += style.paint(cli::Tone::Strong, cli::printable(line)) + "\n";
    }
    return text;
}

}  // namespace berth::kube::people
