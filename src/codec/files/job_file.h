// SPDX-License-Identifier: Apache-2.0
//
// What does a job file ask for? The FILE of `berth submit FILE`: YAML or JSON, documented field
// by field in docs/reference/job-file.md. Fields of the published design that this version does
// not carry out yet are refused, never passed over.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/job/submission.h"

namespace berth::codec {

// `directory` is absolute: what a relative workdir is relative to. The result's environment holds
// only what the file says; see merge_environment().
// Errors: Invalid, one line naming file, line, field, what was wanted and what was found.
base::Result<model::Submission> parse_job_file(std::string_view text, std::string_view file_name,
                                               std::string_view directory);

// The variables of `base`, changed and extended by `changes`; both are NAME=value.
std::vector<std::string> merge_environment(std::vector<std::string> base,
                                           std::span<const std::string> changes);

}  // namespace berth::codec
