// SPDX-License-Identifier: Apache-2.0
#include "api/http/access.h"

#include <doctest/doctest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

using namespace berth::api;

TEST_CASE("only the whole token behind its scheme opens the door") {
    CHECK(is_secret(shown_token("Bearer bth_1"), "bth_1"));
    for (const char* header : {"", "bth_1", "Bearer", "Bearer ", "Bearer bth_", "Bearer bth_12",
                               "Bearer bth_2", "bearer bth_1", "Basic bth_1"}) {
        CAPTURE(header);
        CHECK_FALSE(is_secret(shown_token(header), "bth_1"));
    }
    CHECK_FALSE(is_secret(shown_token("Bearer "), ""));
}

TEST_CASE("a token is made once, for its owner only") {
    const auto path =
        std::filesystem::temp_directory_path() / ("berth-token-" + std::to_string(::getpid()));
    const auto first = obtain_token(path);
    const auto second = obtain_token(path);
    struct stat status{};
    REQUIRE(::stat(path.c_str(), &status) == 0);
    std::filesystem::remove(path);
    REQUIRE(first.has_value());
    CHECK(*first == *second);
    CHECK(first->size() == 52);
    CHECK((status.st_mode & 0777) == 0600);
    CHECK_FALSE(obtain_token("/no/such/folder/token").has_value());
}

TEST_CASE("a token that is a link, or that others can read, is never believed") {
    const auto path =
        std::filesystem::temp_directory_path() / ("berth-token-" + std::to_string(::getpid()));
    const std::filesystem::path known = path.string() + "-known";
    std::ofstream(known) << "bth_known\n";
    for (const mode_t mode : {0644U, 0640U, 0602U}) {
        ::chmod(known.c_str(), mode);
        CHECK(obtain_token(known).error().code == berth::base::ErrorCode::Forbidden);
    }
    ::chmod(known.c_str(), 0600);
    CHECK(obtain_token(known).value() == "bth_known");
    std::filesystem::create_symlink(known, path);
    CHECK_FALSE(obtain_token(path).has_value());
    std::filesystem::remove(path);
    std::filesystem::remove(known);
}

TEST_CASE("at whichever byte the disk is full, no part of a token opens the door") {
    const auto path =
        std::filesystem::temp_directory_path() / ("berth-token-" + std::to_string(::getpid()));
    rlimit before{};
    ::getrlimit(RLIMIT_FSIZE, &before);
    ::signal(SIGXFSZ, SIG_IGN);
    for (rlim_t end = 0; end < 53; ++end) {
        CAPTURE(end);
        const rlimit full{end, before.rlim_max};
        ::setrlimit(RLIMIT_FSIZE, &full);
        const auto token = obtain_token(path);
        ::setrlimit(RLIMIT_FSIZE, &before);
        CHECK_FALSE(token.has_value());
        CHECK_FALSE(std::filesystem::exists(path));
    }
    CHECK(obtain_token(path)->size() == 52);
    std::filesystem::remove(path);
}

TEST_CASE("the kernel tells who is at the other end of a Unix socket") {
    int ends[2];
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
    const Peer peer = unix_peer(ends[0]);
    CHECK(peer.is_local);
    CHECK(peer.is_trusted);
    CHECK(peer.user == user_name(::geteuid()));
    ::close(ends[0]);
    ::close(ends[1]);
    CHECK_FALSE(network_peer().is_trusted);
}
