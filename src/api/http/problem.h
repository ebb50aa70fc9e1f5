// SPDX-License-Identifier: Apache-2.0
//
// How is "no" said over HTTP? As application/problem+json, with the status that fits the error
// and, where one exists, the command that helps.
#pragma once

#include <string>
#include <string_view>

#include "api/http/http.h"
#include "base/result.h"

namespace berth::api {

int status_of(base::ErrorCode code);

Response problem(const base::Error& error, std::string_view hint = "");
Response problem(int status, std::string detail, std::string_view hint = "");
// With the time after which asking again is worth it.
Response busy(int status, std::string detail, std::int64_t retry_after_seconds);
// Of what was well formed and cannot be: 422 where problem() says 400.
Response refused(const base::Error& error, std::string_view hint = "");

}  // namespace berth::api
