// SPDX-License-Identifier: Apache-2.0
//
// Which jobs does a trace hold? Reads the public formats by the names of their columns:
//
//   tiresias   num_gpu, submit_time and duration in seconds
//   muri       the same in milliseconds, with a batch_size; submission is rounded down and
//              duration up to whole seconds, as the released simulator does
//   philly     timestamp, duration (s), num_gpus, cluster: the flattened Microsoft trace
//   shockwave  arrival_time_s, duration_s, scale_factor
//   berth      submit_s, duration_s, gpus and, if known, project, user, name, kind, pool
//
// and of any of them the columns of a profile (profile.h).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/quantity.h"
#include "base/result.h"
#include "model/job.h"
#include "simulation/profile.h"

namespace berth::simulation {

using base::Duration;
using base::TimePoint;

struct TraceJob {
    TimePoint submitted;  // the first job of a trace is at 0 unless the trace says otherwise
    Duration work{};      // run time when alone
    std::int32_t gpus = 1;
    std::string project = {};
    std::string user = {};
    std::string name = {};
    std::string command = {};  // no public trace tells it
    model::JobKind kind = model::JobKind::Train;
    std::string pool = {};  // of a cluster with pools; empty = its default pool
    Profile profile{};
};

// In order of submission, equals in order of the file.
using Trace = std::vector<TraceJob>;

// "tiresias", "muri" ...; what --format takes.
std::span<const std::string_view> trace_formats();

// `format` empty: told by the columns. Jobs without GPUs or duration are left out.
// Errors: Invalid, "FILE:LINE: what is wrong".
base::Result<Trace> parse_trace(std::string_view text, std::string_view format,
                                std::string_view file);

// Sizes of past jobs in GPU-milliseconds, from a file of one column in GPU-seconds with or without
// a name above it, such as Tiresias' yarn-gput1000.csv. Errors: Invalid, "FILE:LINE: what is
// wrong".
base::Result<std::vector<std::int64_t>> parse_sizes(std::string_view text, std::string_view file);

// `bytes` unpacked when they are gzip's, else as they are. Errors: Invalid; Exhausted above
// `size_max`.
base::Result<std::string> unpacked(std::string bytes, std::size_t size_max);

}  // namespace berth::simulation
