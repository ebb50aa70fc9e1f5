// SPDX-License-Identifier: Apache-2.0
//
// May this request be heard? Asked when its header is there and before a byte of its body is kept.
//
// On the Unix socket the kernel names the user. On TCP, which every web page and every user of
// the machine can reach: the request is for this server by one of its names (else 421: a page whose
// name points here), from no page of another site (403), and shows the token or that of a session
// (401), unless it asks for what has no secrets: our pages, and to sign in with a code. After
// kWrongTokensMax wrong tokens within a minute the next ones are answered 429. The right one always
// opens: no guesser can shut its owner out, and 192 bits are not guessed. Where the pages
// are for anyone who reaches the port, such as probes and monitoring, all are heard, by whatever
// name.
#pragma once

#include <array>
#include <chrono>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

#include "api/http/access.h"
#include "api/http/http.h"
#include "api/http/sessions.h"

namespace berth::api {

inline constexpr std::size_t kWrongTokensMax = 10;  // a minute

// What the header of a request says of who sends it.
struct Sender {
    std::string_view authorization;
    std::string_view host;
    std::string_view origin;  // empty = sent by no web page
    bool has_one_host = true;
    bool wants_no_secrets = false;  // asks_for_no_secrets() of what it asks for
};

// One of our pages, a probe, or to sign in: `path` as it is answered, decoded.
bool asks_for_no_secrets(std::string_view method, std::string_view path);

// Who has been let in.
struct Asker {
    std::string user;  // empty where no user has to be known
    Rights rights;
    std::string session;  // its token; empty = none
    // Has shown that it may use the server. Who may only look has no such place: it would keep
    // others from theirs.
    bool is_known = false;
};

enum class Hears { TokenHolders, Anyone };

class Gate {
  public:
    using Clock = std::chrono::steady_clock;

    // `sessions`: null = no browser signs in here.
    explicit Gate(std::string token, const Sessions* sessions = nullptr,
                  Hears hears = Hears::TokenHolders)
        : token_(std::move(token)), sessions_(sessions), hears_(hears) {}

    // Who asks, or the answer to a request that may not be heard.
    tl::expected<Asker, Response> hear(const Peer& peer, const Sender& sender,
                                       Clock::time_point now);

  private:
    Response wrong_token(Clock::time_point now);

    std::string token_;
    const Sessions* sessions_;
    Hears hears_;
    std::array<Clock::time_point, kWrongTokensMax> wrong_{};  // the last ones, in a ring
    std::size_t next_wrong_ = 0;
    std::size_t wrong_seen_ = 0;
};

}  // namespace berth::api
