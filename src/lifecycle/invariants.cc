// SPDX-License-Identifier: Apache-2.0
#include "lifecycle/invariants.h"

#include <algorithm>
#include <bit>
#include <map>
#include <set>
#include <sstream>
#include <tuple>

#include "cluster/gang.h"
#include "cluster/regions.h"

namespace berth::lifecycle {
namespace {

using base::MilliGpu;
using base::NodeId;
using cluster::Cluster;
using cluster::HostUse;
using cluster::Job;
using cluster::PastUse;
using cluster::View;
using model::TaskPlacement;

struct GpuSum {
    model::GpuPart used;
    model::GpuPart releasing;
    model::GpuPart reserved;
};

bool is_as_counted(const HostUse& use, const HostUse& sum) {
    return use.used == sum.used && use.releasing == sum.releasing && use.reserved == sum.reserved;
}

void add_usage(cluster::Usage& sum, const cluster::Usage& amount) {
    sum.allocated += amount.allocated;
    sum.not_preemptible += amount.not_preemptible;
    sum.pending += amount.pending;
    sum.host += amount.host;
    sum.host_not_preemptible += amount.host_not_preemptible;
}

// The larger of each.
model::GpuPart most(const model::GpuPart& one, const model::GpuPart& other) {
    return {std::max(one.compute, other.compute), std::max(one.memory, other.memory)};
}

// The largest share of a GPU, compute and memory alike, in what is left of it.
MilliGpu share_in(const model::GpuPart& left, const model::GpuPart& all) {
    if (all.memory == base::Bytes{0} || left.compute == base::kWholeGpu) return left.compute;
    return std::min(left.compute, model::part_rounded_down(left.memory, all.memory));
}

// By the exchange weight of its node's model.
MilliGpu counted(const Cluster& cluster, const TaskPlacement& task) {
    const model::Node& node = cluster.description(task.node);
    const auto& exchange = cluster.pool(cluster.nodes()[task.node.index()].pool).exchange;
    const auto weight = exchange.find(node.gpu_model);
    const std::int64_t gpus = task.gpus().value;
    return {gpus * (weight == exchange.end() ? 1000 : weight->second) / 1000};
}

// What these tasks and the companions that neither run nor are promised a place are expected to
// count as.
MilliGpu pending(const Cluster& cluster, const Job& job, int tasks, base::PoolId pool) {
    MilliGpu sum = cluster.demand(job.shape, pool) * tasks;
    if (job.reservation) return sum;
    for (const cluster::Companions& kind : cluster.shape(job.shape).companions) {
        const auto is_there = [&](const cluster::PlacedTask& task) {
            return !task.is_releasing && kind.has(task.place.task);
        };
        const std::int64_t placed = std::ranges::count_if(job.placed, is_there);
        sum += cluster.demand(kind.shape, pool) * (kind.count - placed);
    }
    return sum;
}

class Audit {
  public:
    explicit Audit(const Cluster& cluster) : cluster_(cluster) {
        usage_.assign(cluster.pools().size(),
                      std::vector<cluster::Usage>(cluster.projects().size()));
        hosts_.resize(cluster.nodes().size());
        for (const auto& [id, job] : cluster.jobs()) count(job);
        for (std::size_t i = 0; i < cluster.nodes().size(); ++i) {
            count_others({static_cast<NodeId::Rep>(i)});
        }
    }

    std::vector<std::string> run() {
        check_gpus();
        check_hosts();
        check_resources();
        check_capacity();
        check_domains();
        check_usage();
        check_lines();
        check_ranks();
        return std::move(found_);
    }

  private:
    void report(const std::string& what) { found_.push_back(what); }

