// SPDX-License-Identifier: Apache-2.0
//
// Who is at the other end, and may they ask? On the Unix socket the kernel tells the user: the
// server's own and root may. On TCP the bearer token of the data directory must be shown; only the
// server's user can read that file.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>

#include "base/result.h"

namespace berth::api {

struct Peer {
    bool is_local = false;             // on the Unix socket
    bool is_trusted = false;           // needs no token
    std::string user;
    uid_t uid = 0;                     // on the Unix socket
};

// Of a connected Unix socket.
Peer unix_peer(int socket);
// Of a TCP socket: no user before a token is shown.
Peer network_peer();

// Of a header "Bearer TOKEN"; empty: there is none in it.
std::string_view shown_token(std::string_view authorization);

// Takes as long for a wrong one as for the right one.
bool is_secret(std::string_view shown, std::string_view secret);

// The token in the file, made (mode 0600) when it is missing. Errors: Forbidden (another user may
// know it), Unavailable.
base::Result<std::string> obtain_token(const std::string& path);

// The login name, or the number when it has none.
std::string user_name(uid_t uid);

}  // namespace berth::api
