// SPDX-License-Identifier: Apache-2.0
//
// The same in words. The first sentence is the answer, those behind it say what is left to ask.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "overview/overview.h"

namespace berth::overview {

enum class About : std::uint8_t { OwnJobs, Waiting, NotReady, Quotas, Borrowers, Lenders, Owed };
inline constexpr std::string_view kAboutNames[] = {"own_jobs",  "waiting", "not_ready", "quotas",
                                                   "borrowers", "lenders", "owed"};

struct Sentence {
    About about = About::OwnJobs;
    std::string text;
};

// A name that could be read as more than one is in quotes.
std::string name_shown(const std::string& name);

// As they are for that user.
std::vector<Sentence> sentences(const Overview& overview, std::string_view user);

// How much is allocated, then what is free and what is not ready. `idle`: of what is allocated, as
// far as it is measured.
std::vector<std::string> map_sentences(const GpuCounts& gpus, MilliGpu idle);

}  // namespace berth::overview