    void add(const TaskPlacement& task, model::GpuPart GpuSum::* field) {
        for (std::uint64_t mask = task.gpu_mask; mask != 0; mask &= mask - 1) {
            model::GpuPart& sum = gpus_[{task.node, std::countr_zero(mask)}].*field;
            sum = sum + task.part();
        }
        const auto host = in_host(field);
        hosts_[task.node.index()].first.*host += task.cpu.value;
        hosts_[task.node.index()].second.*host += task.memory.value;
    }

    static std::int64_t HostUse::* in_host(model::GpuPart GpuSum::* field) {
        if (field == &GpuSum::used) return &HostUse::used;
        return field == &GpuSum::releasing ? &HostUse::releasing : &HostUse::reserved;
    }

    void add(const Job& job, const TaskPlacement& task, model::GpuPart GpuSum::* field) {
        add(task, field);
        const base::ShapeId asked = cluster::asked_by(cluster_, job.shape, task.task);
        for (const cluster::ResourceAsk& ask : cluster_.resources().asked(asked)) {
            resources_[{task.node, ask.resource}].*in_host(field) += ask.amount;
        }
    }

    void count_others(NodeId node) {
        const cluster::Others& others = cluster_.others().on(node);
        const auto task = [&](std::uint64_t gpus) {
            return TaskPlacement{.node = node, .gpu_mask = gpus, .share = base::kWholeGpu};
        };
        add(task(others.taken), &GpuSum::used);
        add(task(others.awaited), &GpuSum::reserved);
        hosts_[node.index()].first.used += others.cpu;
        hosts_[node.index()].second.used += others.memory;
        const std::string where = "node " + cluster_.node_name(node) + ": ";
        const bool is_settled = std::popcount(others.taken) == others.gpus;
        if ((others.taken & others.awaited) != 0 || others.missing() < 0 ||
            is_settled == cluster_.others().unsettled().contains(node)) {
            report(where + "GPUs of others");
        }
        if (is_settled) return;
        for (int gpu = 0; gpu < cluster_.nodes()[node.index()].gpus; ++gpu) {
            const bool is_theirs = ((others.taken | others.awaited) >> gpu & 1) != 0;
            const GpuSum& sum = gpus_[{node, gpu}];
            const bool is_free = sum.used + sum.releasing + sum.reserved == model::GpuPart{};
            if (is_free && !is_theirs) report(where + "others wait beside a free GPU");
        }
    }

    void credit(const Job& job, base::PoolId pool, const cluster::Usage& amount) {
        for (base::ProjectId at = job.project; at.is_valid();
             at = cluster_.projects()[at.index()].parent) {
            add_usage(usage_[pool.index()][at.index()], amount);
        }
    }

    void count(const Job& job) {
        if (const cluster::Pinned pinned = job.pinned_apart(); pinned.node.is_valid()) {
            hosts_[pinned.node.index()].second.used += pinned.memory();
        }
        cluster::Usage usage;
        const auto use = [&](const TaskPlacement& task) {
            usage.allocated += counted(cluster_, task);
            usage.host += cluster::stated_by(cluster_, job, task.task);
        };
        int active = 0;
        int companions = 0;
        for (const cluster::PlacedTask& task : job.placed) {
            add(job, task.place, task.is_releasing ? &GpuSum::releasing : &GpuSum::used);
            if (task.is_releasing) continue;
            use(task.place);
            ++(job.is_companion(task.place.task) ? companions : active);
        }
        int held = 0;
        for (const TaskPlacement& task :
             job.reservation ? job.reservation->tasks : std::vector<TaskPlacement>{}) {
            add(job, task, &GpuSum::reserved);
            use(task);
            held += job.is_companion(task.task) ? 0 : 1;
        }
        if (active != job.active || companions != job.companions)
            report("job " + std::to_string(job.id.value) + ": active count");
        if (!job.preemptible) usage.not_preemptible = usage.allocated;
        if (!job.preemptible) usage.host_not_preemptible = usage.host;
        if (usage != cluster::Usage{}) credit(job, job.pool, usage);
        if (!job.may_run) return;
        const int missing = std::max(job.most_tasks() - active - held, 0);
        for (const base::PoolId pool : cluster_.pools_wanted(job)) {
            credit(job, pool, {{}, {}, pending(cluster_, job, missing, pool), {}});
        }
    }

