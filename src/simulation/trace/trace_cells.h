// SPDX-License-Identifier: Apache-2.0
//
// What does a cell of a trace say? Nothing when it is none of these forms.
//
//   a moment    a number in the unit of the format, from wherever the trace counts (Unix time or
//               its own start); or a date of ISO 8601, with or without time, fraction of a second
//               and zone. Without a zone it is taken as UTC.
//   a duration  a number in the unit of the format; "1-02:03:04", "02:03:04" or "03:04" as Slurm
//               writes it; or with units as in "1h30m"
//   GPUs        a whole number; a part of one, rounded to thousandths and up where that would be
//               nothing; "H100:2" as `berth submit -g` takes it; or resources as Slurm lists them,
//               "cpu=8,gres/gpu=4", "gres/gpu:a100=4", "gpu:a100:4". Letters count in any case.
//               Resources that Slurm does not know are none of these forms: they could be GPUs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/quantity.h"

namespace berth::simulation {

enum class TraceUnit {
    Seconds,
    Milliseconds,  // whole seconds count: a moment is rounded down, a duration up
};

// What each of these reads, with its limits, for people.
std::string moment_forms(TraceUnit unit);
std::string duration_forms(TraceUnit unit);
inline constexpr std::string_view kGpuForms =
    "whole GPUs such as 4, a part of one such as 0.5, H100:2 or gres/gpu=4; at most 1000000";

// Milliseconds; negative ones are before 1970.
std::optional<std::int64_t> moment_of(std::string_view text, TraceUnit unit);
// Milliseconds, at most some thirty years, so that times a number of GPUs it does not overflow.
std::optional<std::int64_t> duration_of(std::string_view text, TraceUnit unit);

struct GpusAsked {
    base::MilliGpu amount{0};
    bool is_rounded = false;  // of a part that is no whole number of thousandths
};
// At most a million; above one they are whole.
std::optional<GpusAsked> gpus_of(std::string_view text);

// In lower case, ASCII.
std::string lower(std::string_view text);

}  // namespace berth::simulation
