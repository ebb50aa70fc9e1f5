// SPDX-License-Identifier: Apache-2.0
//
// A job as one line of a list: what is shown of each of ten thousand.
//   {"id":7,"name":"ft","project":"nlp","user":"ann","gpus":2,"state":"queued",...}
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "codec/api/json_api.h"
#include "codec/fields/described.h"

namespace berth::codec {

struct JobRow {
    model::JobId id;
    std::string name;
    std::string project;
    std::string user;
    model::MilliGpu gpus{0};  // that it has; of one without, that it asks for
    model::JobState state = model::JobState::Queued;
    bool held = false;    // until a user resumes it
    bool parked = false;  // it runs without a GPU, until it calls one
    model::TimePoint since;  // it is in this state, or waits
    int position = 0;     // in the order in which jobs are served; 0 = in none
    std::optional<model::Reason> reason;  // why it waits
    std::string why;      // the same as a sentence, or how it ended; may be empty
    std::vector<model::JobId> blockers;
    std::vector<model::NodeId> nodes;  // at most kRowNodes of those it runs on
};

template <>
struct Fields<JobRow> {
    static void visit(auto&& field) {
        field("id", &JobRow::id);
        field("name", &JobRow::name);
        field("project", &JobRow::project);
        field("user", &JobRow::user);
        field("gpus", &JobRow::gpus);
        field("state", &JobRow::state);
        field("held", &JobRow::held);
        field("parked", &JobRow::parked);
        field("since", &JobRow::since);
        field("position", &JobRow::position);
        field("reason", &JobRow::reason);
        field("why", &JobRow::why);
        field("blockers", &JobRow::blockers);
        field("nodes", &JobRow::nodes);
    }
};

inline constexpr std::size_t kRowNodes = 3;

// A row of that job, without what is known of waiting ones alone.
JobRow row_of(const model::JobRecord& record);

// Without an envelope, to stand inside another document.
void append_job_row(std::string& out, const JobRow& row, const NameSource& names);

}  // namespace berth::codec
