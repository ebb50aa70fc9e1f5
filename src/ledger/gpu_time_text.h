// SPDX-License-Identifier: Apache-2.0
//
// How is GPU time written, and a part of it?
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace berth::ledger {

// How GPU time is written beside that much: as hours, minutes or seconds of a GPU.
class GpuTimeUnit {
  public:
    explicit GpuTimeUnit(std::int64_t most);
    std::string_view title() const { return title_; }  // "GPU H"
    std::string_view words() const { return words_; }  // "GPU hours"
    std::string text(std::int64_t milli_gpu_ms) const;  // "1,234.5"
    // For a sentence: "1,234 GPU hours", "61.5 GPU hours".
    std::string said(std::int64_t milli_gpu_ms) const;

  private:
    std::string_view title_;
    std::string_view words_;
    std::int64_t unit_ = 1;
};

// "12 %", "<1 %" of what is little, "0 %" of nothing.
std::string part_text(std::int64_t part, std::int64_t whole);

}  // namespace berth::ledger