    // I1: nothing is promised twice, and both views of every GPU follow from the jobs alone.
    void check_gpus() {
        std::map<base::PoolId, std::pair<MilliGpu, MilliGpu>> totals;
        for (std::size_t i = 0; i < cluster_.nodes().size(); ++i) {
            const NodeId node{static_cast<NodeId::Rep>(i)};
            for (int gpu = 0; gpu < cluster_.nodes()[i].gpus; ++gpu) {
                const GpuSum sum = gpus_[{node, gpu}];
                const model::GpuPart all = cluster_.whole_gpu(node);
                const model::GpuPart idle = all - sum.used - most(sum.releasing, sum.reserved);
                const model::GpuPart coming = all - sum.used - sum.reserved;
                if (!(sum.used + most(sum.releasing, sum.reserved)).fits_in(all)) {
                    report("GPU " + std::to_string(gpu) + " of " + cluster_.node_name(node) +
                           " is promised twice");
                }
                if (!cluster_.nodes()[i].is_ready) continue;
                if (cluster_.free_part(View::Idle, node, gpu) != idle ||
                    cluster_.free_part(View::Coming, node, gpu) != coming) {
                    report("GPU " + std::to_string(gpu) + " of " + cluster_.node_name(node) +
                           ": what is left");
                }
                totals[cluster_.nodes()[i].pool].first += share_in(idle, all);
                totals[cluster_.nodes()[i].pool].second += share_in(coming, all);
            }
        }
        for (std::size_t i = 0; i < cluster_.pools().size(); ++i) {
            const auto& pool = cluster_.pools()[i];
            const auto total = totals[{static_cast<base::PoolId::Rep>(i)}];
            if (pool.free_total[0] != total.first || pool.free_total[1] != total.second) {
                report("pool " + pool.name + ": free totals");
            }
        }
    }

    void check_hosts() {
        for (std::size_t i = 0; i < hosts_.size(); ++i) {
            const cluster::NodeState& node = cluster_.nodes()[i];
            if (is_as_counted(node.cpu, hosts_[i].first) &&
                is_as_counted(node.memory, hosts_[i].second)) {
                continue;
            }
            report("node " + cluster_.node_name({static_cast<NodeId::Rep>(i)}) +
                   ": sums of CPU and memory");
        }
    }

    void check_resources() {
        const cluster::NodeResources& all = cluster_.resources();
        for (std::uint32_t resource = 0; resource < all.names().size(); ++resource) {
            for (std::size_t i = 0; i < cluster_.nodes().size(); ++i) {
                const NodeId node{static_cast<NodeId::Rep>(i)};
                const HostUse& use = all.on(node, resource);
                HostUse& sum = resources_[{node, resource}];
                sum.used += all.used_by_others(node, resource);
                if (is_as_counted(use, sum)) continue;
                report("node " + cluster_.node_name(node) + ": sums of " + all.names()[resource]);
            }
        }
    }

    // Of ready nodes, what others leave.
    void check_capacity() {
        for (const auto& pool : cluster_.pools()) {
            int gpus = 0;
            for (std::size_t i = 0; i < cluster_.nodes().size(); ++i) {
                const cluster::NodeState& node = cluster_.nodes()[i];
                const int others = cluster_.others().on({static_cast<NodeId::Rep>(i)}).gpus;
                const bool counts = node.is_ready && &cluster_.pool(node.pool) == &pool;
                if (counts) gpus += std::max(node.gpus - others, 0);
            }
            if (pool.capacity != base::gpus(gpus)) report("pool " + pool.name + ": capacity");
        }
    }

