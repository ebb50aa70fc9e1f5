// SPDX-License-Identifier: Apache-2.0
#include "vgpu/device/engine.h"

#include <algorithm>
#include <limits>

namespace berth::vgpu::device {
namespace {

constexpr std::uint32_t kEveryProcess = std::numeric_limits<std::uint32_t>::max();

bool is_waiting(const EngineQueue& queue) { return queue.process != 0 && queue.backlog_ns() > 0; }

bool belongs_to(const EngineQueue& queue, std::uint32_t process) {
    return process == kEveryProcess || queue.process == process + 1;
}

// The process after `process`, round robin, that has work; kProcessesMax when none has.
std::uint32_t next_turn(const Engine& engine, std::uint32_t process) {
    std::uint32_t best = kProcessesMax;
    std::uint32_t best_distance = kProcessesMax + 1;
    for (std::uint32_t i = 0; i < engine.queues_end; ++i) {
        const EngineQueue& queue = engine.queues[i];
        if (!is_waiting(queue)) continue;
        const std::uint32_t who = queue.process - 1;
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
    for (std::uint32_t i = 0; i < engine.queues_end; ++i)
        if (belongs_to(engine.queues[i], process) && is_waiting(engine.queues[i])) return true;
    return false;
}

// Serves the queues of `process` for at most `most_ns`, ending when the first of them runs dry.
std::uint64_t serve(Engine& engine, std::uint32_t process, std::uint64_t most_ns) {
    std::uint64_t wanted = 0;
    std::uint64_t shortest_ns = std::numeric_limits<std::uint64_t>::max();
    for (std::uint32_t i = 0; i < engine.queues_end; ++i) {
        const EngineQueue& queue = engine.queues[i];
        if (!belongs_to(queue, process) || !is_waiting(queue)) continue;
        wanted += queue.permille;
        shortest_ns = std::min(shortest_ns, queue.backlog_ns());
    }
    const std::uint64_t crowd = std::max<std::uint64_t>(wanted, 1000);
    // Written so that an hour of work does not overflow.
    const std::uint64_t dry_ns =
        shortest_ns / 1000 * crowd + (shortest_ns % 1000 * crowd + 999) / 1000;
    const std::uint64_t step_ns = std::min(most_ns, dry_ns);
    const std::uint64_t each_ns = step_ns / crowd * 1000 + step_ns % crowd * 1000 / crowd;
    for (std::uint32_t i = 0; i < engine.queues_end; ++i) {
        EngineQueue& queue = engine.queues[i];
        if (!belongs_to(queue, process) || !is_waiting(queue)) continue;
        const std::uint64_t served = std::min(each_ns, queue.backlog_ns());
        queue.served_ns += served;
        if (queue.backlog_ns() == 0) queue.dry_ns = engine.clock_ns + step_ns;
        engine.served_ns[queue.process - 1] += served;
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

std::uint32_t open_queue(Engine& engine, std::uint32_t process) {
    std::uint32_t queue = 0;
    while (queue < kQueuesMax && engine.queues[queue].process != 0) ++queue;
    if (queue == kQueuesMax) return queue;
    engine.queues_end = std::max(engine.queues_end, queue + 1);
    engine.queues[queue] = {process + 1, 0, 0, 0, 0};
    return queue;
}

void close_queue(Engine& engine, std::uint32_t queue) { engine.queues[queue].process = 0; }

void close_queues_of(Engine& engine, std::uint32_t process) {
    for (std::uint32_t i = 0; i < engine.queues_end; ++i)
        if (belongs_to(engine.queues[i], process)) close_queue(engine, i);
    engine.served_ns[process] = 0;
}

std::uint64_t submit(Engine& engine, std::uint32_t queue, std::uint32_t permille,
                     std::uint64_t duration_ns) {
    EngineQueue& to = engine.queues[queue];
    to.permille = permille;
    to.submitted_ns += duration_ns;
    return to.submitted_ns;
}

}  // namespace berth::vgpu::device
