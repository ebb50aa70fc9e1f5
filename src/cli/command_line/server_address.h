// SPDX-License-Identifier: Apache-2.0
//
// Where is the server? A Unix socket, or an address of BERTH_URL.
#pragma once

#include <string>

#include "cli/command_line/exit_code.h"

namespace berth::cli {

struct ServerAddress {
    std::string socket;                    // path of a Unix socket; empty = TCP
    std::string host;
    std::string port;
    std::string token;                     // sent as bearer token when not empty
};

// http://HOST[:PORT][/]. Errors: bad usage.
Outcome<ServerAddress> parse_address(const std::string& url, std::string token);

}  // namespace berth::cli
