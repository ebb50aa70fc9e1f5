// SPDX-License-Identifier: Apache-2.0
//
// What do people call this GPU? "NVIDIA H100 80GB HBM3" is an H100: the word they write in
// `-g H100:2`. Variants of one model share it; the full name is in the node's labels.
#pragma once

#include <string>
#include <string_view>

namespace berth::nvml {

std::string short_model_name(std::string_view product);

}  // namespace berth::nvml
