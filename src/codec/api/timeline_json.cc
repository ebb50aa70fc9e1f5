// SPDX-License-Identifier: Apache-2.0
#include "codec/api/timeline_json.h"

#include "codec/api/api_style.h"
#include "codec/api/timeline_fields.h"

namespace berth::codec {

std::string timeline_json(const model::JobTimeline& timeline, const NameSource& names) {
    return document("JobTimeline", timeline, &names);
}
base::Result<model::JobTimeline> parse_timeline(std::string_view text, NameTable& names) {
    return parse_document<model::JobTimeline>(text,
                                              ApiStyle("JobTimeline", Reading::Lenient, &names));
}

std::string spans_json(const model::ClusterTimeline& timeline, const NameSource& names) {
    return document("ClusterTimeline", timeline, &names);
}
base::Result<model::ClusterTimeline> parse_spans(std::string_view text, NameTable& names) {
    return parse_document<model::ClusterTimeline>(
        text, ApiStyle("ClusterTimeline", Reading::Lenient, &names));
}

std::string takings_json(const model::Takings& takings, const NameSource& names) {
    return document("TakingList", takings, &names);
}

std::string receipts_json(const model::JobReceipts& receipts, const NameSource& names) {
    return document("ReceiptList", receipts, &names);
}

}  // namespace berth::codec
