// SPDX-License-Identifier: Apache-2.0
//
// Is a thing still as who changes it has read it? Its entity tag (RFC 9110, 8.8.3) is made from
// what its document says and from nothing else: it is another one when, and only when, the thing
// is.
#pragma once

#include <string>
#include <string_view>

#include "api/http/http.h"

namespace berth::api {

std::string tag_of(std::string_view document);

// The document with its tag, or 304 to who has it.
Response tagged(const Request& request, std::string document);

// Whether a change may be made that depends on `expected` (If-Match); who expects nothing takes the
// thing as it is. Asked in the turn that makes the change: of two changes of one reading, the
// second one is refused. An empty `tag`: there is no such thing, which is never what was expected.
bool is_as_expected(std::string_view expected, std::string_view tag);

}  // namespace berth::api
