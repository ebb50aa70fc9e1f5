// SPDX-License-Identifier: Apache-2.0
//
// Where are the public traces, and what do they hold?
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "simulation/trace/trace.h"

namespace berth::simulation {

// Empty where there are none: tests say so and skip.
std::filesystem::path traces_folder();

// The unpacked bytes of one. Fails the test when it cannot be read.
std::string read_text(const std::filesystem::path& file);
Trace read(const std::filesystem::path& file, std::string_view format = "muri");

}  // namespace berth::simulation
