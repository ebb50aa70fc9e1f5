// SPDX-License-Identifier: Apache-2.0
#include "api/http/gate.h"

#include <algorithm>

#include "api/http/problem.h"

namespace berth::api {
namespace {

constexpr std::chrono::seconds kMinute{60};

bool equal_ignoring_case(std::string_view one, std::string_view other) {
    const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
    return std::ranges::equal(one, other, {}, lower, lower);
}

// "localhost", "localhost:7433" and nothing else behind it.
bool is_this_machine(std::string_view host) {
    constexpr std::array<std::string_view, 3> kNames{"localhost", "127.0.0.1", "[::1]"};
    return std::ranges::any_of(kNames, [&](std::string_view name) {
        if (!equal_ignoring_case(host.substr(0, name.size()), name)) return false;
        const std::string_view port = host.substr(name.size());
        return port.empty() ||
               (port[0] == ':' && port.find_first_not_of("0123456789", 1) == port.npos);
    });
}

// A page that this server itself would have sent.
bool is_own_page(std::string_view origin, std::string_view host) {
    constexpr std::string_view kHttp = "http://";
    return origin.starts_with(kHttp) && equal_ignoring_case(origin.substr(kHttp.size()), host);
}

}  // namespace

std::optional<Response> Gate::refusal(const Peer& peer, const Sender& sender,
                                      Clock::time_point now) {
    if (peer.is_local) {
        if (peer.is_trusted) return {};
        return problem(403, "user " + peer.user + " may not use this server");
    }
    if (hears_ == Hears::Anyone) return {};
    if (!sender.has_one_host || !is_this_machine(sender.host)) {
        return problem(421,
                       "wanted the header \"Host\" once, with localhost, 127.0.0.1 or [::1]; this "
                       "server answers to no other name");
    }
    if (!sender.origin.empty() && !is_own_page(sender.origin, sender.host)) {
        return problem(403, "a page of another site may not use this server");
    }
    if (shows_token(sender.authorization, token_)) return {};
    return wrong_token(now);
}

Response Gate::wrong_token(Clock::time_point now) {
    const bool are_many = wrong_seen_ >= kWrongTokensMax && now - wrong_[next_wrong_] < kMinute;
    if (are_many) {
        const auto left = kMinute - (now - wrong_[next_wrong_]);
        const auto seconds = std::chrono::ceil<std::chrono::seconds>(left).count();
        return busy(429, "too many wrong tokens", std::max<std::int64_t>(seconds, 1));
    }
    wrong_[next_wrong_] = now;
    next_wrong_ = (next_wrong_ + 1) % kWrongTokensMax;
    ++wrong_seen_;
    return problem(401,
                   "wanted \"Authorization: Bearer TOKEN\" with the token in the server's data "
                   "directory");
}

}  // namespace berth::api