    // What a domain counts is what its ready nodes have.
    void check_domains() {
        for (const auto& pool : cluster_.pools()) {
            const base::PoolId id{static_cast<base::PoolId::Rep>(&pool - cluster_.pools().data())};
            for (int level = 0; level < std::ssize(cluster_.levels()); ++level) {
                for (const base::DomainId domain : pool.domains.at_level(level)) {
                    check_domain(id, domain);
                }
            }
        }
    }

    void check_domain(base::PoolId pool, base::DomainId id) {
        const cluster::Domain& domain = cluster_.pool(pool).domains[id];
        for (const View view : {View::Idle, View::Coming}) {
            const auto at = static_cast<std::size_t>(view);
            MilliGpu free{0};
            std::vector<std::int32_t> by_whole(domain.by_whole[at].size());
            cluster::visit_nodes(cluster_, pool, {id, {}}, [&](NodeId node) {
                const cluster::NodeState& state = cluster_.nodes()[node.index()];
                if (!state.is_ready) return;
                const auto whole = static_cast<std::size_t>(std::popcount(state.whole[at]));
                for (int gpu = 0; gpu < state.gpus; ++gpu) free += cluster_.free(view, node, gpu);
                if (whole < by_whole.size()) ++by_whole[whole];
            });
            if (free != domain.free[at] || by_whole != domain.by_whole[at]) {
                report("domain " + domain.path + ": what is free");
            }
        }
    }

    void check_usage() {
        for (std::size_t pool = 0; pool < cluster_.pools().size(); ++pool) {
            for (std::size_t project = 0; project < cluster_.projects().size(); ++project) {
                const cluster::Claim& claim = cluster_.pools()[pool].claims[project];
                const std::string& name = cluster_.projects()[project].project.name;
                if (!(claim.usage == usage_[pool][project])) {
                    report("project " + name + ": sums of use and demand");
                }
            }
        }
    }

    // Every job that may wait is in the queue exactly where the queue is read.
    void check_lines() {
        for (const auto& pool : cluster_.pools()) {
            std::size_t standing = 0;
            for (const cluster::Claim& claim : pool.claims) {
                for (const auto& [key, jobs] : claim.queue) {
                    standing += jobs.size();
                    if (jobs.empty()) report("pool " + pool.name + ": an empty job class");
                }
            }
            std::size_t waiting = 0;
            for (const auto& [id, job] : cluster_.jobs()) {
                if (!job.is_waiting()) continue;
                for (const base::PoolId wanted : cluster_.pools_wanted(job)) {
                    waiting += &cluster_.pool(wanted) == &pool ? 1 : 0;
                }
            }
            if (standing != waiting) report("pool " + pool.name + ": jobs in line");
        }
    }

    void check_ranks() {
        std::size_t changes = 0;
        for (const auto& [id, job] : cluster_.jobs()) {
            if (!cluster::is_ranked_right(cluster_, id)) {
                report("job " + std::to_string(id.value) + ": rank");
            }
            changes += job.attained.change != model::TimePoint::max() ? 1 : 0;
        }
        if (changes != cluster_.ranks().changes.size()) report("ranks: when they change");
    }

