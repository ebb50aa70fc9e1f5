// SPDX-License-Identifier: Apache-2.0
#include "runtime/folder.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

using namespace berth;
using runtime::Folder;
using runtime::Openness;

namespace {

constexpr uid_t kNobody = 65534;

struct Scratch {
    Scratch() {
        char name[] = "/tmp/berth-folder-XXXXXX";
        REQUIRE(::mkdtemp(name) != nullptr);
        path = name;
    }
    ~Scratch() {
        std::error_code ignored;
        std::filesystem::remove_all(path, ignored);
    }
    std::string path;
};

std::string refusal(const base::Result<Folder>& folder) {
    REQUIRE_FALSE(folder);
    CHECK(folder.error().code == base::ErrorCode::Forbidden);
    return folder.error().message;
}

mode_t mode_of(const std::string& path) {
    struct stat about{};
    REQUIRE(::lstat(path.c_str(), &about) == 0);
    return about.st_mode & 07777U;
}

}  // namespace

TEST_CASE("a folder is made for its user alone, and found again") {
    const Scratch scratch;
    const std::string path = scratch.path + "/run";
    REQUIRE(Folder::make(path, Openness::Private));
    CHECK(mode_of(path) == 0700);
    const auto again = Folder::make(path + "/", Openness::Private);
    REQUIRE(again);
    CHECK(again->path() == path);
    REQUIRE(again->make_below("tenants", Openness::Passable));
    CHECK(mode_of(path + "/tenants") == 0711);
}

TEST_CASE("a link in the place of the folder is refused, wherever it leads") {
    const Scratch scratch;
    const std::string path = scratch.path + "/run";
    std::filesystem::create_directory(scratch.path + "/elsewhere");
    for (const char* target : {"elsewhere", "nowhere", "/etc"}) {
        std::filesystem::create_symlink(target, path);
        CHECK(refusal(Folder::make(path, Openness::Private)) ==
              "\"" + path +
                  "\" is a link or a file, wanted a folder; remove it, Berth makes its "
                  "own");
        std::filesystem::remove(path);
    }
}

TEST_CASE("a folder that others can change is refused with its mode") {
    const Scratch scratch;
    const std::string path = scratch.path + "/run";
    std::filesystem::create_directory(path);
    for (const mode_t mode : {0777U, 01777U, 0770U, 0702U}) {
        ::chmod(path.c_str(), mode);
        CHECK(refusal(Folder::make(path, Openness::Private)).find(", wanted 0700: other users") !=
              std::string::npos);
    }
}

TEST_CASE("a folder that others could only read is hidden where it is to be private") {
    const Scratch scratch;
    const std::string path = scratch.path + "/run";
    std::filesystem::create_directory(path);
    ::chmod(path.c_str(), 0755);
    CHECK(Folder::make(path, Openness::Passable));
    CHECK(Folder::make(path, Openness::Readable));
    CHECK(mode_of(path) == 0755);
    CHECK(Folder::make(path, Openness::Private));
    CHECK(mode_of(path) == 0700);
}

TEST_CASE("a folder has its mode whatever the umask") {
    const Scratch scratch;
    const mode_t before = ::umask(0177);
    CHECK(Folder::make(scratch.path + "/passable", Openness::Passable));
    ::umask(0);
    CHECK(Folder::make_data_folder(scratch.path + "/above/data"));
    ::umask(before);
    CHECK(mode_of(scratch.path + "/passable") == 0711);
    CHECK(mode_of(scratch.path + "/above/data") == 0700);
}

TEST_CASE("a folder below one whose contents others can replace is refused") {
    const Scratch scratch;
    ::chmod(scratch.path.c_str(), 0777);
    CHECK(refusal(Folder::make(scratch.path + "/run", Openness::Private))
              .find("other users can replace what lies in") == 0);
    ::chmod(scratch.path.c_str(), 0770);  // the group of many a user is everybody's
    if (::geteuid() == 0) {
        REQUIRE(::chown(scratch.path.c_str(), 0, kNobody) == 0);
        CHECK_FALSE(Folder::make(scratch.path + "/run", Openness::Private));
    }
    ::chmod(scratch.path.c_str(), 01777);  // as /tmp: everybody's own is safe there
    CHECK(Folder::make(scratch.path + "/run", Openness::Private));
}

TEST_CASE("another user's folder is refused and not written to") {
    if (::geteuid() != 0) {
        MESSAGE("skipped: only root can make a folder of another user");
        return;
    }
    const Scratch scratch;
    const std::string path = scratch.path + "/run";
    std::filesystem::create_directory(path);
    REQUIRE(::chown(path.c_str(), kNobody, kNobody) == 0);
    CHECK(refusal(Folder::make(path, Openness::Private)) ==
          "the folder \"" + path +
              "\" belongs to user 65534, wanted user 0; remove it, Berth "
              "makes its own");
    CHECK(std::filesystem::is_empty(path));
    REQUIRE(::chown(scratch.path.c_str(), kNobody, kNobody) == 0);
    CHECK(refusal(Folder::make(scratch.path + "/other", Openness::Private))
              .find("belongs to user 65534") != std::string::npos);
}

TEST_CASE("what another user left in a folder is found") {
    if (::geteuid() != 0) {
        MESSAGE("skipped: only root can make a file of another user");
        return;
    }
    const Scratch scratch;
    const std::string path = scratch.path + "/data";
    REQUIRE(Folder::make_data_folder(path));
    std::filesystem::create_symlink("/etc/passwd", path + "/token");
    CHECK(Folder::make_data_folder(path));
    REQUIRE(::lchown((path + "/token").c_str(), kNobody, kNobody) == 0);
    CHECK(refusal(Folder::make_data_folder(path)) ==
          "\"" + path + "/token\" belongs to user 65534, wanted user 0; remove it");
}

TEST_CASE("a file of the folder is opened without following a link") {
    const Scratch scratch;
    const auto folder = Folder::make(scratch.path + "/run", Openness::Private);
    REQUIRE(folder);
    const std::string victim = scratch.path + "/victim";
    std::ofstream(victim) << "kept";
    std::filesystem::create_symlink(victim, folder->path() + "/lock");
    CHECK_FALSE(folder->open_file("lock", O_RDWR | O_CREAT | O_TRUNC, 0600));
    CHECK(std::filesystem::file_size(victim) == 4);
    folder->remove_file("lock");
    CHECK(folder->open_file("lock", O_RDWR | O_CREAT, 0600));
}
