// SPDX-License-Identifier: Apache-2.0
//
// How is the arithmetic of a fair share laid out? One table a level of the tree, its columns adding
// up from left to right, and below it what was offered of the surplus in each round.
#pragma once

#include <string>

#include "cli/terminal/style.h"
#include "model/answer/share_account.h"

namespace berth::cli {

std::string fair_share_page(const model::ShareAccount& account, const Style& style);

}  // namespace berth::cli
