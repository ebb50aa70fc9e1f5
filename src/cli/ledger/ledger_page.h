// SPDX-License-Identifier: Apache-2.0
//
// How is it said where the GPU time went? First the answer as a sentence, then every use, then who
// had it, then that it sums to capacity.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "cli/terminal/style.h"
#include "model/ledger.h"

namespace berth::cli {

// Of GET ledger. Errors: Invalid, when this is no such answer.
base::Result<std::string> ledger_page(std::string_view json, const Style& style);

// How GPU time is written beside that much: as hours, minutes or seconds of a GPU, to one decimal.
class GpuTimeUnit {
  public:
    explicit GpuTimeUnit(std::int64_t most);
    std::string_view title() const { return title_; }  // "GPU H"
    std::string_view words() const { return words_; }  // "GPU hours"
    std::string text(std::int64_t milli_gpu_ms) const;  // "1,234.5"

  private:
    std::string_view title_;
    std::string_view words_;
    std::int64_t unit_ = 1;
};

// Every use that occurred, with its part of the whole and what it is.
std::string use_table(const model::GpuTimes& times, const GpuTimeUnit& unit, const Style& style);

// "12 %", "<1 %" of what is little, "0 %" of nothing.
std::string part_text(std::int64_t part, std::int64_t whole);

}  // namespace berth::cli
