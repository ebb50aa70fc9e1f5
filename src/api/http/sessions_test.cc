// SPDX-License-Identifier: Apache-2.0
#include "api/http/sessions.h"

#include <doctest/doctest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

using namespace berth::api;

namespace {

struct Folder {
    Folder() { REQUIRE(::mkdtemp(name.data()) != nullptr); }
    ~Folder() {
        ::unlink(file().c_str());
        ::rmdir(name.c_str());
    }
    std::string file() const { return name + "/sessions"; }

    std::string name = "/tmp/berth-sessions-XXXXXX";
};

class Clock {
  public:
    std::function<Sessions::Time()> now() {
        return [this] { return time_; };
    }
    void advance(std::chrono::seconds by) { time_ += by; }

  private:
    Sessions::Time time_{std::chrono::hours{24 * 365 * 56}};
};

}  // namespace

TEST_CASE("a code signs in once, and within a minute") {
    const Folder folder;
    Clock clock;
    Sessions sessions(folder.file(), clock.now());
    const std::string code = *sessions.invite("ann", kAllRights);
    CHECK_FALSE(sessions.begin("")->has_value());
    CHECK_FALSE(sessions.begin(code + "0")->has_value());
    const auto session = *sessions.begin(code);
    REQUIRE(session);
    CHECK(session->user == "ann");
    CHECK_FALSE(sessions.begin(code)->has_value());
    const std::string late = *sessions.invite("ann", kAllRights);
    clock.advance(kCodeMax);
    CHECK_FALSE(sessions.begin(late)->has_value());
}

TEST_CASE("a session lasts a week, over a restart of the server, and ends when it is asked to") {
    const Folder folder;
    Clock clock;
    Sessions sessions(folder.file(), clock.now());
    const auto ann = *sessions.begin(*sessions.invite("ann", kAllRights));
    const auto wall = *sessions.begin(*sessions.invite("bob", kLookOnly));
    struct stat about{};
    REQUIRE(::stat(folder.file().c_str(), &about) == 0);
    CHECK((about.st_mode & 0777) == 0600);
    clock.advance(kSessionMax - std::chrono::seconds{1});
    Sessions later(folder.file(), clock.now());
    REQUIRE(later.read());
    CHECK(later.find(ann->token)->user == "ann");
    CHECK(later.find(ann->token)->rights == kAllRights);
    CHECK(later.find(wall->token)->rights == kLookOnly);
    CHECK(later.find("") == nullptr);
    REQUIRE(later.end(ann->token));
    CHECK(later.find(ann->token) == nullptr);
    Sessions last(folder.file(), clock.now());
    REQUIRE(last.read());
    CHECK(last.find(ann->token) == nullptr);
    CHECK(last.find(wall->token) != nullptr);
    clock.advance(std::chrono::seconds{1});
    CHECK(last.find(wall->token) == nullptr);
}

TEST_CASE("who signs out while nothing can be written is not signed in by the next server") {
    const Folder folder;
    Clock clock;
    Sessions sessions(folder.file(), clock.now());
    const auto ann = *sessions.begin(*sessions.invite("ann", kAllRights));
    REQUIRE(::mkdir((folder.file() + ".new").c_str(), 0700) == 0);  // in the way of a new file
    CHECK(sessions.end(ann->token));
    ::rmdir((folder.file() + ".new").c_str());
    Sessions later(folder.file(), clock.now());
    REQUIRE(later.read());
    CHECK(later.find(ann->token) == nullptr);
}

TEST_CASE("what is no file is not waited for") {
    const Folder folder;
    REQUIRE(::mkfifo(folder.file().c_str(), 0600) == 0);
    CHECK_FALSE(Sessions(folder.file()).read());
}

TEST_CASE("codes and sessions are bounded; a broken file signs out whom it names wrongly") {
    const Folder folder;
    Clock clock;
    Sessions sessions(folder.file(), clock.now());
    const std::string first_code = *sessions.invite("ann", kAllRights);
    for (std::size_t i = 0; i < kCodesMax; ++i) REQUIRE(sessions.invite("bob", kAllRights));
    CHECK_FALSE(sessions.begin(first_code)->has_value());
    const auto first = *sessions.begin(*sessions.invite("ann", kAllRights));
    for (std::size_t i = 0; i < kSessionsMax; ++i) {
        clock.advance(std::chrono::seconds{1});
        REQUIRE(sessions.begin(*sessions.invite("bob", kAllRights))->has_value());
    }
    CHECK(sessions.find(first->token) == nullptr);
    std::ofstream(folder.file(), std::ios::app)
        << "bts_1 soon all eve\nbts_2\nbts_3 9999999999 every eve\n";
    Sessions later(folder.file(), clock.now());
    REQUIRE(later.read());
    CHECK(later.find("bts_1") == nullptr);
    CHECK(later.find("bts_3") == nullptr);
    ::chmod(folder.file().c_str(), 0644);
    CHECK(Sessions(folder.file(), clock.now()).read().error().code ==
          berth::base::ErrorCode::Forbidden);
}
