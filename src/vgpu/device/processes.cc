// SPDX-License-Identifier: Apache-2.0
#include "vgpu/device/processes.h"

#include <fcntl.h>
#include <unistd.h>

#include <charconv>
#include <cstdio>
#include <string_view>

#include "vgpu/device/control_group.h"
#include "vgpu/device/memory.h"

namespace berth::vgpu::device {
namespace {

constexpr std::uint64_t kSweepEveryNs = 1'000'000;
// GPU i of the process is GPU i of the machine.
constexpr std::uint64_t kOwnPlacement = 0xfedcba9876543210;

struct Life {
    char status = 'X';  // as in /proc: Z and X are dead
    std::uint64_t threads = 0;
    std::uint64_t start_time = 0;
    std::uint64_t start_stack = 0;  // another one after exec; 0: not for us to see
};

// Fields of /proc/PID/stat, counted from 1; a process that is not there is as one that is dead.
Life life_of(std::int32_t pid) {
    char path[32];
    std::snprintf(path, sizeof(path), "/proc/%d/stat", pid);
    const int file = ::open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return {};
    char buffer[1024];
    const ssize_t size = ::read(file, buffer, sizeof(buffer));
    ::close(file);
    if (size <= 0) return {};
    std::string_view text(buffer, static_cast<std::size_t>(size));
    // The name, field 2, may hold anything, but no later field holds a parenthesis.
    text.remove_prefix(text.rfind(')') + 2);
    Life life;
    life.status = text.front();
    for (int field = 3; !text.empty() && field <= 28; ++field) {
        const auto end = text.find(' ');
        if (field == 20) std::from_chars(text.data(), text.data() + end, life.threads);
        if (field == 22) std::from_chars(text.data(), text.data() + end, life.start_time);
        if (field == 28) std::from_chars(text.data(), text.data() + end, life.start_stack);
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    }
    return life;
}

// A first thread that ended before the others shows as a zombie, too. A program that replaced
// itself by exec has lost what it had, as with a driver that closes its files.
bool is_alive(const Process& process) {
    const Life life = life_of(process.pid.load());
    if (life.status == 'X' || life.start_time != process.start_time) return false;
    const bool is_known = life.start_stack != 0 && process.start_stack != 0;
    if (is_known && life.start_stack != process.start_stack) return false;
    return life.status != 'Z' || life.threads > 1;
}

void release(const SharedState& state, std::uint32_t number) {
    Process& process = state->processes[number];
    // Counted again on the GPU, so that taking it off again is the one way for all.
    process.state.store(CheckpointState::Running);
    forget_holder(state, number);
    for (auto& contexts : process.contexts) contexts.store(0);
    for (Engine& engine : state->engines) close_queues_of(engine, number);
    process.pid.store(0);
    recount(*state);
}

std::uint32_t free_number(const Layout& layout) {
    for (std::uint32_t number = 0; number < kProcessesMax; ++number)
        if (layout.processes[number].pid.load() == 0) return number;
    return kNobody;
}

}  // namespace

std::uint32_t enrol(const SharedState& state) {
    const std::int32_t pid = ::getpid();
    const Life life = life_of(pid);
    const Locked locked(state);
    // The dead are looked for when their places are needed: hundreds may start at once.
    std::uint32_t number = free_number(*state);
    if (number == kNobody) {
        sweep(state, Sweep::Now);
        number = free_number(*state);
    }
    if (number == kNobody) return kNobody;
    Process& process = state->processes[number];
    process.state.store(CheckpointState::Running);
    process.calls.store(0);
    process.pending.store(0);
    process.placement.store(kOwnPlacement);
    process.start_time = life.start_time;
    process.start_stack = life.start_stack;
    process.died_ns = 0;
    process.is_unmovable.store(0);
    process.group.store(control_group_id(state.group()));
    process.pid.store(pid);
    return number;
}

std::uint32_t find_process(const SharedState& state, std::int32_t pid) {
    for (std::uint32_t number = 0; number < kProcessesMax; ++number)
        if (pid != 0 && state->processes[number].pid.load() == pid) return number;
    return kNobody;
}

std::vector<std::uint32_t> enrolled(const SharedState& state) {
    const Locked locked(state);
    sweep(state, Sweep::WhenDue);
    std::vector<std::uint32_t> numbers;
    for (std::uint32_t number = 0; number < kProcessesMax; ++number)
        if (state->processes[number].pid.load() != 0) numbers.push_back(number);
    return numbers;
}

void sweep(const SharedState& state, Sweep when) {
    const std::uint64_t now_ns = steady_ns();
    if (when == Sweep::WhenDue && now_ns < state->swept_ns + kSweepEveryNs) return;
    state->swept_ns = now_ns;
    for (std::uint32_t number = 0; number < kProcessesMax; ++number) {
        Process& process = state->processes[number];
        if (process.pid.load() == 0) continue;
        if (process.died_ns == 0) {
            if (is_alive(process)) continue;
            process.died_ns = now_ns;
        }
        if (now_ns >= process.died_ns + state->description.release_delay_ns) release(state, number);
    }
}

}  // namespace berth::vgpu::device
