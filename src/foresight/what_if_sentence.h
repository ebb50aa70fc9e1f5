// SPDX-License-Identifier: Apache-2.0
//
// What would be different, in one sentence? What happens to jobs, then how many wait.
#pragma once

#include <string>

#include "model/answer/what_if.h"

namespace berth::foresight {

std::string sentence_of(const model::WhatIf& what_if);

}  // namespace berth::foresight
