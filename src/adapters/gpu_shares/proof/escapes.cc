// SPDX-License-Identifier: Apache-2.0
#include "adapters/gpu_shares/proof/escapes.h"

#include <algorithm>
#include <utility>

#include "supervision/processes.h"

namespace berth::gpu_shares {
namespace {

using ports::AttemptId;

// For a report, of which there is one a second: what it names may be gone soon after.
constexpr std::chrono::milliseconds kLookForReports{100};

std::string text_of(const GpuUser& user, const Gpu& gpu) {
    return "process " + std::to_string(user.pid) + " holds " + base::format(user.memory) +
           " of GPU " + std::to_string(gpu.index) + " of " + gpu.node;
}

// A job is seen, whichever of its processes it is each time: they may take turns.
std::tuple<std::optional<AttemptId>, std::string, std::int64_t> seen_as(const Uncounted& one) {
    if (one.attempt) return {one.attempt, "", 0};
    return {{}, one.user.gpu, one.user.pid};
}

}  // namespace

void Escapes::watch(ports::AttemptId attempt, std::set<std::string> nodes,
                    std::optional<std::set<std::string>> given) {
    watched_[attempt] = std::move(nodes);
    if (given) holdings_.given[attempt] = std::move(*given);
    if (!is_looking_) look_later();
}

void Escapes::forget(ports::AttemptId attempt) {
    watched_.erase(attempt);
    holdings_.given.erase(attempt);
    std::erase_if(charged_, [&](const auto& tenant) {
        return tenant.first.starts_with(name_of(attempt) + ".");
    });
    std::erase_if(processes_, [&](const auto& one) { return one.job == attempt.job; });
    for (auto& [name, node] : nodes_)
        std::erase_if(node.found, [&](const Uncounted& one) { return one.attempt == attempt; });
}

void Escapes::look_later() {
    is_looking_ = true;
    timer_.expires_after(kLookForReports);
    timer_.async_wait([this, alive = alive_](const boost::system::error_code& error) {
        if (!error && *alive) look();
    });
}

void Escapes::look() {
    is_looking_ = false;
    std::set<std::string> nodes;
    for (const auto& [attempt, its_nodes] : watched_)
        nodes.insert(its_nodes.begin(), its_nodes.end());
    for (auto& [name, node] : nodes_)
        if (!nodes.contains(name)) node.probe.kill();
    std::erase_if(nodes_, [&](const auto& node) { return !nodes.contains(node.first); });
    if (nodes.empty()) {
        processes_.clear();
        return;
    }
    for (const std::string& name : nodes) {
        Node& node = nodes_[name];
        if (node.probe.is_living()) continue;
        node = {};
        const ChildOrder order = sources_.probe(name);
        if (order.words.empty()) continue;
        if (auto started = Child::start(order)) node.probe = std::move(*started);
    }
    const auto reports = new_reports();
    if (!reports.empty()) {
        holdings_.members = sources_.members();
        std::map<pid_t, AttemptId> attempts;
        for (const auto& [attempt, its_nodes] : watched_)
            attempts[sources_.supervisor(attempt)] = attempt;
        owners_.look(std::move(attempts));
        const auto owner = [&](std::int64_t pid) { return owners_.of(static_cast<pid_t>(pid)); };
        for (const auto& [node, users] : reports)
            seen_again(nodes_[node], uncounted(users, holdings_, owner));
        std::vector<Uncounted> found;
        for (const auto& [name, node] : nodes_)
            found.insert(found.end(), node.found.begin(), node.found.end());
        show(found);
        charge(found);
        tell_of(found);
    }
    look_later();
}

std::map<std::string, std::vector<GpuUser>> Escapes::new_reports() {
    std::map<std::string, std::vector<GpuUser>> reports;
    for (auto& [name, node] : nodes_) {
        node.said += node.probe.news();
        if (auto users = take_report(node.said)) reports.emplace(name, std::move(*users));
    }
    return reports;
}

void Escapes::seen_again(Node& node, std::vector<Uncounted> all) {
    std::erase_if(all, [](const Uncounted& one) {
        return supervision::is_leaving(static_cast<pid_t>(one.user.pid));
    });
    const auto before = std::exchange(node.seen, {});
    for (const Uncounted& one : all) node.seen.insert(seen_as(one));
    std::erase_if(all, [&](const Uncounted& one) { return !before.contains(seen_as(one)); });
    node.found = std::move(all);
}

void Escapes::show(const std::vector<Uncounted>& all) {
    processes_.clear();
    for (const Uncounted& one : all) {
        const auto gpu = std::ranges::find(gpus_, one.user.gpu, &Gpu::uuid);
        if (gpu == gpus_.end()) continue;
        processes_.push_back({one.attempt ? one.attempt->job : base::JobId{}, gpu->node, gpu->index,
                              one.user.pid, one.user.memory});
    }
}

// The keeper of the shares may have restarted and forgotten it: it gets what is held each time.
void Escapes::charge(const std::vector<Uncounted>& all) {
    for (const auto& [tenant, held] : beside_shares(all, holdings_.members)) {
        const bool is_any =
            std::ranges::any_of(held, [](const auto& gpu) { return gpu.second > base::Bytes{0}; });
        const auto known = charged_.find(tenant);
        if (!is_any && known != charged_.end() && known->second == held) continue;
        sources_.charge(tenant, held);
        charged_[tenant] = held;
    }
}

void Escapes::tell_of(const std::vector<Uncounted>& all) {
    std::map<AttemptId, std::string> details;
    for (const Uncounted& one : all) {
        const auto gpu = std::ranges::find(gpus_, one.user.gpu, &Gpu::uuid);
        if (gpu == gpus_.end() || !one.attempt) continue;
        std::string& detail = details[*one.attempt];
        detail += (detail.empty() ? "" : ", ") + text_of(one.user, *gpu);
    }
    for (const auto& [attempt, detail] : details) sources_.tell(attempt, detail);
}

}  // namespace berth::gpu_shares
