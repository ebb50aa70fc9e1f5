// SPDX-License-Identifier: Apache-2.0
#include "runtime/random_name.h"

#include <errno.h>
#include <sys/random.h>

#include <cstdint>
#include <string_view>
#include <vector>

namespace berth::runtime {

base::Result<std::string> random_name(std::size_t bytes) {
    std::vector<std::uint8_t> random(bytes);
    for (std::size_t filled = 0; filled < bytes;) {
        const ssize_t got = ::getrandom(random.data() + filled, bytes - filled, 0);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) {
            return base::fail(base::ErrorCode::Unavailable, "the system has no random numbers");
        }
        filled += static_cast<std::size_t>(got);
    }
    constexpr std::string_view kDigits = "0123456789abcdef";
    std::string text;
    for (const std::uint8_t byte : random) {
        text += kDigits[byte >> 4];
        text += kDigits[byte & 15];
    }
    return text;
}

}  // namespace berth::runtime
