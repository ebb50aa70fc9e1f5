// SPDX-License-Identifier: Apache-2.0
#include "api/http/gate.h"

#include <algorithm>

#include "api/http/problem.h"

namespace berth::api {
namespace {

constexpr std::chrono::seconds kMinute{60};
constexpr std::string_view kSignInPath = "/api/v1/session";
constexpr std::string_view kMetricsPath = "/metrics";

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

tl::unexpected<Response> no(Response answer) { return tl::unexpected<Response>(std::move(answer)); }

}  // namespace

bool asks_for_no_secrets(std::string_view method, std::string_view path) {
    if (path == kSignInPath) return method == "POST";
    return !path.starts_with("/api/") && path != kMetricsPath &&
           (method == "GET" || method == "HEAD");
}

tl::expected<Asker, Response> Gate::hear(const Peer& peer, const Sender& sender,
                                         Clock::time_point now) {
    if (peer.is_local) {
        if (peer.is_trusted) return Asker{peer.user, kAllRights, "", true};
        return no(problem(403, "user " + peer.user + " may not use this server"));
    }
    if (hears_ == Hears::Anyone) return Asker{peer.user, kAllRights, "", true};
    if (!sender.has_one_host || !is_this_machine(sender.host)) {
        return no(problem(421,
                          "wanted the header \"Host\" once, with localhost, 127.0.0.1 or [::1]; "
                          "this server answers to no other name"));
    }
    if (!sender.origin.empty() && !is_own_page(sender.origin, sender.host)) {
        return no(problem(403, "a page of another site may not use this server"));
    }
    const std::string_view token = shown_token(sender.authorization);
    if (is_secret(token, token_)) return Asker{peer.user, kAllRights, "", true};
    const Sessions::Session* session = sessions_ == nullptr ? nullptr : sessions_->find(token);
    if (session != nullptr) {
        return Asker{session->user, session->rights, session->token, session->rights == kAllRights};
    }
    if (sender.wants_no_secrets) return Asker{};
    return no(wrong_token(now));
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
                   "directory, or that of a session",
                   "berth web");
}

}  // namespace berth::api
