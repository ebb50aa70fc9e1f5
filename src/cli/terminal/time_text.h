// SPDX-License-Identifier: Apache-2.0
//
// How are moments and durations shown to people?
#pragma once

#include <string>

#include "base/quantity.h"

namespace berth::cli {

enum class TimeForm { Ago, Iso };

// The present, UTC.
base::TimePoint clock_now();

// "4m ago", or RFC 3339 with the local offset.
std::string moment(base::TimePoint time, base::TimePoint now, TimeForm form);
// "14:32:07" in local time.
std::string clock_time(base::TimePoint time);
// Coarse: one unit below a minute, at most two above: "7s", "3h12m".
std::string age(base::Duration duration);

}  // namespace berth::cli
