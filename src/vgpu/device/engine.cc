// SPDX-License-Identifier: Apache-2.0
#include "vgpu/device/engine.h"

#include <algorithm>
#include <limits>

namespace berth::vgpu::device {
namespace {

constexpr std::uint32_t kEveryProcess = std::numeric_limits<std::uint32_t>::max();

bool is_waiting(const Lane& lane) { return lane.process != 0 && lane.backlog_ns() > 0; }

bool belongs_to(const Lane& lane, std::uint32_t process) {
    return process == kEveryProcess || lane.process == process + 1;
}

// The process after `process`, round robin, that has work; kProcessesMax when none has.
std::uint32_t next_turn(const Engine& engine, std::uint32_t process) {
    std::uint32_t best = kProcessesMax;
    std::uint32_t best_distance = kProcessesMax + 1;
    for (std::uint32_t i = 0; i < engine.lanes_end; ++i) {
        const Lane& lane = engine.lanes[i];
        if (!is_waiting(lane)) continue;
        const std::uint32_t who = lane.process - 1;
        // 1 is the next one, kProcessesMax is `process` itself.
        const std::uint32_t distance = (who + kProcessesMax - process - 1) % kProcessesMax + 1;
        if (distance < best_distance) {
            best = who;
            best_distance = distance;
        }
    }
    return best;
}

bool has_work(const Engine& engine, std::uint32_t process) {
    for (std::uint32_t i = 0; i < engine.lanes_end; ++i)
        if (belongs_to(engine.lanes[i], process) && is_waiting(engine.lanes[i])) return true;
    return false;
}

// Serves the lanes of `process` for at most `most_ns`, ending when the first of them runs dry.
std::uint64_t serve(Engine& engine, std::uint32_t process, std::uint64_t most_ns) {
    std::uint64_t wanted = 0;
    std::uint64_t shortest_ns = std::numeric_limits<std::uint64_t>::max();
    for (std::uint32_t i = 0; i < engine.lanes_end; ++i) {
        const Lane& lane = engine.lanes[i];
        if (!belongs_to(lane, process) || !is_waiting(lane)) continue;
        wanted += lane.permille;
        shortest_ns = std::min(shortest_ns, lane.backlog_ns());
    }
    const std::uint64_t crowd = std::max<std::uint64_t>(wanted, 1000);
    // Written so that an hour of work does not overflow.
    const std::uint64_t dry_ns =
        shortest_ns / 1000 * crowd + (shortest_ns % 1000 * crowd + 999) / 1000;
    const std::uint64_t step_ns = std::min(most_ns, dry_ns);
    const std::uint64_t each_ns = step_ns / crowd * 1000 + step_ns % crowd * 1000 / crowd;
    for (std::uint32_t i = 0; i < engine.lanes_end; ++i) {
        Lane& lane = engine.lanes[i];
        if (!belongs_to(lane, process) || !is_waiting(lane)) continue;
        const std::uint64_t served = std::min(each_ns, lane.backlog_ns());
        lane.served_ns += served;
        if (lane.backlog_ns() == 0) lane.dry_ns = engine.clock_ns + step_ns;
        engine.served_ns[lane.process - 1] += served;
    }
    return step_ns;
}

}  // namespace

void advance(Engine& engine, EngineRule rule, std::uint64_t now_ns) {
    while (engine.clock_ns < now_ns) {
        std::uint32_t who = kEveryProcess;
        std::uint64_t most_ns = now_ns - engine.clock_ns;
        if (rule.sharing == Sharing::Slices) {
            if (engine.slice_left_ns == 0 || !has_work(engine, engine.turn)) {
                const std::uint32_t next = next_turn(engine, engine.turn);
                if (next != kProcessesMax) engine.turn = next;
                engine.slice_left_ns = rule.slice_ns;
            }
            who = engine.turn;
            most_ns = std::min(most_ns, engine.slice_left_ns);
        }
        if (!has_work(engine, who)) {
            engine.clock_ns = now_ns;
            return;
        }
        const std::uint64_t step_ns = serve(engine, who, most_ns);
        engine.clock_ns += step_ns;
        engine.busy_ns += step_ns;
        if (rule.sharing == Sharing::Slices) engine.slice_left_ns -= step_ns;
    }
}

std::uint32_t open_lane(Engine& engine, std::uint32_t process) {
    std::uint32_t lane = 0;
    while (lane < kLanesMax && engine.lanes[lane].process != 0) ++lane;
    if (lane == kLanesMax) return lane;
    engine.lanes_end = std::max(engine.lanes_end, lane + 1);
    engine.lanes[lane] = {process + 1, 0, 0, 0, 0};
    return lane;
}

void close_lane(Engine& engine, std::uint32_t lane) { engine.lanes[lane].process = 0; }

void close_lanes_of(Engine& engine, std::uint32_t process) {
    for (std::uint32_t i = 0; i < engine.lanes_end; ++i)
        if (belongs_to(engine.lanes[i], process)) close_lane(engine, i);
    engine.served_ns[process] = 0;
}

std::uint64_t submit(Engine& engine, std::uint32_t lane, std::uint32_t permille,
                     std::uint64_t duration_ns) {
    Lane& to = engine.lanes[lane];
    to.permille = permille;
    to.submitted_ns += duration_ns;
    return to.submitted_ns;
}

}  // namespace berth::vgpu::device
