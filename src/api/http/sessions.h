// SPDX-License-Identifier: Apache-2.0
//
// Who has signed in from a browser? Who may use the server asks for a code and opens a link with
// it; the page shows the code once, within kCodeMax, and gets a token of its own for kSessionMax.
// Tokens lie in a private file, so that no restart of the server signs a browser out.
//
// A browser sends the token as other clients do, in a header, and keeps it for this address and
// port alone. A cookie would go to every port of the machine, other users' servers among them.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/http/rights.h"
#include "base/result.h"

namespace berth::api {

inline constexpr std::chrono::seconds kCodeMax{60};
inline constexpr std::chrono::hours kSessionMax{24 * 7};
inline constexpr std::size_t kCodesMax = 16;     // not shown yet; the oldest goes
inline constexpr std::size_t kSessionsMax = 64;  // the one that ends first goes

class Sessions {
  public:
    using Time = std::chrono::sys_seconds;

    struct Session {
        std::string token;
        std::string user;
        Rights rights;
        Time ends;
    };

    static Time today();

    explicit Sessions(std::string path, std::function<Time()> now = today);

    // Those of the file; what is none there is left out. Errors: Forbidden, Unavailable
    // (private_file.h).
    base::Status read();

    // The code. Errors: Unavailable (no random bytes).
    base::Result<std::string> invite(std::string user, Rights rights);
    // Nothing for a code that was never given, was shown before or is too old. While the file
    // cannot be written a session lasts no longer than the server. Errors: Unavailable (no random
    // bytes).
    base::Result<std::optional<Session>> begin(std::string_view code);
    // Null when there is none.
    const Session* find(std::string_view token) const;
    // Where the file cannot be written it goes, and with the server all sessions end. Errors:
    // Unavailable: not even that, so this one begins again with the server.
    base::Status end(std::string_view token);

  private:
    struct Code {
        std::string text;
        std::string user;
        Rights rights;
        Time ends;
    };
    base::Status write() const;

    std::string path_;
    std::function<Time()> now_;
    std::vector<Code> codes_;
    std::vector<Session> sessions_;
};

}  // namespace berth::api
