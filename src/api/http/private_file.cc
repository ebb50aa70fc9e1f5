// SPDX-License-Identifier: Apache-2.0
#include "api/http/private_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>

namespace berth::api {
namespace {

std::string named(std::string_view what, const std::string& path) {
    return std::string(what) + " file \"" + path + "\"";
}

tl::unexpected<base::Error> unavailable(std::string_view what, const std::string& path, int error) {
    return base::fail(base::ErrorCode::Unavailable, named(what, path) + ": " + ::strerror(error));
}

}  // namespace

base::Result<std::optional<std::string>> read_private_file(std::string_view what,
                                                           const std::string& path) {
    const int file = ::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (file < 0 && errno == ENOENT) return std::nullopt;
    if (file < 0) return unavailable(what, path, errno);
    struct stat about{};
    const bool is_known = ::fstat(file, &about) == 0;
    if (is_known && !S_ISREG(about.st_mode)) {
        ::close(file);
        return base::fail(base::ErrorCode::Unavailable,
                          named(what, path) + " is no file; remove it");
    }
    const bool is_ours_alone =
        is_known && about.st_uid == ::geteuid() && (about.st_mode & (S_IRWXG | S_IRWXO)) == 0;
    if (!is_ours_alone) {
        ::close(file);
        return base::fail(base::ErrorCode::Forbidden,
                          "other users can read the " + std::string(what) + " in \"" + path +
                              "\", or may have made it; chmod 600 \"" + path +
                              "\", or remove it to have a new one made");
    }
    std::string text;
    std::array<char, 4096> buffer{};
    ssize_t size = 0;
    while ((size = ::read(file, buffer.data(), buffer.size())) > 0) {
        text.append(buffer.data(), static_cast<std::size_t>(size));
    }
    const int error = errno;
    ::close(file);
    if (size < 0) return unavailable(what, path, error);
    return text;
}

base::Status write_private_file(std::string_view what, const std::string& path,
                                std::string_view text) {
    const std::string fresh = path + ".new";
    const int file = ::open(fresh.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (file < 0) return unavailable(what, fresh, errno);
    const ssize_t written = ::write(file, text.data(), text.size());
    if (written >= 0 && written < static_cast<ssize_t>(text.size())) errno = ENOSPC;
    const bool is_whole = written == static_cast<ssize_t>(text.size()) && ::fchmod(file, 0600) == 0;
    const bool is_there = is_whole && ::rename(fresh.c_str(), path.c_str()) == 0;
    const int error = errno;
    ::close(file);
    if (is_there) return {};
    ::unlink(fresh.c_str());
    return unavailable(what, path, error);
}

}  // namespace berth::api
