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

// What it is by itself.
struct JobLine {
    model::JobId id;
    std::string name;
    std::string project;
    std::string user;
    model::MilliGpu gpus{0};  // that it has; of one without, that it asks for
    model::JobState state = model::JobState::Queued;
    bool held = false;    // until a user resumes it
    bool parked = false;  // it runs without a GPU, until it calls one
    model::TimePoint since;  // it is in this state, or waits
    std::string why;  // why it waits, as a sentence, what it is warned of, or how it ended
    std::vector<model::NodeId> nodes;  // at most kRowNodes of those it runs on
};

struct JobRow : JobLine {
    int position = 0;     // in the order in which jobs are served; 0 = in none
    std::optional<model::Reason> reason;  // why it waits
    std::vector<model::JobId> blockers;
};

// Why a job waits, which others have in common with it.
struct Explanation {
    std::optional<model::Reason> reason;
    std::string why;
    std::vector<model::JobId> blockers;
};

template <>
struct Fields<JobLine> {
    static void visit(auto&& field) {
        field("id", &JobLine::id);
        field("name", &JobLine::name);
        field("project", &JobLine::project);
        field("user", &JobLine::user);
        field("gpus", &JobLine::gpus);
        field("state", &JobLine::state);
        field("held", &JobLine::held);
        field("parked", &JobLine::parked);
        field("since", &JobLine::since);
        field("why", &JobLine::why);
        field("nodes", &JobLine::nodes);
    }
};
template <>
struct Fields<JobRow> {
    static void visit(auto&& field) {
        Fields<JobLine>::visit(field);
        field("position", &JobRow::position);
        field("reason", &JobRow::reason);
        field("blockers", &JobRow::blockers);
    }
};
template <>
struct Fields<Explanation> {
    static void visit(auto&& field) {
        field("reason", &Explanation::reason);
        field("why", &Explanation::why);
        field("blockers", &Explanation::blockers);
    }
};
inline constexpr std::size_t kRowNodes = 3;

// A row of that job, without what is known of waiting ones alone.
JobRow row_of(const model::JobRecord& record);

// Without an envelope, to stand inside another document.
void append_job_row(std::string& out, const JobRow& row, const NameSource& names);
// The same in two parts: what it is by itself, and why it waits; empty = it does not.
struct JobRowParts {
    std::string line;
    std::string explanation;
};
JobRowParts job_row_parts(JobRow row, const NameSource& names);

}  // namespace berth::codec
