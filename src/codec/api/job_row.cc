// SPDX-License-Identifier: Apache-2.0
#include "codec/api/job_row.h"

#include <algorithm>
#include <utility>

#include "codec/api/api_style.h"

namespace berth::codec {

namespace {

model::TimePoint since_of(const model::JobRecord& record) {
    if (record.finished) return *record.finished;
    if (record.parked_since) return *record.parked_since;
    const bool runs = record.state == model::JobState::Running;
    return runs && record.last_start ? *record.last_start : record.waiting_since;
}

// Without the time, which would be another text each second.
std::string what_follows(const model::IdleWarning& idle) {
    const std::string text = "its GPUs do nothing";
    if (!idle.acts_at) return text;
    return text + "; it is " + std::string(done(idle.act)) + " soon unless they are used";
}

}  // namespace

JobRow row_of(const model::JobRecord& record) {
    JobRow row;
    row.id = record.id;
    row.name = record.spec.name;
    row.project = record.spec.project;
    row.user = record.user;
    row.state = record.state;
    row.held = record.held;
    row.parked = record.parked_since.has_value();
    row.since = since_of(record);
    row.why = record.idle ? what_follows(*record.idle) : record.detail;
    for (const model::TaskPlacement& task : record.tasks) {
        row.gpus += task.gpus();
        const bool is_new = std::ranges::find(row.nodes, task.node) == row.nodes.end();
        if (is_new && row.nodes.size() < kRowNodes) row.nodes.push_back(task.node);
    }
    const model::TaskRequest& asked = record.spec.request;
    if (record.tasks.empty()) row.gpus = asked.share * (asked.gpus * record.spec.tasks_max);
    return row;
}

void append_job_row(std::string& out, const JobRow& row, const NameSource& names) {
    JsonWriter json(out);
    write_value(ApiStyle(&names), json, row);
}

JobRowParts job_row_parts(JobRow row, const NameSource& names) {
    JobRowParts parts;
    if (row.reason) {
        parts.explanation = plain_json(
            Explanation{row.reason, std::exchange(row.why, {}), std::move(row.blockers)}, &names);
    }
    parts.line = plain_json<JobLine>(row, &names);
    return parts;
}

}  // namespace berth::codec
