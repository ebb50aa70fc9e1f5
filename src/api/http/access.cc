// SPDX-License-Identifier: Apache-2.0
#include "api/http/access.h"

#include <pwd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <vector>

#include "api/http/private_file.h"
#include "runtime/random_name.h"

namespace berth::api {
namespace {

constexpr std::string_view kScheme = "Bearer ";

}  // namespace

Peer unix_peer(int socket) {
    ucred credentials{};
    socklen_t size = sizeof credentials;
    if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &size) != 0) return {};
    const bool is_trusted = credentials.uid == ::geteuid() || credentials.uid == 0;
    return {true, is_trusted, user_name(credentials.uid), credentials.uid};
}

Peer network_peer() { return {false, false, user_name(::geteuid())}; }

std::string_view shown_token(std::string_view authorization) {
    return authorization.starts_with(kScheme) ? authorization.substr(kScheme.size())
                                              : std::string_view();
}

bool is_secret(std::string_view shown, std::string_view secret) {
    if (secret.empty()) return false;
    // The length of the secret is public; its bytes are not.
    if (shown.size() != secret.size()) return false;
    volatile unsigned char difference = 0;
    for (std::size_t i = 0; i < secret.size(); ++i) {
        difference = static_cast<unsigned char>(difference | (shown[i] ^ secret[i]));
    }
    return difference == 0;
}

base::Result<std::string> obtain_token(const std::string& path) {
    BERTH_TRY(known, read_private_file("token", path));
    std::string token = known.value_or("");
    while (!token.empty() && token.back() == '\n') token.pop_back();
    if (!token.empty()) return token;
    BERTH_TRY(random, runtime::random_name(24));
    token = "bth_" + random;
    BERTH_TRY_VOID(write_private_file("token", path, token + "\n"));
    return token;
}

std::string user_name(uid_t uid) {
    passwd entry{};
    passwd* found = nullptr;
    std::vector<char> buffer(4096);
    if (::getpwuid_r(uid, &entry, buffer.data(), buffer.size(), &found) == 0 && found != nullptr) {
        return entry.pw_name;
    }
    return std::to_string(uid);
}

}  // namespace berth::api
