// SPDX-License-Identifier: Apache-2.0
//
// What lies behind an address? The device pointers of this process and the memory they stand for.
//
// A device pointer is the address where the block's part of the shared file is mapped, so that
// contents are real and two processes that share a block see the same bytes. Memory without
// contents has addresses that nothing is behind: copies to it vanish, copies from it give zeros.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "vgpu/abi/cuda.h"
#include "vgpu/device/shared_state.h"

namespace berth::vgpu::software_driver {

struct Context;
struct MemoryPool;
class Arena;

// One physical block of this process with all the ways it is held.
struct HeldBlock {
    std::uint32_t block = 0;
    std::uint64_t bytes = 0;
    std::uint64_t offset = 0;  // of its contents in `file`
    int file = -1;             // -1: it has no contents
    std::uint64_t serial = 0;
    CUdevice device = 0;
    bool is_shareable = false;
    bool is_host = false;  // of the host: no GPU memory
    std::uint32_t handles = 0;
    std::uint32_t mappings = 0;
};

enum class Origin {
    Block,     // cuMemAlloc and its kin: a block of its own
    Arena,     // a part of a block, cut by an arena
    Pool,      // a part of a block, cut by a memory pool
    Managed,   // a block that the host may use, too
    Imported,  // another process's block, by an IPC handle
    Mapped,    // by cuMemMap
    Graph,     // by a node of a graph
    Host,      // pinned host memory
};

struct Allocation {
    CUdeviceptr begin = 0;
    std::uint64_t bytes = 0;
    Origin origin = Origin::Block;
    CUdevice device = 0;
    const Context* context = nullptr;
    bool has_contents = true;
    std::uint32_t block = device::kNobody;
    std::uint64_t block_offset = 0;  // where in the block it begins
    MemoryPool* pool = nullptr;
    bool is_registered_host = false;  // host memory that the program made
    unsigned long long id = 0;
};

class AddressSpace {
  public:
    void attach(const device::SharedState& state, std::uint32_t process);

    // A block of GPU memory, held once for the caller's sake. Null when there is none to have.
    HeldBlock* take_block(CUdevice device, std::uint32_t gpu, std::uint64_t bytes, bool shareable);
    // Memory of the host that is handled as if it were a GPU's.
    HeldBlock* take_host_block(std::uint64_t bytes);
    // Another process's block. Null when it is gone.
    HeldBlock* import_block(CUdevice device, std::uint32_t block, std::uint64_t serial);
    HeldBlock* find_block(std::uint32_t block);
    // Lets the block go once there is neither a handle nor a mapping.
    void drop_if_unused(HeldBlock& block);

    // Maps a part of the block, at `at` or where there is room; 0 when the system refuses.
    CUdeviceptr map(HeldBlock& block, std::uint64_t offset, std::uint64_t bytes, CUdeviceptr at);
    void unmap(HeldBlock& block, CUdeviceptr pointer, std::uint64_t bytes);

    // Addresses with nothing behind them; 0 when the system refuses.
    static CUdeviceptr reserve(std::uint64_t bytes, std::uint64_t alignment);
    static void clear(CUdeviceptr pointer, std::uint64_t bytes);    // takes what is behind away
    static void release(CUdeviceptr pointer, std::uint64_t bytes);  // gives the addresses back

    void add(Allocation allocation);
    void remove(CUdeviceptr begin) { allocations_.erase(begin); }
    // The allocation that holds all of these bytes; null when there is none.
    Allocation* find(CUdeviceptr pointer, std::uint64_t bytes = 1);
    // What is behind all of these bytes, of one allocation or of mappings without a gap. Contents
    // only where every part has them.
    enum class Behind { Nothing, Number, Contents };
    Behind behind(CUdeviceptr pointer, std::uint64_t bytes);
    const std::map<CUdeviceptr, Allocation>& allocations() const { return allocations_; }

    std::map<CUdeviceptr, std::uint64_t> reservations;  // by cuMemAddressReserve: begin to bytes

  private:
    HeldBlock describe(const device::Block& block, CUdevice device, bool shareable) const;

    const device::SharedState* state_ = nullptr;
    std::uint32_t process_ = 0;
    std::map<std::uint32_t, HeldBlock> blocks_;
    std::map<CUdeviceptr, Allocation> allocations_;
    unsigned long long next_id_ = 1;
    std::uint32_t next_host_block_ = device::kBlocksMax;
};

// Of a plain cuMemAlloc: up to this much is cut from shared pages.
inline constexpr std::uint64_t kSmallBytes = 1ULL << 20U;

// Cuts small pieces out of larger blocks, first fit, and gives blocks back that became empty.
class Arena {
  public:
    // Blocks of at least `block_bytes`, of the host where `gpu` is kNobody. All but `keep_bytes` of
    // what is empty goes back at trim().
    Arena(AddressSpace& memory, CUdevice device, std::uint32_t gpu, std::uint64_t block_bytes)
        : memory_(memory), device_(device), gpu_(gpu), block_bytes_(block_bytes) {}
    ~Arena();
    Arena(const Arena&) = delete;
    Arena& operator=(const Arena&) = delete;

    struct Piece {
        CUdeviceptr pointer = 0;  // 0: there is no room
        std::uint32_t block = device::kNobody;
        std::uint64_t offset = 0;
        bool has_contents = false;
    };
    Piece allocate(std::uint64_t bytes);
    void free(CUdeviceptr pointer);
    // Gives empty blocks back, as long as more than `keep_bytes` are reserved.
    void trim(std::uint64_t keep_bytes);

    std::uint64_t reserved_bytes() const { return reserved_bytes_; }
    std::uint64_t used_bytes() const { return used_bytes_; }

  private:
    struct Chunk {
        HeldBlock* block = nullptr;
        std::map<std::uint64_t, std::uint64_t> free;  // offset to bytes
        std::map<std::uint64_t, std::uint64_t> used;
    };
    Piece cut(CUdeviceptr begin, Chunk& chunk, std::uint64_t bytes);

    AddressSpace& memory_;
    CUdevice device_;
    std::uint32_t gpu_;
    std::uint64_t block_bytes_;
    std::uint64_t reserved_bytes_ = 0;
    std::uint64_t used_bytes_ = 0;
    std::map<CUdeviceptr, Chunk> chunks_;
};

}  // namespace berth::vgpu::software_driver
