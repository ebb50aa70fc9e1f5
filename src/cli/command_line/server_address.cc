// SPDX-License-Identifier: Apache-2.0
#include "cli/command_line/server_address.h"

#include <string_view>
#include <utility>

namespace berth::cli {

Outcome<ServerAddress> parse_address(const std::string& url, std::string token) {
    const std::string_view wanted = "BERTH_URL: wanted http://HOST:PORT, found \"";
    constexpr std::string_view kScheme = "http://";
    if (!url.starts_with(kScheme)) return bad_usage(std::string(wanted) + url + "\"");
    std::string place = url.substr(kScheme.size());
    if (const std::size_t slash = place.find('/'); slash != std::string::npos) {
        if (slash + 1 != place.size()) return bad_usage(std::string(wanted) + url + "\"");
        place.resize(slash);
    }
    ServerAddress address;
    address.port = "7421";
    const std::size_t bracket = place.find(']');
    const std::size_t colon = place.find(':', bracket == std::string::npos ? 0 : bracket);
    if (colon != std::string::npos) address.port = place.substr(colon + 1);
    address.host = place.substr(0, colon);
    if (bracket != std::string::npos) address.host = place.substr(1, bracket - 1);
    if (address.host.empty() || address.port.empty()) {
        return bad_usage(std::string(wanted) + url + "\"");
    }
    address.token = std::move(token);
    return address;
}

}  // namespace berth::cli
