// SPDX-License-Identifier: Apache-2.0
#include "kube/client/identity/base64.h"

namespace berth::kube::client {

std::optional<std::string> decode_base64(std::string_view text) {
    static constexpr std::string_view kLetters =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string bytes;
    unsigned bits = 0;
    std::size_t letters = 0;
    std::size_t padding = 0;
    for (const char letter : text) {
        if (letter == ' ' || letter == '\n' || letter == '\r' || letter == '\t') continue;
        if (letter == '=') {
            ++padding;
            continue;
        }
        const auto value = kLetters.find(letter);
        if (value == std::string_view::npos || padding > 0) return std::nullopt;
        bits = bits << 6 | static_cast<unsigned>(value);
        if (++letters % 4 == 0) {
            for (const int shift : {16, 8, 0}) bytes += static_cast<char>(bits >> shift & 255);
            bits = 0;
        }
    }
    const std::size_t rest = letters % 4;
    if ((letters + padding) % 4 != 0 || padding > 2 || rest == 1) return std::nullopt;
    if (rest == 3) bits <<= 6;
    if (rest == 2) bits <<= 12;
    if (rest >= 2) bytes += static_cast<char>(bits >> 16 & 255);
    if (rest == 3) bytes += static_cast<char>(bits >> 8 & 255);
    return bytes;
}

}  // namespace berth::kube::client
