// SPDX-License-Identifier: Apache-2.0
//
// What cluster does a state file describe? The FILE of `berth plan --state FILE`: YAML or JSON,
// documented field by field in docs/reference/state-file.md.
//
// Guarantees: the result is consistent (every name exists and is unique, parents make a tree, jobs
// live in leaf projects, running tasks fit their GPUs), and the order of the lists does not
// matter: nodes are sorted by name (n2 before n10), projects by depth and name, jobs by creation,
// project and name. Three orders do matter: that of pools (a node joins the first that it
// matches), that of a job's tasks (their ranks), and that of projects without `created`.
#pragma once

#include <string_view>

#include "base/result.h"
#include "model/description.h"

namespace berth::codec {

// Errors: Invalid, one line naming file, line, field, what was wanted and what was found.
base::Result<model::Description> parse_state(std::string_view text, std::string_view file_name);

// n2 before n10: digits compare as numbers, the rest byte by byte.
bool is_before_naturally(std::string_view a, std::string_view b);

}  // namespace berth::codec
