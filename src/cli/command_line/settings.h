// SPDX-License-Identifier: Apache-2.0
//
// What has the user settled for all commands? $XDG_CONFIG_HOME/berth/config.toml, so far one
// line: project = "nlp". The environment (BERTH_PROJECT) goes before the file, a flag before both.
#pragma once

#include <string>

#include "base/result.h"

namespace berth::cli {

// BERTH_PROJECT, else the file's; empty when neither says.
std::string default_project();

// Keeps the other lines of the file. Errors: Unavailable.
base::Status save_default_project(const std::string& name);

}  // namespace berth::cli
