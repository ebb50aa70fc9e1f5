// SPDX-License-Identifier: Apache-2.0
//
// How does what is asked and answered look, as JSON Schema? Types that describe themselves say it
// (codec/api/api_schema.h); what is written or read by hand has its schema here.
#pragma once

#include <string>

#include "codec/api/api_schema.h"

namespace berth::api::schemas {

using codec::SchemaBook;

// --- answers
std::string problem(SchemaBook& book);
std::string notes(SchemaBook& book);
std::string server(SchemaBook& book);
std::string overview(SchemaBook& book);
std::string topology(SchemaBook& book);
std::string ledger(SchemaBook& book);
std::string job(SchemaBook& book);
std::string submitted(SchemaBook& book);  // a job, or what would become of it
std::string jobs(SchemaBook& book);
std::string verdict(SchemaBook& book);
std::string timeline(SchemaBook& book);
std::string spans(SchemaBook& book);
std::string receipts(SchemaBook& book);
std::string takings(SchemaBook& book);
std::string attachment(SchemaBook& book);
std::string events(SchemaBook& book);
std::string nodes(SchemaBook& book);
std::string pools(SchemaBook& book);
std::string projects(SchemaBook& book);
std::string project(SchemaBook& book);
std::string fair_share(SchemaBook& book);
std::string what_if(SchemaBook& book);
std::string what_if_replay(SchemaBook& book);
std::string policy(SchemaBook& book);
std::string caller(SchemaBook& book);
std::string link(SchemaBook& book);
std::string any_object(SchemaBook& book);
std::string text(SchemaBook& book);  // no JSON

// --- what is asked
std::string shutdown(SchemaBook& book);
std::string submission(SchemaBook& book);
std::string steering(SchemaBook& book);
std::string keeping(SchemaBook& book);
std::string job_change(SchemaBook& book);
std::string node_change(SchemaBook& book);
std::string pool_change(SchemaBook& book);
std::string project_change(SchemaBook& book);
std::string what_if_question(SchemaBook& book);
std::string replay_question(SchemaBook& book);
std::string settings(SchemaBook& book);
std::string link_wish(SchemaBook& book);
std::string code(SchemaBook& book);

}  // namespace berth::api::schemas
