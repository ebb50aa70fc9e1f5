// SPDX-License-Identifier: Apache-2.0
#include "runtime/drawn_folder.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <filesystem>

namespace berth::runtime {
namespace {

// Where the link leads; empty when it is not there or leads elsewhere.
std::string target_of(const Folder& folder, const DrawnFolder& drawn) {
    char text[PATH_MAX];
    const ssize_t size = ::readlinkat(folder.fd(), drawn.link.c_str(), text, sizeof text);
    const std::string target(text, size > 0 ? static_cast<std::size_t>(size) : 0);
    return target.starts_with(drawn.place + "/berth-") ? target : std::string();
}

// Ours as it was made, so that no other user has put anything there.
bool is_there(const std::string& path) {
    struct stat about{};
    return !path.empty() && ::lstat(path.c_str(), &about) == 0 && S_ISDIR(about.st_mode) &&
           about.st_uid == ::geteuid() && (about.st_mode & (S_IRWXG | S_IRWXO)) == 0;
}

}  // namespace

base::Result<std::string> open_drawn(const Folder& folder, const DrawnFolder& drawn) {
    std::string path = target_of(folder, drawn);
    if (is_there(path)) return path;
    path = drawn.place + "/berth-XXXXXX";
    if (::mkdtemp(path.data()) == nullptr)
        return base::fail(base::ErrorCode::Unavailable,
                          "cannot make a folder in \"" + drawn.place + "\": " + ::strerror(errno));
    folder.remove_file(drawn.link);
    if (::symlinkat(path.c_str(), folder.fd(), drawn.link.c_str()) == 0) return path;
    const int error = errno;
    ::rmdir(path.c_str());
    return base::fail(base::ErrorCode::Unavailable, "cannot note \"" + path + "\" in \"" +
                                                        folder.path() + "\": " + ::strerror(error));
}

void remove_drawn(const Folder& folder, const DrawnFolder& drawn) {
    const std::string path = target_of(folder, drawn);
    std::error_code ignored;
    if (is_there(path)) std::filesystem::remove_all(path, ignored);
    folder.remove_file(drawn.link);
}

}  // namespace berth::runtime
