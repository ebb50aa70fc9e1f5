// SPDX-License-Identifier: Apache-2.0
//
// How does a text come smaller over the wire?
#pragma once

#include <string>
#include <string_view>

namespace berth::api {

// As a gzip file (RFC 1952) without name and time: the same text gives the same bytes.
std::string gzipped(std::string_view text);

}  // namespace berth::api
