// SPDX-License-Identifier: Apache-2.0
//
// A random cluster in which GPUs are fought for: borrowers fill it, owners of quota and higher
// priorities come, so that many decisions pause a job. In random_script.h's words.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "base/rng.h"
#include "lifecycle/apply.h"
#include "random_script.h"

namespace berth::proof {

Setting contested_setting(base::Rng& rng);
// Every second one is contested.
Setting any_setting(base::Rng& rng);

// Who comes next, in one of the projects that are left; none where something else is to happen.
std::optional<std::string> contested_event(base::Rng& rng, const Setting& setting,
                                           std::span<const std::string> projects,
                                           const lifecycle::State& state, Course& course);

}  // namespace berth::proof
