// SPDX-License-Identifier: Apache-2.0
#include "adapters/nvml/gpu_model_name.h"

namespace berth::nvml {
namespace {

std::string_view next_word(std::string_view& text) {
    while (text.starts_with(' ')) text.remove_prefix(1);
    const std::size_t end = text.find(' ');
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(word.size());
    return word;
}

}  // namespace

std::string short_model_name(std::string_view product) {
    std::string_view rest = product;
    std::string_view word = next_word(rest);
    for (const std::string_view brand : {"NVIDIA", "Tesla", "Quadro", "GeForce"}) {
        if (word == brand) word = next_word(rest);
    }
    std::string name(word.substr(0, word.find('-')));  // A100-SXM4-80GB
    if (word == "RTX" || word == "GTX") name += next_word(rest);
    return name;
}

}  // namespace berth::nvml
