// SPDX-License-Identifier: Apache-2.0
#include "scheduling/backfill/node_windows.h"

#include <algorithm>
#include <bit>
#include <tuple>

namespace berth::scheduling {

using cluster::Job;
using model::Duration;

End end_of(const Run& run, TimePoint now) {
    const bool has_declared = run.declared > Duration{0};
    if (has_declared && run.start + run.declared > now) return {run.start + run.declared};
    if (run.is_service) return {{}, false, true};
    return {now + std::max(now - run.start, kShortestRun), false};
}

TimePoint NodeWindows::GpuWindow::free_at(TimePoint now) const {
    const TimePoint known = std::max(now, declared);
    return unknown == 0 ? known : std::max(known, end_of({unknown_since}, now).time);
}

const NodeWindows::Node& NodeWindows::on(const PoolView& view, NodeId node) {
    known_.resize(view.cluster.nodes().size());
    Known& known = known_[node.index()];
    const cluster::NodeState& state = view.cluster.nodes()[node.index()];
    const bool is_known = known.stamp == state.stamp && known.gpus == state.gpus &&
                          known.whole == state.whole[static_cast<std::size_t>(View::Coming)] &&
                          known.from <= view.now && view.now < known.until;
    if (!is_known) look_at(view, node, known);
    return known.node;
}

void NodeWindows::find_occupants(const cluster::Cluster& cluster, NodeId node) {
    occupants_.clear();
    for (const JobId id : cluster.jobs_on(node)) {
        if (std::ranges::find(occupants_, id, &Occupant::job) != occupants_.end()) continue;
        const Job& job = cluster.job(id);
        Occupant occupant{id, 0, run_of(job)};
        for (const cluster::PlacedTask& task : job.placed) {
            if (task.place.node == node && !task.is_releasing) occupant.gpus |= task.place.gpu_mask;
        }
        if (occupant.gpus != 0) occupants_.push_back(occupant);
    }
    std::ranges::sort(occupants_, {}, &Occupant::job);
}

void NodeWindows::look_at(const PoolView& view, NodeId node, Known& known) {
    const cluster::NodeState& state = view.cluster.nodes()[node.index()];
    const TimePoint now = view.now;
    known.node = {};
    auto& [windows, unknown, next_end] = known.node;
    known.stamp = state.stamp;
    known.gpus = state.gpus;
    known.whole = state.whole[static_cast<std::size_t>(View::Coming)];
    known.from = now;
    known.until = TimePoint::max();
    for (int gpu = 0; gpu < state.gpus; ++gpu) windows.push_back({.gpu = gpu});
    find_occupants(view.cluster, node);
    std::uint64_t used = 0, is_for_ever = 0;
    for (const Occupant& occupant : occupants_) {
        const End end = end_of(occupant.run, now);
        used |= occupant.gpus;
        if (end.is_never) is_for_ever |= occupant.gpus;
        if (end.is_declared) next_end = std::min(next_end.value_or(end.time), end.time);
        // Before then it is as good as any other that has just started.
        const TimePoint settled = occupant.run.start + kShortestRun + Duration{1};
        if (!end.is_declared && settled > now) known.until = std::min(known.until, settled);
        for (std::uint64_t mask = occupant.gpus; mask != 0; mask &= mask - 1) {
            GpuWindow& window = windows[static_cast<std::size_t>(std::countr_zero(mask))];
            if (end.is_declared) {
                window.declared = std::max(window.declared, end.time);
            } else {
                ++window.unknown;
                window.unknown_since = std::min(window.unknown_since, occupant.run.start);
                unknown.push_back({window.gpu, occupant.job});
            }
        }
    }
    known.until = std::min(known.until, next_end.value_or(known.until));
    const std::uint64_t unusable = is_for_ever | (~used & ~known.whole);
    const auto left = std::ranges::remove_if(
        windows, [&](const GpuWindow& window) { return (unusable >> window.gpu & 1) != 0; });
    windows.erase(left.begin(), left.end());
    std::ranges::sort(windows, {}, [&](const GpuWindow& window) {
        return std::tuple(window.unknown, window.free_at(now), window.gpu);
    });
    // What was declared stands still, what was not moves on: whose windows have both change places.
    const auto has_both = [](const GpuWindow& window) {
        return window.unknown > 0 && window.declared > TimePoint::min();
    };
    if (std::ranges::any_of(windows, has_both)) known.until = now;
}

}  // namespace berth::scheduling
