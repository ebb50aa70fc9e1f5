// SPDX-License-Identifier: Apache-2.0
//
// The slow-changing half of the cluster: nodes, pools, the project tree, shapes.
#include <algorithm>
#include <tuple>

#include "base/check.h"
#include "cluster/cluster.h"
#include "cluster/gang.h"
#include "cluster/jobs/in_place.h"
#include "cluster/regions.h"

namespace berth::cluster {
namespace {

// Room for `count` more, an eighth more at the least: a vector left to itself doubles, and there
// are many nodes.
template <typename T>
void reserve_some(std::vector<T>& table, std::size_t count) {
    if (table.size() + count <= table.capacity()) return;
    table.reserve(table.size() + count + table.size() / 8);
}

// The least and the greatest weight of nodes of the pool that may carry the shape, in thousandths.
std::pair<std::int64_t, std::int64_t> exchange_range(const Cluster& cluster, ShapeId shape,
                                                     PoolId pool) {
    const PoolState& state = cluster.pool(pool);
    if (state.exchange.empty()) return {1000, 1000};
    std::int64_t least = model::kExchangeMax + 1;
    std::int64_t greatest = 0;
    for (std::size_t kind = 0; kind < cluster.kinds().size(); ++kind) {
        if (!cluster.kinds().allows(shape, static_cast<std::uint16_t>(kind)) ||
            !state.has_kind(kind))
            continue;
        const std::int64_t weight = state.weights[kind];
        least = std::min(least, weight);
        greatest = std::max(greatest, weight);
    }
    if (greatest == 0) return {1000, 1000};  // nothing there can carry it
    return {least, greatest};
}

}  // namespace

Cluster::Cluster() {
    projects_.push_back({});  // kRoot
    set_pool({.name = model::kDefaultPool, .labels = {}, .exchange = {}});
}

NodeId Cluster::find_node(std::string_view name) const {
    return {nodes_by_name_.find(base::hash(name),
                                [&](std::uint32_t node) { return node_names_[node] == name; })};
}

ProjectId Cluster::find_project(std::string_view name) const {
    const auto found = project_names_.find(name);
    return found == project_names_.end() ? ProjectId{} : found->second;
}

PoolId Cluster::find_pool(std::string_view name) const {
    const auto found = std::ranges::find(pools_, name, &PoolState::name);
    if (found == pools_.end() || name.empty()) return {};
    return {static_cast<PoolId::Rep>(found - pools_.begin())};
}

void Cluster::set_pool(const model::Pool& pool) {
    BERTH_CHECK(open_trials_ == 0, "pools do not change inside a trial");
    if (const PoolId known = find_pool(pool.name); known.is_valid()) {
        if (pools_[known.index()].spares != pool.spares) unbind(known);
    } else {
        pools_.push_back({});
        pools_.back().name = pool.name;
        pools_.back().claims.resize(projects_.size());
        history_.pools.push_back({});
    }
    const PoolId id = find_pool(pool.name);
    PoolState& state = pools_[id.index()];
    state.labels = pool.labels;
    state.spares = pool.spares;
    state.strict_shares = pool.strict_shares;
    if (state.exchange != pool.exchange) {
        state.exchange = pool.exchange;
        state.weights.clear();
        weigh_kinds();
        state.counted_capacity = {0};
        for (std::size_t i = 0; i < nodes_.size(); ++i) {
            if (nodes_[i].pool != id || !nodes_[i].is_ready) continue;
            const int gpus = own_gpus({static_cast<NodeId::Rep>(i)});
            state.counted_capacity += {gpus * state.weight_of(nodes_[i])};
        }
        recount();
    }
    review_all();
    resolve_claims();
}

void Cluster::remove_pool(PoolId id) {
    set_pool({pools_[id.index()].name, {}, {}});
    pools_[id.index()].name.clear();
    history_.pools[id.index()] = {};
}

PoolId pool_for(const Cluster& cluster, const model::Labels& labels) {
    for (std::size_t pool = 0; pool < cluster.pools().size(); ++pool) {
        const model::Labels& wanted = cluster.pools()[pool].labels;
        if (!wanted.empty() && carries(labels, wanted)) {
            return {static_cast<PoolId::Rep>(pool)};
        }
    }
    return {0};
}

void Cluster::set_node(const model::Node& node) {
    BERTH_CHECK(open_trials_ == 0, "nodes do not change inside a trial");
    const NodeId known = find_node(node.name);
    const bool moves =
        known.is_valid() && names_at_levels(*this, kinds_.words(nodes_[known.index()])) !=
                                names_at_levels(*this, {node.labels, node.topology});
    moves ? change_domains([&] { put_node(known, node); }) : put_node(known, node);
    const NodeId id = find_node(node.name);
    set_resources(id, node);
    set_others(id, node.others);
    settle_requests_by_memory();
}

model::Node Cluster::description(NodeId id) const {
    const NodeState& state = nodes_[id.index()];
    model::Node node = kinds_[state.kind].example;
    node.name = node_names_[id.index()];
    node.labels = kinds_.words(state).labels;
    node.topology = kinds_.words(state).topology;
    node.health = state.health;
    node.others = description_of(others_.on(id));
    node.others.resources = resources_.of_others(id);
    node.resources = resources_.resources_of(id);
    node.cpu.reset();  // those of the example are its own
    node.memory.reset();
    if (state.cpu.capacity != kUnaccounted) node.cpu = {state.cpu.capacity};
    if (state.memory.capacity != kUnaccounted) node.memory = {state.memory.capacity};
    return node;
}

void Cluster::add_gpus(NodeState& node, int gpus) {
    node.first_gpu = gpus_.size();
    node.gpus = static_cast<std::uint8_t>(gpus);
    gpus_.add(gpus);
}

void Cluster::put_node(NodeId id, const model::Node& node) {
    if (id.is_valid()) {
        const bool has_new_gpus = nodes_[id.index()].gpus != node.gpus;
        BERTH_CHECK(!has_new_gpus || !are_gpus_in_use(*this, id),
                    "a node whose GPUs are in use keeps their number");
        if (has_new_gpus) set_others(id, {});  // while its pool counts the GPUs that they leave
        leave_pool(id);
        if (has_new_gpus) add_gpus(nodes_[id.index()], node.gpus);  // those before stay unused
    } else {
        id = {static_cast<NodeId::Rep>(nodes_.size())};
        reserve_some(nodes_, 1);
        reserve_some(node_names_, 1);
        reserve_some(jobs_on_, 1);
        node_names_.push_back(node.name);
        nodes_by_name_.insert(
            id.value, [&](std::uint32_t position) { return base::hash(node_names_[position]); });
        nodes_.emplace_back();
        jobs_on_.emplace_back();
        add_gpus(nodes_.back(), node.gpus);
    }
    NodeState& state = nodes_[id.index()];
    state.words = kinds_.position_of({node.labels, node.topology});
    state.kind = kinds_.kind_of(node, shapes_);
    weigh_kinds();
    state.cpu.capacity = node.cpu ? node.cpu->value : kUnaccounted;
    state.memory.capacity = node.memory ? node.memory->value : kUnaccounted;
    state.health = node.health;
    enter_pool(id, state.pool.is_valid() ? state.pool : pool_for(*this, node.labels));
}

// A resource that is new is asked for by tasks that run already: each is one of "pods".
void Cluster::set_resources(NodeId id, const model::Node& node) {
    if (!resources_.set_node(id, node.resources)) return;
    resources_.forget_tasks();
    for (const auto& [job_id, job] : jobs_) {
        for (const PlacedTask& task : job.placed) {
            const Use use = task.is_releasing ? Use::Releasing : Use::Used;
            const ShapeId asked = asked_by(*this, job.shape, task.place.task);
            resources_.change(asked, task.place.node, use, +1);
        }
        if (!job.reservation) continue;
        for (const TaskPlacement& task : job.reservation->tasks) {
            resources_.change(asked_by(*this, job.shape, task.task), task.node, Use::Held, +1);
        }
    }
}

std::uint64_t Cluster::choose_gpus(NodeId id, std::uint64_t free, int count, Spread spread) const {
    const auto& choice = kinds_[nodes_[id.index()].kind].choice;
    if (choice) return choice->best(free, count, spread);
    std::uint64_t chosen = 0;
    for (; count > 0; --count, free &= free - 1) chosen |= free & (~free + 1);
    return chosen;
}

namespace {

// What a task takes of a host resource it does not name: its GPUs' part of the node, whatever
// others use there: it does not come to ask more or less by what they do.
std::int64_t default_part(std::int64_t capacity, std::int64_t milli_gpus, int node_gpus) {
    return node_gpus == 0 ? 0 : capacity / (node_gpus * 1000) * milli_gpus;
}

MilliGpu share_of(const Cluster& cluster, const model::TaskRequest& request, NodeId node) {
    if (request.gpu_memory == model::Bytes{0}) return request.share;
    const model::Node& kind = cluster.kinds()[cluster.nodes()[node.index()].kind].example;
    return model::share_of(request, kind).value_or(base::kWholeGpu);
}

std::int64_t cpu_of(const Cluster& cluster, const model::TaskRequest& request, NodeId node) {
    const NodeState& state = cluster.nodes()[node.index()];
    if (state.cpu.capacity == kUnaccounted) return 0;
    if (request.cpu) return request.cpu->value;
    return default_part(state.cpu.capacity, share_of(cluster, request, node).value * request.gpus,
                        state.gpus);
}

std::int64_t memory_of(const Cluster& cluster, const model::TaskRequest& request, NodeId node) {
    const NodeState& state = cluster.nodes()[node.index()];
    if (state.memory.capacity == kUnaccounted) return 0;
    if (request.memory) return request.memory->value;
    return default_part(state.memory.capacity,
                        share_of(cluster, request, node).value * request.gpus, state.gpus);
}

}  // namespace

TaskPlacement task_of(const Cluster& cluster, const model::TaskRequest& request, NodeId node,
                      std::uint64_t gpu_mask) {
    GpuPart part{base::kWholeGpu, {}};
    if (!request.is_whole()) {
        const model::Node& kind = cluster.kinds()[cluster.nodes()[node.index()].kind].example;
        part = model::part_of(request, kind).value_or(cluster.whole_gpu(node));
    }
    return {.task = 0,
            .node = node,
            .gpu_mask = gpu_mask,
            .share = part.compute,
            .cpu = {cpu_of(cluster, request, node)},
            .memory = {memory_of(cluster, request, node)},
            .gpu_memory = part.memory,
            .memory_share = model::part_rounded_up(part.memory, cluster.whole_gpu(node).memory)};
}

GpuPart Cluster::part_on(ShapeId shape, NodeId node) const {
    const model::TaskRequest& request = shapes_[shape.index()].request;
    if (request.is_whole()) return {base::kWholeGpu, {}};
    const model::Node& kind = kinds_[nodes_[node.index()].kind].example;
    return model::part_of(request, kind).value_or(whole_gpu(node));
}

TaskPlacement Cluster::task_on(ShapeId shape, NodeId node, std::uint64_t gpu_mask) const {
    return task_of(*this, shapes_[shape.index()].request, node, gpu_mask);
}

MilliGpu Cluster::share_on(ShapeId shape, NodeId node) const {
    return share_of(*this, shapes_[shape.index()].request, node);
}

MilliGpu Cluster::demand(ShapeId shape, PoolId pool) const {
    const MilliGpu gpus = footprint(shape, pool);
    if (pools_[pool.index()].exchange.empty()) return gpus;
    return {gpus.value * exchange_range(*this, shape, pool).first / 1000};
}

MilliGpu Cluster::most_gpus(ShapeId shape, PoolId pool) const {
    const MilliGpu gpus = footprint(shape, pool);
    if (pools_[pool.index()].exchange.empty()) return gpus;
    return {gpus.value * exchange_range(*this, shape, pool).second / 1000};
}

MilliGpu Cluster::footprint(ShapeId shape, PoolId pool) const {
    const model::TaskRequest& request = shapes_[shape.index()].request;
    if (request.gpu_memory == model::Bytes{0}) return request.share * request.gpus;
    const model::Node& smallest = pools_[pool.index()].smallest_gpu;
    return model::share_of(request, smallest).value_or(base::kWholeGpu) * request.gpus;
}

std::int64_t Cluster::cpu_on(ShapeId shape, NodeId node) const {
    return cpu_of(*this, shapes_[shape.index()].request, node);
}

std::int64_t Cluster::memory_on(ShapeId shape, NodeId node) const {
    return memory_of(*this, shapes_[shape.index()].request, node);
}

void Cluster::set_project(const model::Project& project) {
    BERTH_CHECK(open_trials_ == 0, "projects do not change inside a trial");
    ProjectId id = find_project(project.name);
    if (!id.is_valid()) {
        id = {static_cast<ProjectId::Rep>(projects_.size())};
        project_names_.emplace(project.name, id);
        projects_.push_back({});
        for (PoolState& pool : pools_) pool.claims.resize(projects_.size());
        const ProjectId parent = project.parent.empty() ? kRoot : find_project(project.parent);
        BERTH_CHECK(parent.is_valid(), "a parent is declared before its children");
        projects_[id.index()].parent = parent;
        projects_[parent.index()].children.push_back(id);
    }
    projects_[id.index()].project = project;
    std::ranges::sort(projects_[projects_[id.index()].parent.index()].children, {},
                      [&](ProjectId child) {
                          const model::Project& data = projects_[child.index()].project;
                          return std::tie(data.order, data.name);
                      });
    resolve_claims();
    settle_order(*this, id);
}

void Cluster::remove_project(ProjectId id) {
    BERTH_CHECK(open_trials_ == 0, "projects do not change inside a trial");
    ProjectState& removed = projects_[id.index()];
    BERTH_CHECK(removed.children.empty(), "children go before their department");
    for (PoolHistory& history : history_.pools) {
        const PastUse had = std::exchange(history.use_of(id), {});
        if (removed.parent != kRoot) history.use_of(removed.parent).absorb(had);
    }
    for (PoolState& pool : pools_) pool.claims[id.index()] = {};
    std::erase(projects_[removed.parent.index()].children, id);
    project_names_.erase(removed.project.name);
    removed = {};
    resolve_claims();
}

namespace {

void note_kinds_of_rights(PoolState& pool) {
    pool.has_fixed_quota = pool.has_host_limit = pool.has_host_quota = false;
    for (const Claim& claim : pool.claims) {
        pool.has_fixed_quota |= claim.rights.kind == model::QuotaKind::Fixed;
        pool.has_host_limit |= claim.rights.cpu_limit || claim.rights.memory_limit;
        pool.has_host_quota |= claim.rights.cpu_quota || claim.rights.memory_quota;
    }
}

void add_stated(std::int64_t& sum, std::int64_t quota) {
    if (quota != kNotStated) sum = std::max<std::int64_t>(sum, 0) + quota;
}

void add_stated(HostAsk& sum, const HostAsk& quota) {
    add_stated(sum.cpu, quota.cpu);
    add_stated(sum.mebibytes, quota.mebibytes);
}

// Quotas of CPU and memory that it does not state are those of its children; fixed ones are its
// limits.
void resolve_host_rights(Claim& claim, const HostAsk& of_children) {
    model::Entitlement& rights = claim.rights;
    claim.host_quota = of_children;
    if (rights.cpu_quota) claim.host_quota.cpu = rights.cpu_quota->value;
    if (rights.memory_quota) claim.host_quota.mebibytes = rights.memory_quota->value >> 20;
    if (rights.kind != model::QuotaKind::Fixed) return;
    if (rights.cpu_quota) rights.cpu_limit = rights.cpu_quota;
    if (rights.memory_quota) rights.memory_limit = rights.memory_quota;
}

}  // namespace

void Cluster::resolve_claims() {
    for (PoolState& pool : pools_) {
        resolve_quota(pool, kRoot);
        note_kinds_of_rights(pool);
    }
}

void Cluster::resolve_quota(PoolState& pool, ProjectId id) {
    const ProjectState& project = projects_[id.index()];
    MilliGpu of_children{0};
    HostAsk host_of_children{kNotStated, kNotStated};
    for (const ProjectId child : project.children) {
        resolve_quota(pool, child);
        const MilliGpu quota = pool.claims[child.index()].quota;
        of_children = std::min(of_children + std::min(quota, model::kUnlimited), model::kUnlimited);
        add_stated(host_of_children, pool.claims[child.index()].host_quota);
    }
    Claim& claim = pool.claims[id.index()];
    if (id == kRoot) {
        claim.quota = claim.limit = model::kUnlimited;
        return;
    }
    claim.rights = rights_in(project.project, pool.name);
    claim.quota = claim.rights.quota.value_or(of_children);
    claim.limit = claim.rights.limit;
    resolve_host_rights(claim, host_of_children);
    if (claim.rights.kind == model::QuotaKind::Fixed) {
        claim.limit = std::min(claim.limit, claim.quota);
    }
}

}  // namespace berth::cluster
