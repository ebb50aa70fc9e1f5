// SPDX-License-Identifier: Apache-2.0
//
// Where do clients come in? Listens on a Unix socket and on loopback TCP, and keeps the
// connections: at most kConnectionsMax, quiet ones closed. One thread, that of the io_context.
#pragma once

#include <boost/asio/io_context.hpp>
#include <memory>
#include <string>

#include "api/http_connection.h"
#include "base/result.h"

namespace berth::api {

inline constexpr std::size_t kConnectionsMax = 1000;

class HttpServer {
  public:
    HttpServer(boost::asio::io_context& loop, HttpSettings settings);
    ~HttpServer();

    // Mode 0600. A socket left behind by a server that is gone is replaced: the caller holds the
    // lock of the data directory. Errors: Unavailable.
    base::Status listen_unix(const std::string& path);
    // On 127.0.0.1; port 0 = any. Answers the port. Errors: Unavailable (taken).
    base::Result<int> listen_tcp(int port);

    // No new connections, and those without a request in flight are closed.
    void stop_accepting();

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace berth::api
