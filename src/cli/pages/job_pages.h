// SPDX-License-Identifier: Apache-2.0
//
// What do `berth why` and `berth show` tell of one job? The sentence first, then the numbers that
// decided it, who is in the way, and the receipt of the last pause.
#pragma once

#include <span>
#include <string>

#include "cli/pages/job_text.h"
#include "cli/terminal/style.h"
#include "codec/api/json_api.h"
#include "model/event.h"

namespace berth::cli {

// Why it waits; for a job that does not wait, that it does not.
std::string why_page(const codec::JobView& job, const codec::NameTable& names, base::TimePoint now,
                     const Style& style);

// Who paused it, by which rule, what it cost and what happens next. Empty when it never paused.
std::string receipt_page(const model::JobRecord& job, const codec::NameTable& names,
                         base::TimePoint now, const Style& style);

// The events of a life, with the names of their own list.
struct Timeline {
    std::span<const model::Event> events;
    const codec::NameTable& names;
};

// Everything, with the events of its life.
std::string show_page(const codec::JobView& job, const codec::NameTable& names,
                      const Timeline& timeline, base::TimePoint now, TimeForm form,
                      const Style& style);

}  // namespace berth::cli
