// SPDX-License-Identifier: Apache-2.0
//
// How is a cluster written into a state file? As JSON that parse_state() reads back to the same
// description. Every field that is not as by default is written.
#pragma once

#include <string>

#include "model/description.h"

namespace berth::codec {

std::string state_json(const model::Description& description);

}  // namespace berth::codec
