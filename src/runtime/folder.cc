// SPDX-License-Identifier: Apache-2.0
#include "runtime/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <array>
#include <filesystem>

namespace berth::runtime {
namespace {

using base::ErrorCode;

std::string quoted(const std::string& path) { return '"' + path + '"'; }

std::string mode_text(mode_t mode) {
    char text[16];
    ::snprintf(text, sizeof text, "%04o", mode & 07777U);
    return text;
}

tl::unexpected<base::Error> system_failure(const std::string& what, const std::string& path) {
    return base::fail(ErrorCode::Unavailable, what + ' ' + quoted(path) + ": " + ::strerror(errno));
}

tl::unexpected<base::Error> forbidden(const std::string& message) {
    return base::fail(ErrorCode::Forbidden, message);
}

bool is_ours(uid_t owner) { return owner == ::geteuid(); }

// Whether the group is one that many systems make for each user: of the user's name, and with no
// other member. A primary group may as well be everybody's.
bool is_group_ours_alone(gid_t gid) {
    std::array<char, 16'384> user_text;
    std::array<char, 16'384> group_text;
    passwd user{};
    group group{};
    passwd* is_user = nullptr;
    struct group* is_group = nullptr;
    ::getpwuid_r(::geteuid(), &user, user_text.data(), user_text.size(), &is_user);
    ::getgrgid_r(gid, &group, group_text.data(), group_text.size(), &is_group);
    if (is_user == nullptr || is_group == nullptr || ::strcmp(user.pw_name, group.gr_name) != 0)
        return false;
    for (char** member = group.gr_mem; *member != nullptr; ++member)
        if (::strcmp(*member, user.pw_name) != 0) return false;
    return true;
}

// Whether only we, or root, can replace what lies in the folder.
base::Status check_above(int fd, const std::string& path) {
    struct stat about{};
    if (::fstat(fd, &about) != 0) return system_failure("cannot look at", path);
    if (!is_ours(about.st_uid) && about.st_uid != 0)
        return forbidden("the folder " + quoted(path) + " belongs to user " +
                         std::to_string(about.st_uid) + ", wanted user " +
                         std::to_string(::geteuid()) +
                         " or root; chown it, or choose another folder");
    const bool is_group_trusted = about.st_gid == 0 || is_group_ours_alone(about.st_gid);
    const mode_t strangers = is_group_trusted ? S_IWOTH : S_IWOTH | S_IWGRP;
    if ((about.st_mode & strangers) == 0 || (about.st_mode & S_ISVTX) != 0) return {};
    return forbidden("other users can replace what lies in " + quoted(path) + ", its mode is " +
                     mode_text(about.st_mode) + "; chmod go-w it, or choose another folder");
}

mode_t mode_of(Openness openness) { return openness == Openness::Passable ? 0711 : 0700; }

base::Status check(int fd, const std::string& path, Openness openness) {
    struct stat about{};
    if (::fstat(fd, &about) != 0) return system_failure("cannot look at", path);
    const bool is_data = openness == Openness::Readable;
    const std::string remove = "remove it, Berth makes its own";
    if (!is_ours(about.st_uid))
        return forbidden("the folder " + quoted(path) + " belongs to user " +
                         std::to_string(about.st_uid) + ", wanted user " +
                         std::to_string(::geteuid()) + "; " +
                         (is_data ? "choose another (--data)" : remove));
    if ((about.st_mode & (S_IWGRP | S_IWOTH)) != 0)
        return forbidden("the folder " + quoted(path) + " has mode " + mode_text(about.st_mode) +
                         ", wanted " + mode_text(mode_of(openness)) +
                         ": other users may have put files there; " +
                         (is_data ? "look what lies in it and chmod 700 " + quoted(path) +
                                        ", or choose another (--data)"
                                  : remove));
    const bool is_seen = (about.st_mode & (S_IRWXG | S_IRWXO)) != 0;
    if (openness == Openness::Private && is_seen && ::fchmod(fd, 0700) != 0)
        return system_failure("cannot hide", path);
    return {};
}

// `name` in the open folder `above`; for messages it is `path`.
base::Result<Descriptor> make_in(int above, const std::string& name, const std::string& path,
                                 Openness openness) {
    const mode_t mode = mode_of(openness);
    const bool is_made = ::mkdirat(above, name.c_str(), mode) == 0;
    if (!is_made && errno != EEXIST) return system_failure("cannot make", path);
    Descriptor fd(::openat(above, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!fd.is_open() && (errno == ELOOP || errno == ENOTDIR))
        return forbidden(quoted(path) + " is a link or a file, wanted a folder; remove it, Berth " +
                         "makes its own");
    if (!fd.is_open()) return system_failure("cannot open", path);
    if (is_made && ::fchmod(fd.get(), mode) != 0) return system_failure("cannot make", path);
    BERTH_TRY_VOID(check(fd.get(), path, openness));
    return fd;
}

}  // namespace

base::Result<Folder> Folder::make(const std::string& path, Openness openness) {
    std::string whole = path;
    while (whole.size() > 1 && whole.ends_with('/')) whole.pop_back();
    const std::size_t slash = whole.rfind('/');
    const std::string name = whole.substr(slash + 1);  // all of it where there is no slash
    if (name.empty()) return base::invalid("wanted the path of a folder, found " + quoted(path));
    const std::string above = slash == std::string::npos ? "." : whole.substr(0, slash + 1);
    const Descriptor parent(::open(above.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!parent.is_open()) return system_failure("cannot open", above);
    BERTH_TRY_VOID(check_above(parent.get(), above));
    BERTH_TRY(fd, make_in(parent.get(), name, whole, openness));
    return Folder(std::move(whole), std::move(fd));
}

base::Result<Folder> Folder::make_data_folder(const std::string& path) {
    std::error_code error;
    const mode_t before = ::umask(077);
    std::filesystem::create_directories(std::filesystem::path(path).parent_path(), error);
    ::umask(before);
    if (error)
        return base::fail(ErrorCode::Unavailable,
                          "cannot make " + quoted(path) + ": " + error.message());
    BERTH_TRY(folder, make(path, Openness::Readable));
    BERTH_TRY_VOID(folder.check_owners());
    return std::move(folder);
}

base::Result<Folder> Folder::make_below(const std::string& name, Openness openness) const {
    const std::string below = path_ + '/' + name;
    BERTH_TRY(fd, make_in(fd_.get(), name, below, openness));
    return Folder(below, std::move(fd));
}

base::Result<Descriptor> Folder::open_file(const std::string& name, int flags, mode_t mode) const {
    Descriptor file(
        ::openat(fd_.get(), name.c_str(), flags | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY, mode));
    if (!file.is_open()) return system_failure("cannot open", path_ + '/' + name);
    return file;
}

base::Status Folder::check_owners() const {
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(path_, error)) {
        struct stat about{};
        const std::string name = entry.path().filename();
        if (::fstatat(fd_.get(), name.c_str(), &about, AT_SYMLINK_NOFOLLOW) != 0) continue;
        if (S_ISDIR(about.st_mode)) continue;  // judged where it is opened
        if (is_ours(about.st_uid) || about.st_uid == 0) continue;
        return forbidden(quoted(entry.path()) + " belongs to user " + std::to_string(about.st_uid) +
                         ", wanted user " + std::to_string(::geteuid()) + "; remove it");
    }
    if (error)
        return base::fail(ErrorCode::Unavailable,
                          "cannot list " + quoted(path_) + ": " + error.message());
    return {};
}

void Folder::remove_file(const std::string& name) const { ::unlinkat(fd_.get(), name.c_str(), 0); }

}  // namespace berth::runtime
