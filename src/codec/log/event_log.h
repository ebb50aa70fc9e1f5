// SPDX-License-Identifier: Apache-2.0
//
// How are events, commands, finished jobs and snapshots written down for the store? As one line
// of JSON each, with the version of the format in front; fields that have their default are left
// out. Times are milliseconds since 1970, GPUs and CPUs thousandths, memory bytes.
//   {"v":1,"seq":7,"time":1700000000000,"actor":"scheduler","type":"job_running","job":3}
//
// Guarantees: what was written is read back equal, whatever bytes its strings hold
// (json_writer.h); a text of a newer version is refused and says so; an unknown field of the same
// version is passed over, so fields may be added. Cost: linear, no tree in between.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "model/event.h"
#include "model/job/launch.h"
#include "model/record.h"

namespace berth::codec {

inline constexpr int kLogVersion = 1;

void append_event(std::string& out, const model::Event& event);
void append_launch(std::string& out, const model::LaunchSpec& launch);
void append_snapshot(std::string& out, const model::Snapshot& snapshot);

// A job that ended. Its command is with those alone that an earlier version wrote down.
struct FinishedJob {
    model::JobRecord record;
    std::optional<model::LaunchSpec> launch;
};
void append_finished(std::string& out, const model::JobRecord& record);

// Errors: Invalid, when the text is none of ours or of a newer version.
base::Result<model::Event> parse_event(std::string_view text);
base::Result<model::LaunchSpec> parse_launch(std::string_view text);
base::Result<model::Snapshot> parse_snapshot(std::string_view text);

// What the order of jobs remembers, in a state file.
std::string order_text(const model::OrderLedger& ledger);
base::Result<model::OrderLedger> parse_order(std::string_view text);
base::Result<FinishedJob> parse_finished(std::string_view text);

// "job_submitted"; the word in the log and in the API.
std::string_view event_type(const model::EventBody& body);
// The job an event is about; not valid for pools, nodes and projects.
model::JobId job_of(const model::EventBody& body);

}  // namespace berth::codec
