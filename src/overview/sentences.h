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

enum class About : std::uint8_t { OwnJobs, Waiting, NotReady, Quotas };
inline constexpr std::string_view kAboutNames[] = {"own_jobs", "waiting", "not_ready", "quotas"};

struct Sentence {
    About about = About::OwnJobs;
    std::string text;
};

// As they are for that user.
std::vector<Sentence> sentences(const Overview& overview, std::string_view user);

}  // namespace berth::overview
