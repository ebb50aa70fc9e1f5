// SPDX-License-Identifier: Apache-2.0
#include "api/http/access.h"

#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <vector>

#include "runtime/random_name.h"

namespace berth::api {
namespace {

constexpr std::string_view kScheme = "Bearer ";

bool equal_in_constant_time(std::string_view shown, std::string_view secret) {
    // The length of the secret is public; its bytes are not.
    if (shown.size() != secret.size()) return false;
    volatile unsigned char difference = 0;
    for (std::size_t i = 0; i < secret.size(); ++i) {
        difference = static_cast<unsigned char>(difference | (shown[i] ^ secret[i]));
    }
    return difference == 0;
}

tl::unexpected<base::Error> unavailable(const std::string& path) {
    return base::fail(base::ErrorCode::Unavailable,
                      "token file \"" + path + "\": " + strerror(errno));
}

}  // namespace

Peer unix_peer(int socket) {
    ucred credentials{};
    socklen_t size = sizeof credentials;
    if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &size) != 0) return {};
    const bool is_trusted = credentials.uid == ::geteuid() || credentials.uid == 0;
    return {true, is_trusted, user_name(credentials.uid), credentials.uid};
}

Peer network_peer() { return {false, false, user_name(::geteuid())}; }

bool shows_token(std::string_view authorization, std::string_view token) {
    if (token.empty() || !authorization.starts_with(kScheme)) return false;
    return equal_in_constant_time(authorization.substr(kScheme.size()), token);
}

base::Result<std::string> obtain_token(const std::string& path) {
    int file = ::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (file < 0 && errno != ENOENT) return unavailable(path);
    if (file >= 0) {
        struct stat about{};
        const bool is_ours_alone = ::fstat(file, &about) == 0 && about.st_uid == ::geteuid() &&
                                   (about.st_mode & (S_IRWXG | S_IRWXO)) == 0;
        if (!is_ours_alone) {
            ::close(file);
            return base::fail(base::ErrorCode::Forbidden,
                              "other users can read the token in \"" + path +
                                  "\", or may have made it; chmod 600 \"" + path +
                                  "\", or remove it to have a new one made");
        }
        std::array<char, 256> buffer{};
        const ssize_t size = ::read(file, buffer.data(), buffer.size());
        ::close(file);
        if (size < 0) return unavailable(path);
        std::string token(buffer.data(), static_cast<std::size_t>(size));
        while (!token.empty() && token.back() == '\n') token.pop_back();
        if (!token.empty()) return token;
    }
    BERTH_TRY(random, runtime::random_name(24));
    const std::string token = "bth_" + random;
    // In one step: half a token, which a full disk would leave, is soon guessed.
    const std::string fresh = path + ".new";
    file = ::open(fresh.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (file < 0) return unavailable(fresh);
    const std::string line = token + "\n";
    const ssize_t written = ::write(file, line.data(), line.size());
    if (written >= 0 && written < static_cast<ssize_t>(line.size())) errno = ENOSPC;
    const bool is_whole = written == static_cast<ssize_t>(line.size()) && ::fchmod(file, 0600) == 0;
    const bool is_there = is_whole && ::rename(fresh.c_str(), path.c_str()) == 0;
    const int error = errno;
    ::close(file);
    if (is_there) return token;
    ::unlink(fresh.c_str());
    errno = error;
    return unavailable(path);
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
