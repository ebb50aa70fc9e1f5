// SPDX-License-Identifier: Apache-2.0
//
// How does a text stand in an address? With %XX for all but letters, digits and -._~.
#pragma once

#include <string>
#include <string_view>

namespace berth::base {

std::string percent_encoded(std::string_view text);

}  // namespace berth::base
