// SPDX-License-Identifier: Apache-2.0
//
// In which column does a trace say what? The formats know the names of their columns; names of a
// user's own replace theirs. Names are compared in any case (ASCII). Of the formats that a header
// fits the first counts, with our own before the others where all that a trace must say is named.
//
//   muri       submit_time duration num_gpu batch_size, milliseconds, as the released simulator
//              rounds them
//   tiresias   submit_time duration num_gpu
//   philly     timestamp duration num_gpus cluster: the flattened Microsoft trace
//   shockwave  arrival_time_s duration_s scale_factor
//   sacct      Submit Elapsed AllocTRES, as `sacct --parsable2` writes them
//   berth      submit_s duration_s gpus
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "simulation/trace/trace_cells.h"

namespace berth::simulation {

// What a trace may say of a job; the first three it must.
enum class TraceField { Submit, Duration, Gpus, Project, User, Name, Command, Kind, Pool };
inline constexpr std::array<std::string_view, 9> kTraceFields{
    "submit", "duration", "gpus", "project", "user", "name", "command", "kind", "pool"};
inline constexpr std::size_t kFieldsNeeded = 3;

// A user's own names of columns, by field, as typed; empty = those of the format.
using OwnColumns = std::array<std::string, kTraceFields.size()>;

// "submit=Start Time, gpus=n, duration=sec"; blanks around a name are none of it. Errors: Invalid,
// what is wrong.
base::Result<OwnColumns> parse_columns(std::string_view text);

// Their names, "tiresias", "muri" ...; what --format takes.
std::span<const std::string_view> trace_formats();
// One line for each: its name and the columns that it must have.
std::string trace_formats_text();

class TraceColumns {
  public:
    using Row = std::span<const std::string_view>;

    // `format` empty: found by the header. Errors: NotFound, with the columns that are missing,
    // those found and those of the formats; Conflict, two say the same; Invalid, one that is used
    // is there twice, or is a time or GPUs and something else; without the place.
    static base::Result<TraceColumns> of(Row header, std::string_view format,
                                         const OwnColumns& own);

    TraceUnit unit() const { return unit_; }
    bool has(TraceField field) const { return places_[index(field)].has_value(); }
    // Empty where the trace has no such column, or the row ends before it.
    std::string_view cell(Row row, TraceField field) const;
    // Of the header.
    std::size_t count() const { return count_; }
    // Whether the row ends before a column that it must have.
    bool is_cut(Row row) const;
    // As the header spells it.
    std::string_view title(TraceField field) const { return titles_[index(field)]; }
    // Whether it is a part of a job whose row stands beside it: Slurm's "12.batch".
    bool is_step(Row row) const;

  private:
    static std::size_t index(TraceField field) { return static_cast<std::size_t>(field); }

    TraceUnit unit_ = TraceUnit::Seconds;
    std::size_t count_ = 0;
    std::array<std::optional<std::size_t>, kTraceFields.size()> places_;
    std::array<std::string, kTraceFields.size()> titles_;
    std::optional<std::size_t> step_place_;
};

}  // namespace berth::simulation
