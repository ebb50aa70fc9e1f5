// SPDX-License-Identifier: Apache-2.0
//
// For tests: which examples does a page under docs/ show? Its fenced code blocks, so that every
// one of them can be executed.
#pragma once

#include <fstream>
#include <string>
#include <vector>

#include "base/check.h"

namespace berth::codec {

struct ExampleBlock {
    std::string language;  // behind the opening fence
    std::string text;
    int line = 0;          // of its first line in the page
};

// `page` is relative to the root of the repository. Aborts when it cannot be read.
inline std::vector<ExampleBlock> example_blocks(const std::string& page) {
    std::ifstream file(std::string(BERTH_SOURCE_DIR) + "/" + page);
    // ours: a page of this repository, for tests
    BERTH_CHECK(file.good(), "the page is in the repository");
    std::vector<ExampleBlock> blocks;
    bool is_inside = false;
    int number = 0;
    for (std::string line; std::getline(file, line);) {
        ++number;
        if (line.starts_with("```")) {
            is_inside = !is_inside;
            if (is_inside) blocks.push_back({line.substr(3), "", number + 1});
        } else if (is_inside) {
            blocks.back().text += line + "\n";
        }
    }
    return blocks;
}

}  // namespace berth::codec
