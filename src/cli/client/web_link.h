// SPDX-License-Identifier: Apache-2.0
//
// Which link signs a browser in?
#pragma once

#include <string>

#include "cli/client/client.h"
#include "cli/command_line/exit_code.h"
#include "cli/command_line/server_address.h"

namespace berth::cli {

// A new one, for once and within a minute. Who came over TCP, as through a tunnel, opens it there
// as well. `look_only`: it may look, and change nothing. Errors: those of the server.
Outcome<std::string> web_link(Client& client, const ServerAddress& address, bool look_only);

}  // namespace berth::cli
