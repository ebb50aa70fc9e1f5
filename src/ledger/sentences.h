// SPDX-License-Identifier: Apache-2.0
//
// Where did the GPU time go, and what would save most? Two sentences: what was, and the largest
// waste.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ledger/savings.h"

namespace berth::ledger {

enum class About : std::uint8_t { Use, Waste };
inline constexpr std::string_view kAboutNames[] = {"use", "waste"};

struct Sentence {
    About about = About::Use;
    std::string text;
};

// `total`: of all GPUs on these days; `today`: since the epoch, UTC.
std::vector<Sentence> sentences(const model::GpuTimes& total, const Savings& savings,
                                const Days& days, std::int64_t today);

}  // namespace berth::ledger
