// SPDX-License-Identifier: Apache-2.0
//
// What do limits and quotas of CPU and memory allow? Only what tasks name counts.
#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "judge.h"

namespace berth::proof {
namespace {

constexpr Host kHosts[] = {Host::Cpu, Host::Memory};

template <typename Amount>
std::optional<std::int64_t> number(const std::optional<Amount>& amount) {
    if (!amount) return {};
    return amount->value;
}

std::optional<std::int64_t> stated_quota(const model::Entitlement& rights, Host host) {
    return host == Host::Cpu ? number(rights.cpu_quota) : number(rights.memory_quota);
}

// A fixed quota is one.
std::optional<std::int64_t> stated_limit(const model::Entitlement& rights, Host host) {
    const auto quota = stated_quota(rights, host);
    if (quota && rights.kind == model::QuotaKind::Fixed) return quota;
    return host == Host::Cpu ? number(rights.cpu_limit) : number(rights.memory_limit);
}

std::string text_of(Host host) { return host == Host::Cpu ? "CPU" : "memory"; }

}  // namespace

std::int64_t Judge::named(const cluster::Job& job, Host host) const {
    const model::TaskRequest& request = cluster_.shape(job.shape).request;
    const auto amount = host == Host::Cpu ? number(request.cpu) : number(request.memory);
    return amount.value_or(0);
}

std::optional<std::int64_t> Judge::host_quota(ProjectId project, Host host) const {
    auto sum = stated_quota(cluster_.claim(pool_, project).rights, host);
    if (sum) return sum;
    for (const ProjectId child : cluster_.projects()[project.index()].children) {
        if (const auto quota = host_quota(child, host)) sum = sum.value_or(0) + *quota;
    }
    return sum;
}

bool Judge::is_within_host_bounds(const Room& room, const Want& want) const {
    for (const Host host : kHosts) {
        const std::int64_t asks = named(*want.job, host) * want.tasks;
        if (asks == 0) continue;
        for (const ProjectId at : path(want.job->project)) {
            const model::Entitlement& rights = cluster_.claim(pool_, at).rights;
            const auto& used = room.host.at(host);
            const auto limit = stated_limit(rights, host);
            if (limit && used.all[at.index()] + asks > *limit) return false;
            const auto quota = stated_quota(rights, host);
            const bool is_kept = !want.job->preemptible;
            if (is_kept && quota && used.not_preemptible[at.index()] + asks > *quota) return false;
        }
    }
    return true;
}

bool Judge::has_host_right(const Room& room, const Want& want, std::size_t levels) const {
    bool is_stated = false;
    const std::vector<ProjectId> asking = path(want.job->project);
    for (std::size_t level = 0; level < levels; ++level) {
        for (const Host host : kHosts) {
            const auto quota = stated_quota(cluster_.claim(pool_, asking[level]).rights, host);
            const std::int64_t asks = named(*want.job, host) * want.tasks;
            if (!quota || asks == 0) continue;
            if (room.host.at(host).all[asking[level].index()] + asks > *quota) return false;
            is_stated = true;
        }
    }
    return is_stated;
}

std::optional<std::string> Judge::host_objection(const Room& before, const Want& want,
                                                 const std::vector<JudgedPiece>& taken) const {
    std::map<std::pair<ProjectId, Host>, std::vector<std::int64_t>> lost;
    for (const JudgedPiece& piece : taken) {
        if (piece.gpus > 0 && want.amount == 0) return "R6: GPUs make room for work without GPUs";
        if (piece.gpus > 0) continue;
        std::vector<ProjectId> asking = path(want.job->project);
        std::vector<ProjectId> losing = path(piece.project);
        while (!asking.empty() && !losing.empty() && asking.back() == losing.back()) {
            asking.pop_back();
            losing.pop_back();
        }
        const bool is_right = want.amount == 0 ? has_host_right(before, want, asking.size())
                                               : policy_.reclaim_cpu_only && is_owner(before, want);
        if (!is_right) return "R6: work without GPUs makes room for a project that is no owner";
        const auto tasks = static_cast<std::int64_t>(piece.tasks.size());
        for (const ProjectId project : losing) {
            for (const Host host : kHosts) {
                const std::int64_t amount = named(cluster_.job(piece.job), host) * tasks;
                if (amount > 0) lost[{project, host}].push_back(amount);
            }
        }
    }
    for (auto& [at, pieces] : lost) {
        const auto quota = host_quota(at.first, at.second);
        if (!quota) continue;
        // The largest piece last, all others come from more.
        std::ranges::sort(pieces);
        std::int64_t held = before.host.at(at.second).all[at.first.index()];
        for (const std::int64_t piece : pieces) {
            if (held <= *quota) return "R6: " + text_of(at.second) + " within the quota is taken";
            held -= piece;
        }
    }
    return {};
}

std::optional<std::string> Judge::broken_host_bound(const Room& then, const Room& now) const {
    for (const Host host : kHosts) {
        for (std::size_t i = 1; i < cluster_.projects().size(); ++i) {
            const model::Entitlement& rights = cluster_.pool(pool_).claims[i].rights;
            const auto passes = [&](const auto& before, const auto& after, const auto& bound) {
                return bound && after[i] > before[i] && after[i] > *bound;
            };
            const Room::Host& before = then.host.at(host);
            const Room::Host& after = now.host.at(host);
            if (passes(before.all, after.all, stated_limit(rights, host)) ||
                passes(before.not_preemptible, after.not_preemptible, stated_quota(rights, host)))
                return "I3: " + cluster_.projects()[i].project.name + " passes a bound of " +
                       text_of(host);
        }
    }
    return {};
}

}  // namespace berth::proof
