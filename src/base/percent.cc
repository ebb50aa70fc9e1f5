// SPDX-License-Identifier: Apache-2.0
#include "base/percent.h"

#include <cctype>

namespace berth::base {

std::string percent_encoded(std::string_view text) {
    static constexpr std::string_view kDigits = "0123456789ABCDEF";
    std::string encoded;
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        const bool is_plain = (byte < 0x80 && std::isalnum(byte) != 0) ||
                              std::string_view("-._~").find(c) != std::string_view::npos;
        if (is_plain) {
            encoded += c;
        } else {
            encoded += '%';
            encoded += kDigits[byte >> 4];
            encoded += kDigits[byte & 15];
        }
    }
    return encoded;
}

}  // namespace berth::base
