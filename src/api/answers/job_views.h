// SPDX-License-Identifier: Apache-2.0
//
// How is a job shown? Its record with the reason why it waits, and what the ids in it are called.
#pragma once

#include <functional>

#include "api/answers/sight.h"
#include "codec/api/job_row.h"

namespace berth::api {

// Of a job, live or ended. Errors: NotFound.
base::Result<codec::JobView> view_of(const Sight& sight, model::JobId job);
codec::JobView view_of(const Sight& sight, const model::JobRecord& record);
// With what it had of GPUs up to then; the ones above say it up to now, or up to the last event.
codec::JobView view_of(const Sight& sight, const model::JobRecord& record, model::TimePoint until);

// Without what takes time to find out: why it waits is all that is known beside the record.
codec::JobView verdict_view(const Sight& sight, const model::JobRecord& record);
codec::JobRow row_of(const codec::JobView& view);

// Adds what the order of jobs says of one that has not ended; of a waiting one what would start it,
// and when it will start. `done` is called now or later. What was foreseen at a moment that is past
// is not known.
void foresee(const Sight& sight, codec::JobView view, std::function<void(codec::JobView)> done);

// The answer to `overview` but its sequence, so that it stays the same until what it says changes.
std::string overview_json(const overview::Overview& seen, const std::string& user);

// Valid while the site is.
codec::NameSource names(const Sight& sight);

// Appends one more member to a finished JSON object that has some.
void add_member(std::string& object, std::string_view name, std::string_view json);

codec::ProcessView shown(const ports::UncountedProcess& process);

Response json_response(std::string body, int status = 200);

}  // namespace berth::api
