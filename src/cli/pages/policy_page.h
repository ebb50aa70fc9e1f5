// SPDX-License-Identifier: Apache-2.0
//
// How are the settings of the policy shown? One row each, those that people have set marked.
#pragma once

#include <span>

#include "cli/terminal/table.h"
#include "codec/api/policy_view.h"

namespace berth::cli {

Table setting_table(std::span<const codec::SettingView> settings);

}  // namespace berth::cli
