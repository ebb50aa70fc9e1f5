// SPDX-License-Identifier: Apache-2.0
//
// Where are the public traces, and what do they hold? BERTH_TRACES names their folder.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "simulation/trace.h"

namespace berth::simulation {

// Empty when they are not here.
std::filesystem::path traces_folder();

// The unpacked bytes of one.
std::string read_text(const std::filesystem::path& file);
Trace read_trace(const std::filesystem::path& file, std::string_view format);

}  // namespace berth::simulation
