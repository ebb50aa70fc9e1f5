// SPDX-License-Identifier: Apache-2.0
//
// How is a what-if shown? The jobs with another outcome, now and then.
#pragma once

#include <string>

#include "cli/terminal/style.h"
#include "codec/api/json_api.h"

namespace berth::cli {

// `title` says what is supposed: "with the quota vision=6".
std::string what_if_page(const model::WhatIf& what_if, const codec::NameTable& names,
                         const std::string& title, const Style& style);

}  // namespace berth::cli
