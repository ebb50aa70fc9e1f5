// SPDX-License-Identifier: Apache-2.0
//
// How do a replay of the last days, and the wish for one, look as JSON? As json_api.h says of all.
#pragma once

#include "codec/api/json_api.h"
#include "model/answer/what_if_replay.h"

namespace berth::codec {

std::string replay_request_json(const model::ReplayRequest& request);
base::Result<model::ReplayRequest> parse_replay_request(std::string_view text);
std::string what_if_replay_json(const model::WhatIfReplay& replay, const NameSource& names);
base::Result<model::WhatIfReplay> parse_what_if_replay(std::string_view text);

}  // namespace berth::codec
