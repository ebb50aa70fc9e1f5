// SPDX-License-Identifier: Apache-2.0
#include "vgpu/interposer/process/blocks.h"

#include <pthread.h>
#include <stdlib.h>

#include "vgpu/interposer/locked.h"

namespace berth::vgpu::interposer {
namespace {

constexpr std::uint64_t kSmallMax = 1U << 20U;
constexpr std::uint64_t kSmallUnit = 512;
constexpr std::uint64_t kAbsurd = std::uint64_t{1} << 60;
constexpr std::size_t kShards = 32;

struct Shard {
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    Block* blocks = nullptr;
    std::size_t room = 0;  // a power of two
    std::size_t count = 0;
};
Shard shards[kShards];

struct Small {
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    std::uint64_t bytes = 0;
};
Small small[ledger::kGpusMax];

std::uint64_t mixed(std::uint64_t handle) {
    handle ^= handle >> 29U;
    handle *= 0x9e3779b97f4a7c15U;
    return handle ^ handle >> 32U;
}

Shard& shard_of(std::uint64_t handle) { return shards[mixed(handle) >> 48U & (kShards - 1)]; }

// Where it is, or the free place where it would be.
Block& find(const Shard& shard, Kind kind, std::uint64_t handle) {
    std::size_t index = mixed(handle) & (shard.room - 1);
    while (shard.blocks[index].kind != Kind::none &&
           (shard.blocks[index].kind != kind || shard.blocks[index].handle != handle))
        index = (index + 1) & (shard.room - 1);
    return shard.blocks[index];
}

bool grow(Shard& shard) {
    Shard larger;
    larger.room = shard.room == 0 ? 64 : shard.room * 2;
    larger.blocks = static_cast<Block*>(::calloc(larger.room, sizeof(Block)));
    if (larger.blocks == nullptr) return false;
    for (std::size_t index = 0; index < shard.room; ++index) {
        const Block& block = shard.blocks[index];
        if (block.kind != Kind::none) find(larger, block.kind, block.handle) = block;
    }
    ::free(shard.blocks);
    shard.blocks = larger.blocks;
    shard.room = larger.room;
    return true;
}

// Closes the gap that a removed block leaves, so that no search ends early.
void remove_at(Shard& shard, std::size_t gap) {
    const std::size_t mask = shard.room - 1;
    for (std::size_t index = (gap + 1) & mask; shard.blocks[index].kind != Kind::none;
         index = (index + 1) & mask) {
        const std::size_t home = mixed(shard.blocks[index].handle) & mask;
        if (((index - home) & mask) < ((index - gap) & mask)) continue;
        shard.blocks[gap] = shard.blocks[index];
        gap = index;
    }
    shard.blocks[gap] = Block{};
    --shard.count;
}

// Counts a piece whose page is there, or is `taken` for it; what is not needed of that goes back.
bool add_small(Gpu gpu, std::uint64_t piece, std::uint64_t taken) {
    Small& pieces = small[gpu];
    const Locked locked(pieces.lock);
    const std::uint64_t after = pieces.bytes + piece;
    const std::uint64_t more = whole_pages(after) - whole_pages(pieces.bytes);
    if (more > taken) return false;
    pieces.bytes = after;
    give(gpu, taken - more);
    return true;
}
static_assert(kSmallMax <= kPageBytes);  // so a piece needs no more than one more page

void give_charge(const Block& block) {
    if (block.pool == nullptr) give_block(block.gpu, block.bytes);
}

}  // namespace

bool remember(const Block& block) {
    Shard& shard = shard_of(block.handle);
    const Locked locked(shard.lock);
    if ((shard.count + 1) * 2 > shard.room && !grow(shard)) return false;
    Block& place = find(shard, block.kind, block.handle);
    if (place.kind == Kind::none)
        ++shard.count;
    else
        give_charge(place);  // what had this handle has gone unseen
    place = block;
    return true;
}

Block forget(Kind kind, std::uint64_t handle) {
    Shard& shard = shard_of(handle);
    const Locked locked(shard.lock);
    if (shard.room == 0) return {};
    Block& place = find(shard, kind, handle);
    const Block block = place;
    if (block.kind != Kind::none) remove_at(shard, static_cast<std::size_t>(&place - shard.blocks));
    return block;
}

void forget_context(CUcontext context) {
    forget_context_device(context);
    for (Shard& shard : shards) {
        const Locked locked(shard.lock);
        for (std::size_t index = 0; index < shard.room;) {
            const Block block = shard.blocks[index];
            if (block.kind == Kind::none || block.context != context) {
                ++index;
                continue;
            }
            give_charge(block);
            remove_at(shard, index);  // another block may have moved here: look again
        }
    }
}

void forget_all_blocks() {
    for (Shard& shard : shards) {
        ::free(shard.blocks);
        shard = Shard{};
    }
    for (Small& each : small) each = Small{};
}

bool take_block(Gpu gpu, std::uint64_t bytes) {
    if (gpu == kUnlimited || bytes == 0) return true;
    if (gpu == kNotGiven || bytes > kAbsurd) return take(gpu, bytes);  // never
    if (bytes > kSmallMax) return take(gpu, whole_pages(bytes));
    const std::uint64_t piece = (bytes + kSmallUnit - 1) / kSmallUnit * kSmallUnit;
    if (add_small(gpu, piece, 0)) return true;
    // Nothing is locked while it waits: a piece that another thread frees may be the room.
    return take(gpu, kPageBytes) && add_small(gpu, piece, kPageBytes);
}

void give_block(Gpu gpu, std::uint64_t bytes) {
    if (gpu < 0 || bytes == 0) return;
    if (bytes > kSmallMax) return give(gpu, whole_pages(bytes));
    Small& pieces = small[gpu];
    const Locked locked(pieces.lock);
    const std::uint64_t after = pieces.bytes - (bytes + kSmallUnit - 1) / kSmallUnit * kSmallUnit;
    give(gpu, whole_pages(pieces.bytes) - whole_pages(after));
    pieces.bytes = after;
}

}  // namespace berth::vgpu::interposer
