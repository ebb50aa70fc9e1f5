// SPDX-License-Identifier: Apache-2.0
#include "cli/command_line/nodes_text.h"

#include <charconv>

namespace berth::cli {
namespace {

std::optional<int> read_number(std::string_view text) {
    int number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    const bool is_whole = error == std::errc() && end == text.data() + text.size();
    return is_whole && number > 0 ? std::optional(number) : std::nullopt;
}

}  // namespace

std::optional<NodesText> read_nodes_text(std::string_view text) {
    NodesText nodes;
    const std::size_t times = text.find('x');
    if (times != std::string_view::npos && times > 0 &&
        text.find_first_not_of("0123456789") == times) {
        nodes.count = read_number(text.substr(0, times));
        if (!nodes.count) return std::nullopt;
        text.remove_prefix(times + 1);
    }
    if (const std::size_t colon = text.rfind(':'); colon != std::string_view::npos) {
        nodes.gpu_model = text.substr(0, colon);
        text.remove_prefix(colon + 1);
        if (nodes.gpu_model.empty()) return std::nullopt;
    }
    const auto gpus = read_number(text);
    if (!gpus) return std::nullopt;
    nodes.gpus = *gpus;
    return nodes;
}

}  // namespace berth::cli
