// SPDX-License-Identifier: Apache-2.0
#include "vgpu/software_driver/memory/allocate.h"

#include <sys/mman.h>

#include "vgpu/software_driver/driver.h"

namespace berth::vgpu::software_driver {
namespace {

CUdeviceptr allocate_small(Driver& driver, const Context& context, std::size_t bytes) {
    const Arena::Piece piece =
        driver.gpus[static_cast<std::size_t>(context.device)].small->allocate(bytes);
    if (piece.pointer == 0) return 0;
    Allocation allocation;
    allocation.begin = piece.pointer;
    allocation.bytes = bytes;
    allocation.origin = Origin::Arena;
    allocation.device = context.device;
    allocation.context = &context;
    allocation.has_contents = piece.has_contents;
    allocation.block = piece.block;
    allocation.block_offset = piece.offset;
    driver.memory.add(allocation);
    return piece.pointer;
}

}  // namespace

CUdeviceptr allocate_pages(Driver& driver, const Context& context, std::size_t bytes,
                           CUdeviceptr (*place)(std::uint64_t bytes)) {
    const std::uint32_t gpu = driver.gpus[static_cast<std::size_t>(context.device)].number;
    HeldBlock* block = driver.memory.take_block(context.device, gpu, bytes, true);
    if (block == nullptr) return 0;
    CUdeviceptr begin = place == nullptr ? 0 : place(block->bytes);
    if (place == nullptr || begin != 0) begin = driver.memory.map(*block, 0, block->bytes, begin);
    if (begin == 0) {
        driver.memory.drop_if_unused(*block);
        return 0;
    }
    Allocation allocation;
    allocation.begin = begin;
    allocation.bytes = bytes;
    allocation.device = context.device;
    allocation.context = &context;
    allocation.has_contents = block->file >= 0;
    allocation.block = block->block;
    driver.memory.add(allocation);
    return begin;
}

CUdeviceptr allocate(Driver& driver, const Context& context, std::size_t bytes) {
    return bytes <= kSmallBytes ? allocate_small(driver, context, bytes)
                                : allocate_pages(driver, context, bytes);
}

void deallocate(Driver& driver, const Allocation& of) {
    const Allocation allocation = of;
    driver.memory.remove(allocation.begin);
    switch (allocation.origin) {
        case Origin::Arena: {
            Arena& small = *driver.gpus[static_cast<std::size_t>(allocation.device)].small;
            small.free(allocation.begin);
            small.trim(0);
            break;
        }
        case Origin::Pool: allocation.pool->arena.free(allocation.begin); break;
        case Origin::Host:
            if (!allocation.is_registered_host)
                ::munmap(reinterpret_cast<void*>(allocation.begin), allocation.bytes);
            break;
        case Origin::Block:
        case Origin::Managed:
        case Origin::Imported: {
            HeldBlock& block = *driver.memory.find_block(allocation.block);
            const std::uint64_t bytes = block.bytes;
            const CUdeviceptr begin = allocation.begin - allocation.block_offset;
            driver.memory.unmap(block, begin, bytes);
            AddressSpace::release(begin, bytes);
            break;
        }
        case Origin::Mapped:
            driver.memory.unmap(*driver.memory.find_block(allocation.block), allocation.begin,
                                allocation.bytes);
            break;
        case Origin::Graph: break;  // stays with the GPU's graph memory
    }
}

void* contents_at(Driver& driver, CUdeviceptr pointer, std::size_t bytes) {
    const bool is_real = driver.memory.behind(pointer, bytes) == AddressSpace::Behind::Contents;
    return is_real ? reinterpret_cast<void*>(pointer) : nullptr;
}

}  // namespace berth::vgpu::software_driver
