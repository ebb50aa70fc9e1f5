// SPDX-License-Identifier: Apache-2.0
//
// Which jobs does a trace hold? Reads the public formats, Slurm's and a user's own by the names of
// their columns (trace_columns.h), cells in any of their forms (trace_cells.h), and of any format
// the columns of a profile (profile.h). The earliest submission is moved to 0.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/quantity.h"
#include "base/result.h"
#include "model/job/job.h"
#include "simulation/trace/profile.h"
#include "simulation/trace/trace_columns.h"

namespace berth::simulation {

using base::Duration;
using base::TimePoint;

struct TraceJob {
    TimePoint submitted;  // the first job of a trace is at 0
    Duration work{};      // run time when alone
    std::int32_t gpus = 1;  // that it holds something of
    std::string project = {};
    std::string user = {};
    std::string name = {};
    std::string command = {};
    model::JobKind kind = model::JobKind::Train;
    std::string pool = {};  // of a cluster with pools; empty = its default pool
    Profile profile{};
    base::MilliGpu share = base::kWholeGpu;  // of its GPU; less than all only of a single one
    // What a server's log says that it asks for; null: it is made of the above (spec_of).
    std::shared_ptr<const model::JobSpec> spec = nullptr;

    bool is_whole() const { return share == base::kWholeGpu; }
    base::MilliGpu amount() const { return share * gpus; }
    // As figures count them: 0.5 of a GPU is half of one.
    double gpu_count() const { return static_cast<double>(amount().value) / 1000; }
};

// In order of submission, equals in order of the file.
using Trace = std::vector<TraceJob>;

// How a file is to be read, and what it is called in errors.
struct TraceFile {
    std::string_view file;
    std::string_view format = {};  // empty: found by the columns
    OwnColumns columns = {};
};

// Rows that are no jobs.
struct LeftOut {
    std::int64_t without_gpus = 0;
    std::int64_t without_duration = 0;
    std::int64_t steps = 0;  // parts of jobs, in an export of Slurm

    std::int64_t rows() const { return without_gpus + without_duration + steps; }
    // "3 rows left out: 1 without GPUs, 2 without duration"; empty when there are none.
    std::string text() const;
};

struct ParsedTrace {
    Trace jobs;
    LeftOut left_out;
    std::int64_t rounded = 0;  // jobs whose part of a GPU was no whole number of thousandths

    // What is not as the file has it, for people; empty when nothing is.
    std::string note() const;
};

// Errors: Invalid, NotFound when it lacks a column, Conflict when two say the same; "FILE:LINE:
// what was found and wanted".
base::Result<ParsedTrace> parse_trace(std::string_view text, const TraceFile& file);

// Sizes of past jobs in GPU-milliseconds, from a file of one column in GPU-seconds with or without
// a name above it, such as Tiresias' yarn-gput1000.csv. Errors: Invalid, "FILE:LINE: what is
// wrong".
base::Result<std::vector<std::int64_t>> parse_sizes(std::string_view text, std::string_view file);

// `bytes` unpacked when they are gzip's, else as they are. Errors: Invalid; Exhausted above
// `size_max`.
base::Result<std::string> unpacked(std::string bytes, std::size_t size_max);

}  // namespace berth::simulation
