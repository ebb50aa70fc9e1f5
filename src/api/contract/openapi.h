// SPDX-License-Identifier: Apache-2.0
//
// What is the API, for programs? OpenAPI 3.1, written from the table of routes and the types that
// are answered, so that it cannot say what the server does not do.
#pragma once

#include <string>
#include <string_view>

namespace berth::api {

std::string openapi_json(std::string_view version);

}  // namespace berth::api
