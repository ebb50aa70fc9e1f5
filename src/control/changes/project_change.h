// SPDX-License-Identifier: Apache-2.0
//
// What is a project to be? Worked out in the turn that makes it so, from what it is then: of two
// changes that come together, the second one starts from the first.
#pragma once

#include <functional>
#include <string>

#include "control/transaction.h"

namespace berth::control {

// A new one has a name and a place in the order, and no more. What it fails with is what the change
// is refused with.
using ProjectChange =
    std::function<base::Result<model::Project>(model::Project project, bool is_new)>;

// All of it but its place in the order, whatever it was.
ProjectChange as_given(model::Project project);

// Errors: those of the change, and of lifecycle::check.
base::Status take_project(Transaction& transaction, const std::string& name,
                          const ProjectChange& change, const std::string& actor);

}  // namespace berth::control
