// SPDX-License-Identifier: Apache-2.0
//
// Which GPUs does the software driver pretend to have?
//
// The environment variable BERTH_SOFTWARE_GPU holds either the path of a file, known by a `/` at
// its begin or no `=` in it, or the text itself: `key = value` pairs, one a line or with `;`
// between them, `#` begins a comment. Only `state` must be there:
//
//   state = /dev/shm/gpus    the file that processes compete on; made by the first of them
//   gpus = 2                 how many, at most 16                                             (1)
//   memory = 80GiB           of each; in whole 2 MiB pages: KiB, MiB, GiB                 (16GiB)
//   reserved = 512MiB        of it the driver keeps for itself                           (512MiB)
//   context = 400MiB         what each context costs                                     (400MiB)
//   contents = 1GiB          of each GPU's memory has real bytes behind it, in the state's file
//                            as they are written; allocations past this are counted but hold
//                            nothing                                                       (1GiB)
//   name = Software GPU      model name
//   uuids = GPU-..., GPU-... one a GPU                                 (made from its number)
//   mig = 0:3g.40gb, 0:1g.10gb   slices that GPUs are cut into; 16 GPUs and slices in all   (none)
//   sms = 132                streaming multiprocessors                                      (132)
//   driver = 12.8            CUDA version that the driver speaks: 12.2, 12.8, 13.0, 13.4   (12.8)
//   cgroups = /sys/fs/cgroup   tree of control groups whose dmem.max it keeps: control_group.h
//                                                                                          (none)
//   release_delay_ms = 0     how long a dead process's memory stays taken                     (0)
//   slice_us = 2000          time slice between processes                                  (2000)
//   sharing = slices         between processes: slices of time, or `concurrent` as under MPS
//   copy_gib_per_s = 50      each way                                                        (50)
//   kernel_us = 10           how long a kernel of unknown name runs                          (10)
//   time = real              or `virtual`: passes only while a thread waits; for one process
//   checkpoint = works       or `fails`, `unsupported`, `out_of_memory`: what a checkpoint does
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

namespace berth::vgpu::device {

inline constexpr std::uint64_t kPageBytes = 2ULL << 20U;
inline constexpr std::uint32_t kGpusMax = 16;

enum class Sharing : std::uint32_t { Slices, Concurrent };
enum class Time : std::uint32_t { Real, Virtual };
enum class CheckpointOutcome : std::uint32_t { Works, Fails, Unsupported, OutOfMemory };

// A part of a GPU that the hardware cuts: a number of its seven compute slices.
struct Slice {
    std::uint32_t gpu = 0;
    std::uint32_t compute = 0;
    std::uint64_t memory_bytes = 0;
    char profile[16] = {};  // "3g.40gb"
};

// What every process that shares the state must agree on, byte for byte: it is kept in the state.
struct Description {
    std::uint32_t gpus = 1;
    std::uint32_t sms = 132;
    std::uint64_t memory_bytes = 16ULL << 30U;
    std::uint64_t reserved_bytes = 512ULL << 20U;
    std::uint64_t context_bytes = 400ULL << 20U;
    std::uint64_t contents_bytes = 1ULL << 30U;
    std::uint64_t copy_bytes_per_s = 50ULL << 30U;
    std::uint64_t slice_ns = 2'000'000;
    std::uint64_t release_delay_ns = 0;
    std::uint64_t kernel_ns = 10'000;
    std::uint32_t driver_version = 12080;  // 1000 x major + 10 x minor
    Sharing sharing = Sharing::Slices;
    Time time = Time::Real;
    CheckpointOutcome checkpoint = CheckpointOutcome::Works;
    char name[64] = "Software GPU";
    std::uint32_t slices = 0;
    std::uint32_t unused = 0;  // no padding: descriptions are compared as bytes
    Slice slice[kGpusMax];
    unsigned char uuids[kGpusMax][16] = {};  // of GPUs, then of slices
};

struct Configuration {
    std::string state_path;
    std::string cgroups;  // empty: nothing is kept
    Description description;
};

// Errors are sentences that name the key, its value and what is wanted.
tl::expected<Configuration, std::string> parse(std::string_view text);

// From BERTH_SOFTWARE_GPU. Errors also when it is unset or its file cannot be read.
tl::expected<Configuration, std::string> from_environment();

// "GPU-8a7b3c00-1111-2222-3333-444455556666".
std::string uuid_text(const unsigned char (&uuid)[16]);

// Bus id of a GPU: "00000000:03:00.0".
std::string pci_bus_id(std::uint32_t gpu);

}  // namespace berth::vgpu::device
