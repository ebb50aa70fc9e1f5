// SPDX-License-Identifier: Apache-2.0
#include "adapters/gpu_shares/escapes.h"

#include <algorithm>
#include <utility>

#include "supervision/processes.h"

namespace berth::gpu_shares {
namespace {

using ports::AttemptId;

constexpr std::chrono::seconds kLookForEscapes{1};

std::string text_of(const GpuUser& user, const Gpu& gpu) {
    return "process " + std::to_string(user.pid) + " holds " + base::format(user.memory) +
           " of GPU " + std::to_string(gpu.index) + " of " + gpu.node;
}

}  // namespace

void Escapes::watch(ports::AttemptId attempt, const std::set<std::string>& nodes,
                    const std::vector<const Gpu*>& gpus) {
    if (nodes.empty()) return;
    watched_[attempt] = nodes;
    if (!gpus.empty()) {
        auto& given = holdings_.given[attempt];
        given.clear();
        for (const Gpu* gpu : gpus) given.insert(gpu->uuid);
    }
    if (!is_looking_) look_later();
}

void Escapes::forget(ports::AttemptId attempt) {
    watched_.erase(attempt);
    holdings_.given.erase(attempt);
    std::erase_if(charged_, [&](const auto& tenant) {
        return tenant.first.starts_with(name_of(attempt) + ".");
    });
    std::erase_if(processes_, [&](const auto& one) { return one.job == attempt.job; });
}

void Escapes::look_later() {
    is_looking_ = true;
    timer_.expires_after(kLookForEscapes);
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
    if (read_reports()) {
        std::vector<GpuUser> users;
        for (const auto& [name, node] : nodes_)
            users.insert(users.end(), node.users.begin(), node.users.end());
        holdings_.members = sources_.members();
        std::map<pid_t, AttemptId> attempts;
        for (const auto& [attempt, its_nodes] : watched_)
            attempts[sources_.supervisor(attempt)] = attempt;
        owners_.look(std::move(attempts));
        const auto owner = [&](std::int64_t pid) { return owners_.of(static_cast<pid_t>(pid)); };
        const auto found = seen_again(uncounted(users, holdings_, owner));
        show(found);
        charge(found);
        tell_of(found);
    }
    look_later();
}

bool Escapes::read_reports() {
    bool is_any_new = false;
    for (auto& [name, node] : nodes_) {
        node.said += node.probe.news();
        auto users = take_report(node.said);
        if (!users) continue;
        node.users = std::move(*users);
        is_any_new = true;
    }
    return is_any_new;
}

std::vector<Uncounted> Escapes::seen_again(std::vector<Uncounted> all) {
    std::erase_if(all, [](const Uncounted& one) {
        return !supervision::is_living(static_cast<pid_t>(one.user.pid));
    });
    const auto before = std::exchange(seen_, {});
    for (const Uncounted& one : all) seen_.emplace(one.user.gpu, one.user.pid);
    std::erase_if(
        all, [&](const Uncounted& one) { return !before.contains({one.user.gpu, one.user.pid}); });
    return all;
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

// Whoever keeps the shares may have started anew and forgotten it: what is held is said each time.
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
