// SPDX-License-Identifier: Apache-2.0
//
// How is a page about one job laid out? A sentence, then lines with a label each, wrapped at words
// in what is as wide as the style, so that nothing is lost.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/terminal/style.h"

namespace berth::cli {

// "  asks        text"; a long text goes on below.
std::string line(std::string_view label, const std::string& text, const Style& style);

// `text` in lines that leave `margin` columns of the style's width, broken at spaces.
std::vector<std::string> wrapped(const std::string& text, const Style& style, int margin);

// `sentence` with `tag` flush right when there is room, wrapped at words otherwise.
std::string headline(std::string sentence, const std::string& tag, const Style& style);

// With one full stop at its end.
std::string sentence_of(std::string text);

}  // namespace berth::cli
