// SPDX-License-Identifier: Apache-2.0
//
// What happened, in words? One phrase for each kind of event.
#pragma once

#include <string>

#include "cli/pages/job_text.h"
#include "model/event.h"

namespace berth::cli {

// "attempt 2 starts on n1:0-3 (reclaim)"; without the job's name.
std::string event_text(const model::Event& event, const codec::NameTable& names);

// One line: time, job, what, by whom.
std::string event_line(const model::Event& event, const codec::NameTable& names,
                       base::TimePoint now, TimeForm form, const Style& style);

}  // namespace berth::cli
