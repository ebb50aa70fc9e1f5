// SPDX-License-Identifier: Apache-2.0
//
// What does a supervisor ask of its node's freezer (vgpu/freezer)? To take all processes below the
// supervisor off their GPUs, or to put them back; as a whole, or not at all. Who asks, and so whose
// processes are meant, the freezer learns from the kernel.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace berth::supervision {

struct FreezeRequest {
    std::int64_t timeout_ms = 0;  // for what its streams hold to be done
    bool runs_on = false;  // it is not halted: its next call to a GPU waits
};

// One of its GPUs, by index on the node: where it was and where it goes.
struct GpuMove {
    int from = 0;
    int to = 0;
    bool operator==(const GpuMove&) const = default;
};

struct ThawRequest {
    std::int64_t timeout_ms = 0;  // for room on the GPUs
    std::vector<GpuMove> moves;  // all of its GPUs, or none: back to where it was
    bool ran_on = false;  // it was not halted, and is not where this cannot be
};

enum class FreezerOutcome : std::int64_t {
    Done = 0,
    Undone = 1,  // the processes are as they were before
    Lost = 2,  // they can neither go on nor back and have to be killed
};

struct FreezerAnswer {
    FreezerOutcome outcome = FreezerOutcome::Done;
    std::string reason;  // why it is not Done
    std::int64_t bytes = -1;  // that came off the GPUs, or back; -1 = not known
    std::int64_t ms = 0;  // that the processes were held up for it

    bool operator==(const FreezerAnswer&) const = default;
};

// The GPUs of each task by index, in the order of its tasks: "0,3".
using GpuLists = std::vector<std::string>;

std::string pack(const FreezeRequest& request);
std::string pack(const ThawRequest& request);
std::string pack(const FreezerAnswer& answer);
std::string pack(const GpuLists& lists);
std::optional<FreezeRequest> unpack_freeze(std::string_view payload);
std::optional<ThawRequest> unpack_thaw(std::string_view payload);
std::optional<FreezerAnswer> unpack_answer(std::string_view payload);
std::optional<GpuLists> unpack_gpu_lists(std::string_view payload);

}  // namespace berth::supervision