    const Cluster& cluster_;
    std::map<std::pair<NodeId, int>, GpuSum> gpus_;
    std::vector<std::pair<HostUse, HostUse>> hosts_;  // CPU, memory; by node
    std::map<std::pair<NodeId, std::uint32_t>, HostUse> resources_;
    std::vector<std::vector<cluster::Usage>> usage_;
    std::vector<std::string> found_;
};

}  // namespace

std::vector<std::string> violations(const Cluster& cluster) { return Audit(cluster).run(); }

namespace {

void dump_history(const Cluster& cluster, std::ostream& text) {
    const cluster::History& history = cluster.history();
    for (const auto& [id, stale] : history.stale) {
        text << "stale " << id.value << ' ' << base::to_ms(stale.since) << '\n';
    }
    for (const cluster::PoolHistory& pool : history.pools) {
        if (pool.waste.gpu_ms != 0) text << "wasted " << pool.waste.gpu_ms << '\n';
        for (std::size_t i = 0; i < pool.past_use.size(); ++i) {
            const PastUse& use = pool.past_use[i];
            if (use == PastUse{}) continue;
            text << "use " << cluster.projects()[i].project.name << ' ' << use.in_use.value << ' '
                 << base::to_ms(use.settled);
            for (const std::int64_t amount : use.milli_gpu_ms) text << ' ' << amount;
            text << '\n';
        }
    }
}

}  // namespace

std::string dump(const Cluster& cluster) {
    std::ostringstream text;
    for (const auto& [id, job] : cluster.jobs()) {
        text << id.value << ' ' << job.active << ' ' << job.may_run << ' '
             << (job.pool.is_valid() ? cluster.pool(job.pool).name : "-") << ' '
             << base::to_ms(job.last_pause) << ' ' << job.rank.value;
        for (const cluster::PlacedTask& task : job.placed) {
            text << ' ' << task.place.task << '@' << task.place.node.value << ':'
                 << task.place.gpu_mask << (task.is_releasing ? "r" : "");
        }
        if (job.reservation) {
            text << " hold " << job.reservation->deadline.time_since_epoch().count();
            for (const TaskPlacement& task : job.reservation->tasks) {
                text << ' ' << task.task << '@' << task.node.value << ':' << task.gpu_mask;
            }
        }
        if (job.pinned.node.is_valid())
            text << " stay " << job.pinned.node.value << ' ' << job.pinned.tasks << ' '
                 << job.pinned.memory();
        text << '\n';
    }
    for (const auto& pool : cluster.pools()) {
        if (pool.name.empty()) continue;  // removed
        text << pool.name << ' ' << pool.free_total[0].value << ' ' << pool.free_total[1].value;
        for (const auto& free : pool.free) {
            for (const auto& gpu : free.partial()) {
                text << ' ' << gpu.left << '@' << gpu.node.value << ':' << gpu.gpu;
            }
        }
        for (std::size_t i = 0; i < pool.claims.size(); ++i) {
            const cluster::Claim& claim = pool.claims[i];
            if (i > 0 && cluster.projects()[i].project.name.empty()) continue;  // removed
            text << " | " << claim.usage.allocated.value << ' ' << claim.usage.not_preemptible.value
                 << ' ' << claim.usage.pending.value << ' ' << claim.queue.size() << ' '
                 << claim.victims.size();
        }
        text << '\n';
    }
    for (const model::NodePlace& place : cluster::places(cluster)) {
        text << place.node << " in " << place.pool << ' ' << place.is_bound << '\n';
    }
    dump_history(cluster, text);
    for (std::size_t i = 0; i < cluster.nodes().size(); ++i) {
        const cluster::NodeState& node = cluster.nodes()[i];
        const cluster::Others& others = cluster.others().on({static_cast<NodeId::Rep>(i)});
        if (others != cluster::Others{}) {
            text << "others " << others.cpu << ' ' << others.memory << ' ' << others.gpus << ' '
                 << others.taken << ' ' << others.awaited << ' ';
        }
        const NodeId id{static_cast<NodeId::Rep>(i)};
        for (std::uint32_t at = 0; at < cluster.resources().names().size(); ++at) {
            const HostUse& use = cluster.resources().on(id, at);
            text << cluster.resources().names()[at] << ' ' << use.capacity << ' ' << use.used << ' '
                 << use.releasing << ' ' << use.reserved << ' ';
        }
        text << node.whole[0] << ' ' << node.whole[1] << ' '
             << cluster.pool(node.pool).domains[node.domain].path << ' '
             << cluster.pool(node.pool).name << ' ' << node.is_ready << '\n';
    }
    return text.str();
}

}  // namespace berth::lifecycle
