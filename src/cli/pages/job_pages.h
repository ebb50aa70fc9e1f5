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
#include "model/answer/job_timeline.h"
#include "model/event.h"

namespace berth::cli {

// Why it waits; for a job that does not wait, that it does not.
std::string why_page(const codec::JobView& job, const codec::NameTable& names, base::TimePoint now,
                     const Style& style);

// Who paused it, by which rule, what it cost and what happens next. Empty when it never paused.
std::string receipt_page(const model::JobRecord& job, const codec::NameTable& names,
                         base::TimePoint now, const Style& style);

// What it went through, with the names that each list has of its own.
struct Past {
    const model::JobTimeline& timeline;
    const codec::NameTable& timeline_names;
    std::span<const model::Event> events;
    const codec::NameTable& event_names;
};

// Everything, with the spans and the events of its life.
std::string show_page(const codec::JobView& job, const codec::NameTable& names, const Past& past,
                      base::TimePoint now, TimeForm form, const Style& style);

}  // namespace berth::cli
