// SPDX-License-Identifier: Apache-2.0
#include "codec/example_blocks.h"

#include <fstream>

#include "base/check.h"

namespace berth::codec {

std::vector<ExampleBlock> example_blocks(const std::string& page) {
    std::ifstream file(std::string(BERTH_SOURCE_DIR) + "/" + page);
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
