// SPDX-License-Identifier: Apache-2.0
#include "lifecycle/packing.h"

#include <algorithm>
#include <set>

#include "model/job/packing.h"

namespace berth::lifecycle {
namespace {

// What is hardest for it among the nodes on which it may run, or runs: the least memory of a GPU
// and the largest context. No memory where one of them does not say how much it has.
model::Node smallest_gpu(const State& state, const model::JobRecord& record) {
    const cluster::Cluster& cluster = state.cluster;
    const cluster::Job& job = cluster.job(record.id);
    const auto pools = cluster.pools_of(job);
    std::optional<model::Node> smallest;
    std::set<std::uint16_t> seen;
    for (std::size_t i = 0; i < cluster.nodes().size(); ++i) {
        const cluster::NodeState& node = cluster.nodes()[i];
        const model::NodeId id{static_cast<model::NodeId::Rep>(i)};
        const bool is_there = !record.tasks.empty() && record.tasks.front().node == id;
        const bool may_run = std::ranges::find(pools, node.pool) != pools.end() &&
                             cluster.allows(job.shape, node.kind);
        if ((!may_run && !is_there) || !seen.insert(node.kind).second) continue;
        model::Node kind = cluster.description(id);
        kind.gpu_context = std::max(kind.gpu_context, smallest.value_or(kind).gpu_context);
        if (smallest && memory_left_by_driver(*smallest) <= memory_left_by_driver(kind)) {
            smallest->gpu_context = kind.gpu_context;
        } else {
            smallest = std::move(kind);
        }
    }
    return smallest.value_or(model::Node{});
}

std::optional<model::GpuPart> part_by_profile(const State& state, const model::JobRecord& record) {
    if (record.is_parted || state.profiles.is_parted(record)) return {};
    const model::GpuProfile* profile = state.profiles.of(record);
    if (profile == nullptr) return {};
    return model::packed_part(*profile, smallest_gpu(state, record));
}

}  // namespace

std::optional<std::optional<model::GpuPart>> change_of_part(const State& state,
                                                            const model::JobRecord& record) {
    if (!record.spec.may_share) return {};
    const bool is_settled = record.releasing.empty() && record.reserved.empty() &&
                            record.frozen.empty() && record.state != model::JobState::Cancelling;
    if (!is_settled || (!record.tasks.empty() && record.spec.packed)) return {};
    auto part = part_by_profile(state, record);
    if (part == record.spec.packed) return {};
    return part;
}

void pack(State& state, model::JobRecord& record, const std::optional<model::GpuPart>& part) {
    record.spec.packed = part;
    state.cluster.set_request(record.id, model::asked(record.spec));
    for (model::TaskPlacement& task : record.tasks) {
        task = state.cluster.job(record.id).placed.front().place;
    }
}

}  // namespace berth::lifecycle
