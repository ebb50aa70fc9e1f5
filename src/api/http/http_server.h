// SPDX-License-Identifier: Apache-2.0
//
// Where do clients come in? Listens on a Unix socket and on loopback TCP, and keeps the
// connections, each kind within its own budget: a full one shuts no client out of another. One too
// many gets 503 with Retry-After. One thread, that of the io_context.
#pragma once

#include <boost/asio/io_context.hpp>
#include <memory>
#include <string>

#include "api/http/http_connection.h"
#include "base/result.h"

namespace berth::api {

inline constexpr std::size_t kConnectionsMax = 1000;  // of the server's user, on the socket
inline constexpr std::size_t kKeptConnectionsMax = 16;  // more of that user, for one answer each
inline constexpr std::size_t kGuestConnectionsMax = 64;  // of each other user there, root's too
inline constexpr std::size_t kNetworkConnectionsMax = 192;  // on TCP, that have shown the token
inline constexpr std::size_t kUnknownConnectionsMax = 64;  // on TCP, that have not yet
inline constexpr std::size_t kTurnedAwayMax = 64;  // that are being refused

struct HttpSettings {
    Handler handler;
    std::string token;  // what TCP clients must show
    const Sessions* sessions = nullptr;  // that open it as well; outlive the server
    Hears hears = Hears::TokenHolders;  // on TCP
};

class HttpServer {
  public:
    HttpServer(boost::asio::io_context& loop, HttpSettings settings);
    ~HttpServer();

    // Mode 0600. A socket left behind by a server that is gone is replaced: the caller holds the
    // lock of the data directory. Errors: Unavailable.
    base::Status listen_unix(const std::string& path);
    // On 127.0.0.1; port 0 = any. Answers the port. Errors: Unavailable (taken).
    base::Result<int> listen_tcp(int port);
    // The same on an address of this machine; empty: on all it has.
    base::Result<int> listen_tcp(const std::string& address, int port);

    // No new connections.
    void stop_accepting();

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace berth::api
