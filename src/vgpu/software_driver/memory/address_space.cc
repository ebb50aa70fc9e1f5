// SPDX-License-Identifier: Apache-2.0
#include "vgpu/software_driver/memory/address_space.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>

#include "vgpu/device/memory.h"

namespace berth::vgpu::software_driver {
namespace {

void* at_address(CUdeviceptr pointer) { return reinterpret_cast<void*>(pointer); }

std::uint64_t rounded(std::uint64_t bytes, std::uint64_t to) { return (bytes + to - 1) / to * to; }

}  // namespace

void AddressSpace::attach(const device::SharedState& state, std::uint32_t process) {
    state_ = &state;
    process_ = process;
}

HeldBlock AddressSpace::describe(const device::Block& block, CUdevice device,
                                 bool shareable) const {
    HeldBlock held;
    held.bytes = block.bytes.load();
    held.offset = block.offset;
    held.file = block.offset != 0 ? state_->file() : -1;
    held.serial = block.serial;
    held.device = device;
    held.is_shareable = shareable;
    return held;
}

HeldBlock* AddressSpace::take_block(CUdevice device, std::uint32_t gpu, std::uint64_t bytes,
                                    bool shareable) {
    const std::uint32_t index = device::take(*state_, {process_, gpu, bytes, shareable});
    if (index == device::kNobody) return nullptr;
    const device::Block& block = (*state_)->blocks[index];
    HeldBlock& held = blocks_[index];
    held = describe(block, device, shareable);
    held.block = index;
    return &held;
}

HeldBlock* AddressSpace::take_host_block(std::uint64_t bytes) {
    const int file = ::memfd_create("berth host memory", MFD_CLOEXEC);
    if (file < 0) return nullptr;
    if (::ftruncate(file, static_cast<off_t>(bytes)) != 0) {
        ::close(file);
        return nullptr;
    }
    const std::uint32_t index = next_host_block_++;
    HeldBlock& held = blocks_[index];
    held.block = index;
    held.bytes = bytes;
    held.file = file;
    held.is_host = true;
    return &held;
}

HeldBlock* AddressSpace::import_block(CUdevice device, std::uint32_t block, std::uint64_t serial) {
    if (!device::hold(*state_, process_, block, serial)) return nullptr;
    const auto [found, is_new] = blocks_.try_emplace(block);
    if (is_new) {
        found->second = describe((*state_)->blocks[block], device, true);
        found->second.block = block;
    }
    return &found->second;
}

HeldBlock* AddressSpace::find_block(std::uint32_t block) {
    const auto found = blocks_.find(block);
    return found == blocks_.end() ? nullptr : &found->second;
}

void AddressSpace::drop_if_unused(HeldBlock& block) {
    if (block.handles != 0 || block.mappings != 0) return;
    const std::uint32_t index = block.block;
    if (block.is_host)
        ::close(block.file);
    else
        device::let_go(*state_, process_, index);
    blocks_.erase(index);
}

CUdeviceptr AddressSpace::map(HeldBlock& block, std::uint64_t offset, std::uint64_t bytes,
                              CUdeviceptr at) {
    CUdeviceptr begin = at != 0 ? at : reserve(bytes, device::kPageBytes);
    if (begin == 0) return 0;
    if (block.file >= 0) {
        void* place =
            ::mmap(at_address(begin), bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
                   block.file, static_cast<off_t>(block.offset + offset));
        if (place == MAP_FAILED) {
            if (at == 0) release(begin, bytes);
            return 0;
        }
    }
    ++block.mappings;
    return begin;
}

void AddressSpace::unmap(HeldBlock& block, CUdeviceptr pointer, std::uint64_t bytes) {
    clear(pointer, bytes);
    --block.mappings;
    drop_if_unused(block);
}

CUdeviceptr AddressSpace::reserve(std::uint64_t bytes, std::uint64_t alignment) {
    constexpr int kNothing = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    void* place = ::mmap(nullptr, bytes + alignment, PROT_NONE, kNothing, -1, 0);
    if (place == MAP_FAILED) return 0;
    const auto begin = reinterpret_cast<CUdeviceptr>(place);
    const CUdeviceptr aligned = rounded(begin, alignment);
    if (aligned != begin) ::munmap(place, aligned - begin);
    if (const auto rest = begin + alignment - aligned; rest != 0)
        ::munmap(at_address(aligned + bytes), rest);
    return aligned;
}

void AddressSpace::clear(CUdeviceptr pointer, std::uint64_t bytes) {
    ::mmap(at_address(pointer), bytes, PROT_NONE,
           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
}

void AddressSpace::release(CUdeviceptr pointer, std::uint64_t bytes) {
    ::munmap(at_address(pointer), bytes);
}

void AddressSpace::add(Allocation allocation) {
    allocation.id = next_id_++;
    allocations_[allocation.begin] = allocation;
}

Allocation* AddressSpace::find(CUdeviceptr pointer, std::uint64_t bytes) {
    auto after = allocations_.upper_bound(pointer);
    if (after == allocations_.begin()) return nullptr;
    Allocation& allocation = std::prev(after)->second;
    const std::uint64_t from = pointer - allocation.begin;
    return from < allocation.bytes && bytes <= allocation.bytes - from ? &allocation : nullptr;
}

AddressSpace::Behind AddressSpace::behind(CUdeviceptr pointer, std::uint64_t bytes) {
    Behind all = Behind::Contents;
    for (CUdeviceptr at = pointer;;) {
        const Allocation* part = find(at);
        if (part == nullptr) return Behind::Nothing;
        if (!part->has_contents) all = Behind::Number;
        if (bytes - (at - pointer) <= part->begin + part->bytes - at) return all;
        if (part->origin != Origin::Mapped) return Behind::Nothing;
        at = part->begin + part->bytes;
    }
}

Arena::~Arena() { trim(0); }

Arena::Piece Arena::cut(CUdeviceptr begin, Chunk& chunk, std::uint64_t bytes) {
    const auto fits = [&](const auto& gap) { return gap.second >= bytes; };
    const auto gap = std::find_if(chunk.free.begin(), chunk.free.end(), fits);
    if (gap == chunk.free.end()) return {};
    const auto [offset, room] = *gap;
    chunk.free.erase(gap);
    if (room > bytes) chunk.free[offset + bytes] = room - bytes;
    chunk.used[offset] = bytes;
    used_bytes_ += bytes;
    return {begin + offset, chunk.block->block, offset, chunk.block->file >= 0};
}

Arena::Piece Arena::allocate(std::uint64_t bytes) {
    constexpr std::uint64_t kAlignment = 512;
    bytes = rounded(bytes, kAlignment);
    for (auto& [begin, chunk] : chunks_)
        if (const Piece piece = cut(begin, chunk, bytes); piece.pointer != 0) return piece;
    const std::uint64_t wanted = rounded(bytes, block_bytes_);
    HeldBlock* block = gpu_ == device::kNobody ? memory_.take_host_block(wanted)
                                               : memory_.take_block(device_, gpu_, wanted, false);
    if (block == nullptr) return {};
    const CUdeviceptr begin = memory_.map(*block, 0, block->bytes, 0);
    if (begin == 0) {
        memory_.drop_if_unused(*block);
        return {};
    }
    reserved_bytes_ += block->bytes;
    Chunk& chunk = chunks_[begin];
    chunk = {block, {{0, block->bytes}}, {}};
    return cut(begin, chunk, bytes);
}

void Arena::free(CUdeviceptr pointer) {
    auto& [begin, chunk] = *std::prev(chunks_.upper_bound(pointer));
    const auto piece = chunk.used.find(pointer - begin);
    const auto [offset, bytes] = *piece;
    chunk.used.erase(piece);
    used_bytes_ -= bytes;
    const auto gap = chunk.free.emplace(offset, bytes).first;
    if (const auto next = std::next(gap);
        next != chunk.free.end() && next->first == offset + bytes) {
        gap->second += next->second;
        chunk.free.erase(next);
    }
    if (gap == chunk.free.begin()) return;
    const auto before = std::prev(gap);
    if (before->first + before->second != offset) return;
    before->second += gap->second;
    chunk.free.erase(gap);
}

void Arena::trim(std::uint64_t keep_bytes) {
    for (auto it = chunks_.begin(); it != chunks_.end() && reserved_bytes_ > keep_bytes;) {
        Chunk& chunk = it->second;
        if (!chunk.used.empty()) {
            ++it;
            continue;
        }
        const std::uint64_t bytes = chunk.block->bytes;
        reserved_bytes_ -= bytes;
        memory_.unmap(*chunk.block, it->first, bytes);
        AddressSpace::release(it->first, bytes);
        it = chunks_.erase(it);
    }
}

}  // namespace berth::vgpu::software_driver
