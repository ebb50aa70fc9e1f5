// SPDX-License-Identifier: Apache-2.0
//
// How does the command line talk HTTP? One blocking HTTP/1.1 connection over a Unix socket or
// TCP, kept open between requests. No TLS: TCP is for loopback and tunnels.
// Not for several threads at once.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/quantity.h"
#include "base/result.h"
#include "cli/command_line/server_address.h"

namespace berth::cli {

struct HttpRequest {
    std::string_view method = "GET";
    std::string target;                    // "/api/v1/jobs?limit=3"
    std::string body = {};
    std::vector<std::pair<std::string, std::string>> headers = {};
};

struct HttpResponse {
    int status = 0;
    std::string body;
    std::vector<std::pair<std::string, std::string>> headers;  // names in lower case

    std::string_view header(std::string_view lower_case_name) const;
    // The server was too busy to hear the request, and nothing of it was done.
    bool is_turned_away() const;
};

inline constexpr std::size_t kResponseBytesMax = std::size_t{256} << 20;

class HttpConnection {
  public:
    // Connects at the first request. When `interrupt` is a descriptor, a request ends with
    // Timeout as soon as it becomes readable.
    explicit HttpConnection(ServerAddress address, int interrupt = -1);
    ~HttpConnection();
    HttpConnection(const HttpConnection&) = delete;
    HttpConnection& operator=(const HttpConnection&) = delete;

    // Errors: Unavailable (no server at the address, or the connection broke), Timeout (no
    // full answer within `patience`). A request without effect is repeated once when a kept
    // connection turns out to be closed.
    base::Result<HttpResponse> send(const HttpRequest& request, base::Duration patience);

    // Whether the last request was sent, at least in part: it may be done although no answer came.
    bool has_sent() const { return has_sent_; }

    const ServerAddress& address() const { return address_; }

  private:
    base::Status connect();
    void close();
    base::Result<HttpResponse> exchange(const std::string& text, bool wants_body,
                                        std::int64_t deadline_ms);
    // False when the server answers, or reads no more, before it has all of it: one that refuses
    // says why at once.
    base::Result<bool> write_all(std::string_view text, std::int64_t deadline_ms);
    base::Status read_more(std::int64_t deadline_ms);
    base::Status wait_for(short events, std::int64_t deadline_ms) const;
    base::Status read_body(HttpResponse& response, std::int64_t deadline_ms);
    base::Status read_chunks(HttpResponse& response, std::int64_t deadline_ms);
    base::Result<std::string> read_line(std::int64_t deadline_ms);

    ServerAddress address_;
    int interrupt_;
    int socket_ = -1;
    bool has_sent_ = false;
    std::string received_;  // not yet consumed
};

}  // namespace berth::cli
