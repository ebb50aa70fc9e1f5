// SPDX-License-Identifier: Apache-2.0
#include "app/supervisor/talk/listening.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "runtime/sockets.h"

namespace berth::supervisor {
namespace {

// The number of the file; 0 when it is not there.
ino_t file_in(const runtime::Folder& folder, const std::string& name) {
    struct stat about{};
    const int found = ::fstatat(folder.fd(), name.c_str(), &about, AT_SYMLINK_NOFOLLOW);
    return found == 0 ? about.st_ino : 0;
}

}  // namespace

bool Listening::open() {
    if (is_open()) return true;
    auto folder = runtime::Folder::make(path_, runtime::Openness::Private);
    if (!folder) return false;
    auto listener = runtime::listen_at(*folder, name_, runtime::SocketKind::Stream, 0600);
    if (!listener) return false;
    socket_ = std::move(listener->socket);
    file_ = file_in(*folder, name_);
    folder_ = std::move(*folder);
    return true;
}

// By the path: what lies in a deleted folder cannot be reached.
bool Listening::is_there() const {
    struct stat about{};
    const std::string path = path_ + '/' + name_;
    return is_open() && ::lstat(path.c_str(), &about) == 0 && about.st_ino == file_;
}

void Listening::close() {
    if (is_open() && file_in(*folder_, name_) == file_) folder_->remove_file(name_);
    socket_.reset();
}

}  // namespace berth::supervisor
