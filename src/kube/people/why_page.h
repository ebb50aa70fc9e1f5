// SPDX-License-Identifier: Apache-2.0
//
// What does berth kube why say? A sentence, the numbers, and of a paused Job the receipt, laid out
// as berth why lays it out.
#pragma once

#include <string>

#include "cli/terminal/style.h"
#include "kube/people/work.h"

namespace berth::kube::people {

// `beneficiary`: for whom it was paused, in words; empty: for no other.
std::string why_page(const Work& work, const std::string& beneficiary, base::TimePoint now,
                     const cli::Style& style);

}  // namespace berth::kube::people
