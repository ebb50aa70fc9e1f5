// SPDX-License-Identifier: Apache-2.0
//
// For tests: the fenced code blocks of a page under docs/, so that every example is executed.
#pragma once

#include <string>
#include <vector>

namespace berth::codec {

struct ExampleBlock {
    std::string language;  // behind the opening fence
    std::string text;
    int line = 0;          // of its first line in the page
};

// `page` is relative to the root of the repository. Aborts when it cannot be read.
std::vector<ExampleBlock> example_blocks(const std::string& page);

}  // namespace berth::codec
