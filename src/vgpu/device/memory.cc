// SPDX-License-Identifier: Apache-2.0
#include "vgpu/device/memory.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "vgpu/device/control_group.h"
#include "vgpu/device/processes.h"
#include "vgpu/device/slices.h"

namespace berth::vgpu::device {
namespace {

bool has_holder(const Block& block) {
    return std::any_of(std::begin(block.holders), std::end(block.holders),
                       [](const auto& word) { return word.load() != 0; });
}

std::uint32_t first_holder(const Block& block) {
    for (std::uint32_t word = 0; word < std::size(block.holders); ++word)
        if (const auto bits = block.holders[word].load(); bits != 0)
            return word * 64 + static_cast<std::uint32_t>(std::countr_zero(bits));
    return kNobody;
}

std::atomic<std::uint64_t>& holder_word(Block& block, std::uint32_t process) {
    return block.holders[process / 64];
}

std::uint64_t holder_bit(std::uint32_t process) { return 1ULL << process % 64; }

// A process that is checkpointed has nothing on any GPU.
bool is_on_gpu(const Layout& layout, std::uint32_t process) {
    return layout.processes[process].state.load() != CheckpointState::Checkpointed;
}

void count(Layout& layout, std::uint32_t process, std::uint32_t gpu, std::uint64_t bytes) {
    if (is_on_gpu(layout, process)) layout.used_bytes[placed_on(layout, process, gpu)] += bytes;
}

void count_off(Layout& layout, std::uint32_t process, std::uint32_t gpu, std::uint64_t bytes) {
    if (is_on_gpu(layout, process)) layout.used_bytes[placed_on(layout, process, gpu)] -= bytes;
}

bool fits(const Layout& layout, std::uint32_t gpu, std::uint64_t bytes) {
    const Description& d = layout.description;
    return bytes <= memory_of(d, gpu) - reserved_of(d, gpu) - layout.used_bytes[gpu];
}

// What is counted for `process` on that GPU of the machine.
std::uint64_t bytes_on(const Layout& layout, std::uint32_t process, std::uint32_t gpu) {
    if (!is_on_gpu(layout, process)) return 0;
    std::uint64_t bytes = 0;
    for (std::uint32_t i = 0; i < units(layout.description); ++i)
        if (placed_on(layout, process, i) == gpu)
            bytes +=
                layout.processes[process].contexts[i].load() * layout.description.context_bytes;
    for (std::uint32_t i = 0; i < layout.blocks_end; ++i) {
        const Block& block = layout.blocks[i];
        if (block.payer.load() == process && placed_on(layout, process, block.gpu) == gpu)
            bytes += block.bytes.load();
    }
    return bytes;
}

// Of all processes in this one's control group.
std::uint64_t group_bytes_on(const SharedState& state, std::uint32_t gpu) {
    const std::uint64_t group = control_group_id(state.group());
    std::uint64_t bytes = 0;
    for (std::uint32_t process = 0; process < kProcessesMax; ++process) {
        const Process& record = state->processes[process];
        if (record.pid.load() != 0 && record.group.load() == group)
            bytes += bytes_on(*state, process, gpu);
    }
    return bytes;
}

bool is_within_limit(const SharedState& state, std::uint32_t gpu, std::uint64_t bytes) {
    const std::uint64_t limit = memory_limit(state.group(), gpu);
    return limit == kNoLimit || group_bytes_on(state, gpu) + bytes <= limit;
}

// Where it does not fit, the dead are asked first.
bool make_room(const SharedState& state, std::uint32_t process, std::uint32_t gpu,
               std::uint64_t bytes) {
    const std::uint32_t place = placed_on(*state, process, gpu);
    const auto has_room = [&] {
        return fits(*state, place, bytes) && is_within_limit(state, place, bytes);
    };
    if (has_room()) return true;
    sweep(state, Sweep::Now);
    return has_room();
}

std::uint32_t free_record(const SharedState& state) {
    Layout& layout = *state;
    for (std::uint32_t tried = 0; tried < kBlocksMax; ++tried) {
        const std::uint32_t index = (layout.block_hint + tried) % kBlocksMax;
        if (index >= layout.blocks_end && !state.has_records(index + 1)) return kNobody;
        if (layout.blocks[index].bytes.load() != 0) continue;
        layout.block_hint = index + 1;
        layout.blocks_end = std::max(layout.blocks_end, index + 1);
        return index;
    }
    return kNobody;
}

// Room in the file, or 0: past the amount that has contents, or the file cannot grow.
std::uint64_t place_contents(const SharedState& state, std::uint32_t gpu, std::uint64_t bytes) {
    Layout& layout = *state;
    if (layout.contents_bytes[gpu] + bytes > layout.description.contents_bytes) return 0;
    const std::uint64_t offset = layout.contents_end;
    layout.contents_end += bytes;
    if (::ftruncate(state.file(), static_cast<off_t>(layout.contents_end)) != 0) return 0;
    layout.contents_bytes[gpu] += bytes;
    return offset;
}

void free_block(const SharedState& state, Block& block) {
    Layout& layout = *state;
    const std::uint64_t bytes = block.bytes.load();
    if (block.offset != 0) {
        ::fallocate(state.file(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                    static_cast<off_t>(block.offset), static_cast<off_t>(bytes));
        layout.contents_bytes[block.gpu] -= bytes;
    }
    count_off(layout, block.payer.load(), block.gpu, bytes);
    block.bytes.store(0);
    layout.block_hint =
        std::min(layout.block_hint, static_cast<std::uint32_t>(&block - layout.blocks));
}

// The caller holds the lock.
void drop_holder(const SharedState& state, std::uint32_t process, Block& block) {
    holder_word(block, process).fetch_and(~holder_bit(process));
    const std::uint32_t heir = first_holder(block);
    if (heir == kNobody) {
        free_block(state, block);
    } else if (block.payer.load() == process) {
        const std::uint64_t bytes = block.bytes.load();
        count_off(*state, process, block.gpu, bytes);
        block.payer.store(heir);
        count(*state, heir, block.gpu, bytes);
    }
}

}  // namespace

std::uint32_t placed_on(const Layout& layout, std::uint32_t process, std::uint32_t gpu) {
    const std::uint64_t placement = layout.processes[process].placement.load();
    return static_cast<std::uint32_t>(placement >> gpu * 4U & 15U);
}

std::uint32_t take(const SharedState& state, const Wish& wish) {
    Layout& layout = *state;
    if (wish.bytes == 0 || wish.bytes > layout.description.memory_bytes) return kNobody;
    const std::uint64_t bytes = (wish.bytes + kPageBytes - 1) / kPageBytes * kPageBytes;
    const Locked locked(state);
    if (!make_room(state, wish.process, wish.gpu, bytes)) return kNobody;
    const std::uint32_t index = free_record(state);
    if (index == kNobody) return kNobody;
    Block& block = layout.blocks[index];
    block.offset = place_contents(state, wish.gpu, bytes);
    block.serial = layout.next_serial++;
    block.payer.store(wish.process);
    block.gpu = wish.gpu;
    block.is_shareable = wish.is_shareable ? 1 : 0;
    for (auto& word : block.holders) word.store(0);
    holder_word(block, wish.process).store(holder_bit(wish.process));
    block.bytes.store(bytes);
    count(layout, wish.process, wish.gpu, bytes);
    return index;
}

bool hold(const SharedState& state, std::uint32_t process, std::uint32_t block,
          std::uint64_t serial) {
    if (block >= kBlocksMax) return false;
    const Locked locked(state);
    Block& held = state->blocks[block];
    if (held.bytes.load() == 0 || held.serial != serial) return false;
    holder_word(held, process).fetch_or(holder_bit(process));
    return true;
}

void let_go(const SharedState& state, std::uint32_t process, std::uint32_t block) {
    const Locked locked(state);
    drop_holder(state, process, state->blocks[block]);
}

bool add_context(const SharedState& state, std::uint32_t process, std::uint32_t gpu) {
    const std::uint64_t bytes = state->description.context_bytes;
    const Locked locked(state);
    if (!make_room(state, process, gpu, bytes)) return false;
    state->processes[process].contexts[gpu].fetch_add(1);
    count(*state, process, gpu, bytes);
    return true;
}

void remove_context(const SharedState& state, std::uint32_t process, std::uint32_t gpu) {
    const Locked locked(state);
    state->processes[process].contexts[gpu].fetch_sub(1);
    count_off(*state, process, gpu, state->description.context_bytes);
}

Usage usage(const SharedState& state, std::uint32_t gpu) {
    const Locked locked(state);
    sweep(state, Sweep::WhenDue);
    const Description& description = state->description;
    // In a control group with a limit, that is how large the GPU looks.
    const std::uint64_t limit = memory_limit(state.group(), gpu);
    if (limit < description.memory_bytes - description.reserved_bytes) {
        return {limit, 0, std::min(limit, group_bytes_on(state, gpu))};
    }
    std::uint64_t used_bytes = state->used_bytes[gpu];
    for (std::uint32_t slice = description.gpus; slice < units(description); ++slice)
        if (gpu_of(description, slice) == gpu) used_bytes += state->used_bytes[slice];
    return {memory_of(description, gpu), reserved_of(description, gpu), used_bytes};
}

std::uint64_t used_by(const SharedState& state, std::uint32_t process, std::uint32_t gpu) {
    const Locked locked(state);
    sweep(state, Sweep::WhenDue);
    return bytes_on(*state, process, gpu);
}

bool has_room(const Layout& layout, std::uint32_t process, std::uint64_t placement) {
    std::uint64_t wanted[kGpusMax] = {};
    for (std::uint32_t i = 0; i < units(layout.description); ++i)
        wanted[placement >> i * 4U & 15U] +=
            layout.processes[process].contexts[i].load() * layout.description.context_bytes;
    for (std::uint32_t i = 0; i < layout.blocks_end; ++i)
        if (layout.blocks[i].payer.load() == process)
            wanted[placement >> layout.blocks[i].gpu * 4U & 15U] += layout.blocks[i].bytes.load();
    for (std::uint32_t gpu = 0; gpu < units(layout.description); ++gpu)
        if (!fits(layout, gpu, wanted[gpu])) return false;
    return true;
}

void forget_holder(const SharedState& state, std::uint32_t process) {
    for (std::uint32_t i = 0; i < state->blocks_end; ++i) {
        Block& block = state->blocks[i];
        if (block.bytes.load() != 0 &&
            (holder_word(block, process).load() & holder_bit(process)) != 0)
            drop_holder(state, process, block);
    }
}

void recount(Layout& layout) {
    for (auto& bytes : layout.used_bytes) bytes = 0;
    for (auto& bytes : layout.contents_bytes) bytes = 0;
    for (std::uint32_t i = 0; i < layout.blocks_end; ++i) {
        const Block& block = layout.blocks[i];
        const std::uint64_t bytes = block.bytes.load();
        if (bytes == 0) continue;
        count(layout, block.payer.load(), block.gpu, bytes);
        if (block.offset != 0) layout.contents_bytes[block.gpu] += bytes;
    }
    for (std::uint32_t process = 0; process < kProcessesMax; ++process)
        for (std::uint32_t gpu = 0; gpu < units(layout.description); ++gpu)
            count(
                layout, process, gpu,
                layout.processes[process].contexts[gpu].load() * layout.description.context_bytes);
}

void repair(const SharedState& state) {
    Layout& layout = *state;
    layout.block_hint = 0;
    const std::uint32_t end = std::exchange(layout.blocks_end, 0);
    for (std::uint32_t i = 0; i < end; ++i)
        if (layout.blocks[i].bytes.load() != 0) layout.blocks_end = i + 1;
    for (std::uint32_t i = 0; i < layout.blocks_end; ++i) {
        Block& block = layout.blocks[i];
        if (block.bytes.load() == 0) continue;
        // No process holds it: its last holder died while it let go.
        if (!has_holder(block)) free_block(state, block);
        // A dead payer's heir was found and not yet named.
        else if ((holder_word(block, block.payer.load()).load() & holder_bit(block.payer.load())) ==
                 0)
            block.payer.store(first_holder(block));
    }
    recount(layout);
}

}  // namespace berth::vgpu::device
