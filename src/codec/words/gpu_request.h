// SPDX-License-Identifier: Apache-2.0
//
// What does the text behind `-g` ask for? The same text is used in job files and state files.
//
//   2          two whole GPUs                     0          none
//   0.5        half of one GPU                    2x0.5      half of each of two GPUs
//   12G        12 GiB of one GPU                  2x12G      12 GiB of each of two GPUs
//   12G..20G   12 GiB of one GPU, and up to 20 while others leave them unused
//   0.5+12G    half of one GPU, and 12 GiB of it  2x0.5+12G  of each of two GPUs
//   4..16      elastic: 4 to 16 tasks with one whole GPU each
//   H100:2     any of these on one GPU model      H100       one GPU of that model
//   1g.10gb    one MIG slice of that profile      1g.10gb:2  two of them on one node
//   ...@rack   any of these, all tasks of the gang in one domain of that level
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "model/job/job.h"

namespace berth::codec {

struct GpuRequest {
    model::TaskRequest request;  // its cpu and memory are left to their defaults
    int tasks_min = 1;
    int tasks_max = 1;
    std::string gpu_model;       // empty = any
    std::string required;        // a level; empty = tasks may stand anywhere

    bool operator==(const GpuRequest&) const = default;
};

// Errors: Invalid, with an example of what would be right.
base::Result<GpuRequest> parse_gpu_request(std::string_view text);

// The shortest text that parse_gpu_request() reads as the same request.
std::string format_gpu_request(const GpuRequest& request);

// For tables: what a job asks for over all its tasks: "16 H100", "0.5", "2x0.5", "12G", "4..16";
// and over its companions: "16 H100 + 1 T4".
std::string gpu_summary(const model::JobSpec& spec);

}  // namespace berth::codec
