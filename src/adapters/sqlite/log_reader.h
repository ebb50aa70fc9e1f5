// SPDX-License-Identifier: Apache-2.0
//
// How is the log read on another thread, beside the store that writes it? By a connection of its
// own, that writes nothing and holds no lock between two calls.
#pragma once

#include <memory>
#include <string>

#include "ports/log_reader.h"

namespace berth::adapters::sqlite {

// Of the directory of a store that is open, and is gone only after this. Errors: Unavailable.
base::Result<std::unique_ptr<ports::LogReader>> open_log(const std::string& directory);

}  // namespace berth::adapters::sqlite
