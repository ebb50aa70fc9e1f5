// SPDX-License-Identifier: Apache-2.0
//
// How does a document read as YAML? The same members in the same order as its JSON, in block style;
// what could be taken for something else is in quotes, so that reading it gives the document again.
#pragma once

#include <string>

#include "codec/text/json.h"

namespace berth::cli {

// Ends with a newline.
std::string yaml_text(const codec::Value& document);

}  // namespace berth::cli
