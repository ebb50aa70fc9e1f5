// SPDX-License-Identifier: Apache-2.0
//
// How is a change of the cluster typed, and what is said of it?
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/command_line/arguments.h"
#include "cli/command_line/exit_code.h"
#include "codec/text/json_writer.h"

namespace berth::cli {

enum class MapOf { Texts, Numbers };

// The field of the flag's name from "KEY=VALUE,KEY=VALUE", when the flag was given; "KEY=" takes
// the entry away. Errors: bad usage.
Success add_map(codec::JsonWriter& json, const Arguments& arguments, std::string_view flag,
                MapOf values);

inline constexpr Flag kStrictFlag{.name = "strict-shares",
                                  .value = "YES|NO",
                                  .help = "whether a share of a GPU is also its cap",
                                  .completes = Completes::Choices,
                                  .choices = "yes|no",
                                  .fields = "strict_shares"};
void add_strict(codec::JsonWriter& json, const Arguments& arguments);

// What the server wants considered: one line each, on standard error.
void print_notes(const std::vector<std::string>& notes);

}  // namespace berth::cli
