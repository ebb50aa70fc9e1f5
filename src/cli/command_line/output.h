// SPDX-License-Identifier: Apache-2.0
//
// In which form is an answer wanted? -o table|wide|json|yaml|name|csv, --json and -q, the same for
// all verbs that show things. Scripts read json, name and csv: those are never cut or coloured.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/command_line/arguments.h"
#include "cli/command_line/context.h"
#include "cli/terminal/table.h"

namespace berth::cli {

// Document: what the server sent, as JSON or YAML.
enum class OutputForm { Table, Wide, Document, Name, Csv };

inline constexpr Flag kListOutputFlag{'o',
                                      "output",
                                      "FORM",
                                      "table, wide, json, yaml, name or csv",
                                      Completes::Choices,
                                      "table|wide|json|yaml|name|csv"};
inline constexpr Flag kPageOutputFlag{
    'o', "output", "FORM", "text, json or yaml", Completes::Choices, "text|json|yaml"};
inline constexpr Flag kJsonFlag{0, "json", "", "the same as -o json"};
inline constexpr Flag kQuietFlag{'q', "quiet", "", "only names or numbers, one a line"};
inline constexpr Flag kTimeFlag{
    0, "time", "FORM", "ago, or iso for absolute times with zone", Completes::Choices, "ago|iso"};

// Of a verb with kListOutputFlag and kJsonFlag, and kQuietFlag when `has_quiet`.
OutputForm form_wanted(const Arguments& arguments, bool has_quiet);

// Of a verb with kPageOutputFlag and kJsonFlag.
bool wants_document(const Arguments& arguments);

// Prints a table in a form other than Document. `names` are what -q and -o name show.
void print_table(const Context& context, const Table& table, OutputForm form,
                 const std::vector<std::string>& names);

// Prints JSON that came from the server as it is wanted: indented, or as YAML.
void print_document(const Arguments& arguments, std::string_view json);
std::string indented_json(std::string_view json);

}  // namespace berth::cli
