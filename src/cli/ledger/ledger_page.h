// SPDX-License-Identifier: Apache-2.0
//
// How is it said where the GPU time went? First the server's sentences, then every use, then who
// had it, then what would save most, then that it sums to capacity.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "cli/terminal/style.h"
#include "ledger/gpu_time_text.h"
#include "model/ledger.h"

namespace berth::cli {

// Of GET ledger. Errors: Invalid, when this is no such answer.
base::Result<std::string> ledger_page(std::string_view json, const Style& style);

// Every use that occurred, with its part of the whole and what it is.
std::string use_table(const model::GpuTimes& times, const ledger::GpuTimeUnit& unit,
                      const Style& style);

// "allocated idle".
std::string use_words(model::GpuUse use);

}  // namespace berth::cli
