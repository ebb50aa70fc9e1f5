// SPDX-License-Identifier: Apache-2.0
//
// What do the processes on one set of GPUs share? One file, mapped by all of them: who is there,
// which blocks of memory are taken, how far the engines are. Behind it, in the same file, lie the
// contents of the memory.
//
// A process may be killed at any instruction. So everything that counts is a record that becomes
// true with one store, sums are kept only as a copy of what the records add up to, and the next
// process that takes the lock from a dead owner puts the sums and half-made records right.
//
// The file must be on a tmpfs such as /dev/shm: its size only grows, its used part does not.
// Records are given room before they are touched: on a full file system, touching them would end
// the process.
#pragma once

#include <pthread.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <tl/expected.hpp>

#include "vgpu/device/configuration.h"
#include "vgpu/device/engine.h"

namespace berth::vgpu::device {

inline constexpr std::uint32_t kBlocksMax = 65536;
inline constexpr std::uint32_t kNobody = ~0U;

enum class CheckpointState : std::uint32_t { Running, Locked, Checkpointed, Failed };

struct Process {
    std::atomic<std::int32_t> pid;  // 0: the record is free
    std::atomic<CheckpointState> state;
    std::atomic<std::uint32_t> calls;    // driver calls it is inside
    std::atomic<std::uint32_t> pending;  // operations in its streams that are not done
    std::atomic<std::uint64_t> placement;  // 4 bits a GPU: on which one that GPU's memory really is
    std::uint64_t start_time;  // from /proc, so that a pid used again is another process,
    std::uint64_t start_stack;  // and so is a program after exec
    std::uint64_t died_ns;  // when it was first seen dead; 0: it lives
    std::atomic<std::uint32_t> contexts[kGpusMax];
    std::atomic<std::uint64_t> group;  // control_group_id; 0: none
    std::atomic<std::uint32_t> is_unmovable;  // has managed or shared memory: cannot be saved
};

// Physical memory of one GPU, in whole pages; it lives for as long as anybody holds it.
struct Block {
    std::atomic<std::uint64_t> bytes;  // 0: the record is free
    std::uint64_t offset;  // of its contents in the file; 0: it has none
    std::uint64_t serial;  // unlike any other block's, ever
    std::atomic<std::uint32_t> payer;  // the process it is counted for
    std::uint32_t gpu;  // as its payer numbers them
    std::uint32_t is_shareable;
    std::uint32_t unused;
    std::atomic<std::uint64_t> holders[kProcessesMax / 64];
};

struct Layout {
    std::atomic<std::uint64_t> ready;  // kReady once all else is set
    pthread_mutex_t mutex;  // robust; over everything below
    Description description;
    std::uint64_t contents_end;  // of the file
    std::uint64_t next_serial;
    std::uint64_t swept_ns;
    std::uint64_t virtual_ns;
    std::uint32_t blocks_end;  // blocks from here on were never used
    std::uint32_t block_hint;  // where to look for a free one
    std::uint64_t used_bytes[kGpusMax];  // what blocks and contexts add up to
    std::uint64_t contents_bytes[kGpusMax];  // of them with contents
    std::uint64_t copies_end_ns[kGpusMax][3];  // copy engines are taken until then, by direction
    Engine engines[kGpusMax];
    Process processes[kProcessesMax];
    Block blocks[kBlocksMax];
};

// The mapped file. One for a process and library; never unmapped before the process ends.
class SharedState {
  public:
    // Makes the file when it is not there. Errors: it cannot be made or mapped, or it was made
    // with another description.
    static tl::expected<std::unique_ptr<SharedState>, std::string> attach(
        const Configuration& configuration);
    ~SharedState();
    SharedState(const SharedState&) = delete;
    SharedState& operator=(const SharedState&) = delete;

    Layout& operator*() const { return *layout_; }
    Layout* operator->() const { return layout_; }
    int file() const { return file_; }
    // Has the records of the next blocks, which come in pieces. False: the file system is full.
    bool has_records(std::uint32_t blocks) const;
    // The folder of this process's control group, as it was when it attached; empty: none.
    const std::string& group() const { return group_; }

    // Nanoseconds; CLOCK_MONOTONIC, or the virtual time.
    std::uint64_t now_ns() const;
    // Lets time pass until `until_ns`: sleeps, or sets the virtual time.
    void pass_until(std::uint64_t until_ns) const;

  private:
    SharedState(Layout* layout, int file, std::string group)
        : layout_(layout), file_(file), group_(std::move(group)) {}
    Layout* layout_;
    int file_;
    std::string group_;
};

// Holds the lock over the state for a scope. Repairs it first when its last owner was killed.
class Locked {
  public:
    explicit Locked(const SharedState& state);
    ~Locked();
    Locked(const Locked&) = delete;
    Locked& operator=(const Locked&) = delete;

  private:
    Layout& layout_;
};

// CLOCK_MONOTONIC in nanoseconds, whatever time the GPUs live in.
std::uint64_t steady_ns();

}  // namespace berth::vgpu::device
