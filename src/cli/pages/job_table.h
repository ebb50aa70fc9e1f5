// SPDX-License-Identifier: Apache-2.0
//
// What does `berth ls` show? One row a job, and a line of sums.
#pragma once

#include <span>
#include <string>

#include "cli/terminal/style.h"
#include "cli/terminal/table.h"
#include "codec/api/json_api.h"

namespace berth::cli {

enum class Detail { Usual, Wide };

Table job_table(std::span<const codec::JobView> jobs, const codec::NameTable& names,
                base::TimePoint now, const Glyphs& glyphs, Detail detail);

// "2 running · 1 waiting · 1 paused"
std::string job_sums(std::span<const codec::JobView> jobs, const Style& style);

}  // namespace berth::cli
