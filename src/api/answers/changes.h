// SPDX-License-Identifier: Apache-2.0
//
// How is a change asked for and answered? The fields that are given change, the others stay; in a
// map of texts the entries that are given change, and null takes one away (RFC 7396).
#pragma once

#include <span>
#include <string>

#include "codec/text/field_reader.h"

namespace berth::api {

// Changes the labels as the field says.
void change_labels(codec::FieldReader& fields, std::string_view name, model::Labels& labels);

// {"warnings": [...]}: what is to be considered, one sentence each.
std::string notes_json(std::span<const std::string> notes);

}  // namespace berth::api
