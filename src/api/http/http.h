// SPDX-License-Identifier: Apache-2.0
//
// What is asked over HTTP and what is answered, as plain data: the sockets (http_server.h) know
// nothing of jobs, the answers (api.h) nothing of sockets.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/http/rights.h"
#include "api/http/stream.h"

namespace berth::api {

struct Request {
    std::string method;
    std::string path;                  // percent-decoded: "/api/v1/jobs/3"
    std::vector<std::pair<std::string, std::string>> query;  // decoded
    std::string body;
    std::string idempotency_key;
    std::string accepted_encodings;    // Accept-Encoding
    std::string known_etags;           // If-None-Match
    std::string expected_etags;        // If-Match
    std::string last_event;            // Last-Event-ID
    std::string user;                  // who asks, after authentication
    Rights rights;                     // what it may do
    std::string session;               // its token, where it has signed in from a browser
    std::weak_ptr<const void> client;  // expires when it has gone

    // The first value of that name, or nothing.
    const std::string* find(std::string_view name) const;
};

struct Response {
    int status = 200;
    std::string body;
    std::string content_type = "application/json";
    std::vector<std::pair<std::string, std::string>> headers;
    bool is_to_head = false;  // the body is described and not sent
    std::shared_ptr<Stream> stream = {};  // comes behind the body, and is the connection's last
};

// For probes, and for people who look at one.
Response text_page(int status, std::string text);

// Called once, now or later; does nothing when the client has gone.
using Respond = std::function<void(Response)>;
using Handler = std::function<void(Request, Respond)>;

// Splits "/a%20b?x=1&y" into a decoded path and decoded query. False when an escape is broken.
bool parse_target(std::string_view target, Request& request);

// Whether one of the list's items is the word, or says "any": `"a", "b"` or `gzip, br;q=1`. An item
// with the quality 0 is refused by its sender.
bool lists(std::string_view list, std::string_view word);

std::string_view status_text(int status);

// Appends status line, headers and body. What a stream sends comes behind it, until the end.
void append_response(std::string& out, const Response& response, bool closes);

}  // namespace berth::api
