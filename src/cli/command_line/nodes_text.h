// SPDX-License-Identifier: Apache-2.0
//
// How are nodes written on the command line? "2xH100:8": two nodes of eight H100; "2x8" leaves the
// model unsaid, "H100:8" how many.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace berth::cli {

struct NodesText {
    std::optional<int> count;  // none: not said
    std::string gpu_model;  // empty: not said
    int gpus = 0;           // of each
};

// Counts are above 0; none when it is not of that form.
std::optional<NodesText> read_nodes_text(std::string_view text);

}  // namespace berth::cli
