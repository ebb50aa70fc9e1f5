// SPDX-License-Identifier: Apache-2.0
#include "overview/lending.h"

#include <algorithm>
#include <numeric>

namespace berth::overview {
namespace {

using base::ProjectId;

constexpr std::size_t kNamed = 3;  // the others are counted
constexpr MilliGpu kNone{0};

MilliGpu above(MilliGpu one, MilliGpu other) { return std::max(one - other, kNone); }

MilliGpu sum_of(const std::vector<Part>& parts) {
    return std::accumulate(parts.begin(), parts.end(), kNone,
                           [](MilliGpu sum, const Part& part) { return sum + part.gpus; });
}

void add(std::vector<Part>& parts, const std::string& project, MilliGpu gpus) {
    if (gpus > kNone) parts.push_back({project, gpus});
}

// A quota without a bound is as much as there is.
MilliGpu quota_of(const cluster::Cluster& cluster, base::PoolId pool, ProjectId project) {
    const MilliGpu quota = cluster.claim(pool, project).quota;
    return quota < model::kUnlimited ? quota : cluster.pool(pool).counted_capacity;
}

// What is below a department, or below the root.
MilliGpu quotas_below(const cluster::Cluster& cluster, base::PoolId pool, ProjectId parent) {
    MilliGpu sum{0};
    for (const ProjectId child : cluster.projects()[parent.index()].children) {
        sum += quota_of(cluster, pool, child);
    }
    return sum;
}

void add_project(Lending& lending, const cluster::Cluster& cluster, base::PoolId pool,
                 ProjectId project) {
    const std::string& name = cluster.projects()[project.index()].project.name;
    const MilliGpu quota = quota_of(cluster, pool, project);
    if (!cluster.is_leaf(project)) {
        add(lending.lenders, name, above(quota, quotas_below(cluster, pool, project)));
        return;
    }
    const cluster::Claim& claim = cluster.claim(pool, project);
    const MilliGpu used = claim.usage.allocated;
    if (claim.rights.kind == model::QuotaKind::Fixed) {
        lending.kept += above(quota, used);
    } else {
        add(lending.lenders, name, above(quota, used));
    }
    add(lending.borrowers, name, above(used, quota));
    add(lending.owed, name, std::min(claim.usage.pending, above(quota, used)));
}

// "a", "a and b", "a, b and c", "a, b, c and 2 others".
std::string named(const std::vector<Part>& parts) {
    std::string text;
    for (std::size_t i = 0; i < std::min(parts.size(), kNamed); ++i) {
        const bool is_last = i + 1 == parts.size();
        if (i > 0) text += is_last ? " and " : ", ";
        text += name_shown(parts[i].project);
    }
    if (parts.size() <= kNamed) return text;
    const std::size_t others = parts.size() - kNamed;
    return text + " and " + std::to_string(others) + (others == 1 ? " other" : " others");
}

std::string verb(const std::vector<Part>& parts, const char* one, const char* several) {
    return named(parts) + (parts.size() == 1 ? one : several);
}

std::string borrowers(const Lending& lending) {
    if (lending.borrowers.empty()) return "No project is above its quota.";
    return verb(lending.borrowers, " borrows ", " borrow ") +
           base::format_gpus(lending.borrowed()) + ".";
}

std::string lenders(const Lending& lending) {
    if (lending.lenders.empty()) return "No project leaves quota unused.";
    if (lending.borrowers.empty()) {
        return named(lending.lenders) + " could lend " + base::format_gpus(lending.lent()) + ".";
    }
    return verb(lending.lenders, " lends ", " lend ") + base::format(lending.lent()) + ".";
}

std::string quotas(const Lending& lending) {
    if (lending.quotas > lending.capacity) {
        return "Quotas sum to " + base::format_gpus(lending.quotas) + ", " +
               base::format(lending.capacity) +
               (lending.capacity == base::kWholeGpu ? " is" : " are") + " there.";
    }
    return "Quotas sum to " + base::format(lending.quotas) + " of " +
           base::format_gpus(lending.capacity) + ".";
}

std::string owed(const Lending& lending) {
    if (lending.owed.empty()) return "No project waits for GPUs of its quota.";
    const char* whose = lending.owed.size() == 1 ? " of its quota." : " of their quotas.";
    return verb(lending.owed, " waits for ", " wait for ") +
           base::format_gpus(sum_of(lending.owed)) + whose;
}

}  // namespace

MilliGpu Lending::lent() const { return sum_of(lenders); }
MilliGpu Lending::borrowed() const { return sum_of(borrowers); }

Lending lending_of(const cluster::Cluster& cluster, base::PoolId pool) {
    Lending lending;
    lending.capacity = cluster.pool(pool).counted_capacity;
    lending.quotas = quotas_below(cluster, pool, cluster::kRoot);
    lending.in_no_quota = above(lending.capacity, lending.quotas);
    for (std::size_t i = 1; i < cluster.projects().size(); ++i) {
        if (cluster.projects()[i].project.name.empty()) continue;  // removed
        add_project(lending, cluster, pool, {static_cast<ProjectId::Rep>(i)});
    }
    for (auto* parts : {&lending.lenders, &lending.borrowers, &lending.owed}) {
        std::ranges::stable_sort(*parts, std::ranges::greater{}, &Part::gpus);
    }
    // What is promised twice and used once is there; what is used beyond what is there is on nodes
    // that are not ready.
    const MilliGpu used = cluster.claim(pool, cluster::kRoot).usage.allocated;
    const MilliGpu left = lending.lent() + lending.in_no_quota - lending.borrowed();
    lending.not_ready = above(kNone, left);
    lending.free = std::min(above(left, kNone), above(lending.capacity, used + lending.kept));
    lending.not_there = above(left, lending.free);
    return lending;
}

std::vector<Sentence> lending_sentences(const Lending& lending) {
    if (lending.quotas == kNone) {
        return {{About::Quotas, "No project has a quota: jobs start while GPUs are free."}};
    }
    return {{About::Borrowers, borrowers(lending)},
            {About::Lenders, lenders(lending)},
            {About::Quotas, quotas(lending)},
            {About::Owed, owed(lending)}};
}

}  // namespace berth::overview
