// SPDX-License-Identifier: Apache-2.0
#include "runtime/sockets.h"

#include <doctest/doctest.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <optional>

#include "runtime/socket_address.h"

using namespace berth;
using runtime::connect_to;
using runtime::Folder;
using runtime::listen_at;
using runtime::SocketKind;

namespace {

struct SocketStage {
    explicit SocketStage(const std::string& below = "") {
        char name[] = "/tmp/berth-sockets-XXXXXX";
        REQUIRE(::mkdtemp(name) != nullptr);
        root = name;
        if (!below.empty()) std::filesystem::create_directories(root + '/' + below);
        folder.emplace(
            Folder::make(root + '/' + below + "/run", runtime::Openness::Private).value());
    }
    ~SocketStage() {
        std::error_code ignored;
        std::filesystem::remove_all(root, ignored);
    }
    std::string path(const std::string& name) const { return folder->path() + '/' + name; }

    std::string root;
    std::optional<Folder> folder;
};

}  // namespace

TEST_CASE("a socket is found while its process listens, and only one can have the name") {
    for (const SocketKind kind : {SocketKind::Stream, SocketKind::Packets}) {
        const SocketStage it;
        CHECK(connect_to(it.path("7.1"), kind).error().code == base::ErrorCode::Unavailable);
        auto listener = listen_at(*it.folder, "7.1", kind, 0600);
        REQUIRE(listener);
        CHECK_FALSE(listener->was_left);
        CHECK(listen_at(*it.folder, "7.1", kind, 0600).error().code == base::ErrorCode::Exists);
        const auto connected = connect_to(it.path("7.1"), kind);
        REQUIRE(connected);
        CHECK(runtime::peer_pid(connected->get()) == ::getpid());
        listener->socket.reset();
        CHECK(connect_to(it.path("7.1"), kind).error().code == base::ErrorCode::Unavailable);
    }
}

TEST_CASE("what a process that was killed left in its place is taken over") {
    const SocketStage it;
    const pid_t child = ::fork();
    if (child == 0) {
        (void)listen_at(*it.folder, "7.1", SocketKind::Stream, 0600).value();
        ::_exit(0);
    }
    ::waitpid(child, nullptr, 0);
    REQUIRE(std::filesystem::exists(it.path("7.1")));
    const auto listener = listen_at(*it.folder, "7.1", SocketKind::Stream, 0600);
    REQUIRE(listener);
    CHECK(listener->was_left);
    CHECK(connect_to(it.path("7.1"), SocketKind::Stream));
}

TEST_CASE("a path of any length is listened at and reached") {
    const std::string long_name(90, 'x');
    const SocketStage it(long_name + '/' + long_name);
    REQUIRE(it.path("7.1").size() > 180);
    const auto listener = listen_at(*it.folder, "7.1", SocketKind::Stream, 0600);
    REQUIRE(listener);
    CHECK(connect_to(it.path("7.1"), SocketKind::Stream));
    CHECK(listen_at(*it.folder, std::string(200, 'n'), SocketKind::Stream, 0600).error().code ==
          base::ErrorCode::Invalid);
    CHECK(connect_to(it.path(std::string(200, 'n')), SocketKind::Stream).error().code ==
          base::ErrorCode::Invalid);
}

TEST_CASE("an address is a path: what would be an abstract name is none") {
    CHECK(runtime::SocketAddress("").error() != 0);
    CHECK(runtime::SocketAddress(std::string("\0berth", 6)).error() != 0);
    CHECK(connect_to(std::string("\0berth", 6), SocketKind::Stream).error().code ==
          base::ErrorCode::Invalid);
}

TEST_CASE("another user who listens in its place learns nothing") {
    if (::geteuid() != 0) {
        MESSAGE("skipped: only root can become another user");
        return;
    }
    const SocketStage it;
    REQUIRE(::chmod(it.root.c_str(), 0777) == 0);
    REQUIRE(::chmod(it.folder->path().c_str(), 0777) == 0);
    int ready[2];
    int done[2];
    REQUIRE(::pipe(ready) == 0);
    REQUIRE(::pipe(done) == 0);
    const pid_t squatter = ::fork();
    if (squatter == 0) {
        if (::setuid(65534) != 0) ::_exit(1);
        const runtime::SocketAddress address(it.path("7.1"));
        const int socket = ::socket(AF_UNIX, SOCK_STREAM, 0);
        ::bind(socket, address.get(), address.size());
        ::listen(socket, 5);
        char byte = 1;
        (void)!::write(ready[1], &byte, 1);
        ::close(done[1]);
        (void)!::read(done[0], &byte, 1);
        ::_exit(0);
    }
    char byte = 0;
    REQUIRE(::read(ready[0], &byte, 1) == 1);
    CHECK(connect_to(it.path("7.1"), SocketKind::Stream).error().code ==
          base::ErrorCode::Forbidden);
    for (const int fd : {ready[0], ready[1], done[0], done[1]}) ::close(fd);
    ::waitpid(squatter, nullptr, 0);
}
