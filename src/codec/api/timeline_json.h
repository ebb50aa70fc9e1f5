// SPDX-License-Identifier: Apache-2.0
//
// How does the past of a job look as JSON: what it was, and the receipts of its pauses? By the
// rules of json_api.h.
#pragma once

#include <string>
#include <string_view>

#include "codec/api/json_api.h"
#include "model/answer/cluster_timeline.h"
#include "model/answer/past_pause.h"

namespace berth::codec {

std::string timeline_json(const model::JobTimeline& timeline, const NameSource& names);
base::Result<model::JobTimeline> parse_timeline(std::string_view text, NameTable& names);

std::string spans_json(const model::ClusterTimeline& timeline, const NameSource& names);
base::Result<model::ClusterTimeline> parse_spans(std::string_view text, NameTable& names);

std::string takings_json(const model::Takings& takings, const NameSource& names);
std::string receipts_json(const model::JobReceipts& receipts, const NameSource& names);

}  // namespace berth::codec
