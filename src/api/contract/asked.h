// SPDX-License-Identifier: Apache-2.0
//
// Is what is asked what may be asked there? A misspelt wish is refused, and not passed over.
#pragma once

#include <string>
#include <vector>

#include "api/contract/route_table.h"

namespace berth::api {

// Errors: Invalid, naming the parameter. `words`: what the path has in place of its open ones.
base::Status check_asked(const Route& route, const Request& request,
                         const std::vector<std::string>& words);

}  // namespace berth::api
