// SPDX-License-Identifier: Apache-2.0
#include "api/http/sessions.h"

#include <errno.h>
#include <unistd.h>

#include <algorithm>
#include <sstream>

#include "api/http/access.h"
#include "api/http/private_file.h"
#include "runtime/random_name.h"

namespace berth::api {
namespace {

constexpr std::string_view kWhat = "sessions";  // in what is said of the file
constexpr std::size_t kRandomBytes = 24;
constexpr std::string_view kAll = "all";
constexpr std::string_view kLook = "look";

}  // namespace

Sessions::Time Sessions::today() {
    return std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
}

Sessions::Sessions(std::string path, std::function<Time()> now)
    : path_(std::move(path)), now_(std::move(now)) {}

base::Status Sessions::read() {
    BERTH_TRY(text, read_private_file(kWhat, path_));
    std::istringstream lines(text.value_or(""));
    for (std::string line; std::getline(lines, line);) {
        std::istringstream words(line);
        Session session;
        std::int64_t ends = 0;
        std::string rights;
        words >> session.token >> ends >> rights >> session.user;
        if (!words || (rights != kAll && rights != kLook)) continue;
        session.ends = Time(std::chrono::seconds(ends));
        session.rights = rights == kAll ? kAllRights : kLookOnly;
        if (session.ends > now_()) sessions_.push_back(std::move(session));
    }
    return {};
}

base::Status Sessions::write() const {
    std::string text;
    for (const Session& session : sessions_) {
        text += session.token + " " + std::to_string(session.ends.time_since_epoch().count()) + " ";
        text +=
            std::string(session.rights == kAllRights ? kAll : kLook) + " " + session.user + "\n";
    }
    return write_private_file(kWhat, path_, text);
}

base::Result<std::string> Sessions::invite(std::string user, Rights rights) {
    BERTH_TRY(text, runtime::random_name(kRandomBytes));
    if (codes_.size() >= kCodesMax) codes_.erase(codes_.begin());
    codes_.push_back({text, std::move(user), rights, now_() + kCodeMax});
    return text;
}

base::Result<std::optional<Sessions::Session>> Sessions::begin(std::string_view code) {
    const auto known =
        std::ranges::find_if(codes_, [&](const Code& each) { return is_secret(code, each.text); });
    if (known == codes_.end()) return std::nullopt;
    const Code shown = *known;
    codes_.erase(known);
    if (shown.ends <= now_()) return std::nullopt;
    BERTH_TRY(random, runtime::random_name(kRandomBytes));
    std::erase_if(sessions_, [&](const Session& each) { return each.ends <= now_(); });
    if (sessions_.size() >= kSessionsMax) {
        sessions_.erase(std::ranges::min_element(sessions_, {}, &Session::ends));
    }
    sessions_.push_back({"bts_" + random, shown.user, shown.rights, now_() + kSessionMax});
    [[maybe_unused]] const base::Status written = write();
    return sessions_.back();
}

const Sessions::Session* Sessions::find(std::string_view token) const {
    const auto known = std::ranges::find_if(
        sessions_, [&](const Session& each) { return is_secret(token, each.token); });
    return known == sessions_.end() || known->ends <= now_() ? nullptr : &*known;
}

base::Status Sessions::end(std::string_view token) {
    std::erase_if(sessions_, [&](const Session& each) { return is_secret(token, each.token); });
    const base::Status written = write();
    // On a full disk what is there must go: it needs no room, and the others have to sign in anew.
    if (written || ::unlink(path_.c_str()) == 0 || errno == ENOENT) return {};
    return written;
}

}  // namespace berth::api
