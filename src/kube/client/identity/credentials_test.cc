// SPDX-License-Identifier: Apache-2.0
#include "kube/client/identity/credentials.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>

using namespace berth;
using namespace berth::kube::client;
using std::chrono::seconds;

namespace {

class SetClock final : public ports::Clock {
  public:
    base::TimePoint now() const override { return now_; }
    base::TimePoint now_ = base::at_ms(1'772'366'400'000);  // 2026-03-01T12:00:00Z
};

// A program that answers when the test lets it.
class Program final : public ProcessRunner {
  public:
    void run(const ExecCommand& command, Printed printed) override {
        ++runs;
        environment = command.environment;
        waiting = std::move(printed);
    }
    int runs = 0;
    std::map<std::string, std::string> environment;
    Printed waiting;
};

std::string asked(Credentials& credentials) {
    std::string header = "nothing yet";
    credentials.authorize([&](const base::Result<std::string>& made) {
        header = made ? *made : "error: " + made.error().message;
    });
    return header;
}

Access with_program() {
    Access access;
    access.exec = ExecCommand{"login", {}, {}, "client.authentication.k8s.io/v1"};
    return access;
}

}  // namespace

TEST_CASE("a token goes into the header; a certificate needs none") {
    const SetClock clock;
    Access access;
    Credentials none(access, nullptr, clock);
    CHECK(asked(none).empty());
    access.token = "secret";
    Credentials token(access, nullptr, clock);
    CHECK(asked(token) == "Bearer secret");
}

TEST_CASE("a token in a file is read again when the file is another one") {
    const SetClock clock;
    const auto folder = std::filesystem::temp_directory_path() /
                        ("berth-credentials-" + std::to_string(::getpid()));
    std::filesystem::create_directories(folder);
    Access access;
    access.token_file = (folder / "token").string();
    Credentials credentials(access, nullptr, clock);
    CHECK(asked(credentials).starts_with("error: "));
    const auto write = [&](const char* text) {
        // As kubelet does it: a new file takes the old one's place.
        std::ofstream(folder / "new") << text;
        std::filesystem::rename(folder / "new", folder / "token");
    };
    write("first\n");
    CHECK(asked(credentials) == "Bearer first");
    write("other");
    CHECK(asked(credentials) == "Bearer other");
    write("two words");
    CHECK(asked(credentials).find("holds no token") != std::string::npos);
    std::filesystem::remove_all(folder);
}

TEST_CASE("a program is run once for all who wait, and again when its token expires") {
    SetClock clock;
    Program program;
    Credentials credentials(with_program(), &program, clock);
    int answers = 0;
    for (int i = 0; i < 3; ++i) {
        credentials.authorize([&](const base::Result<std::string>& header) {
            ++answers;
            CHECK(*header == "Bearer t1");
        });
    }
    CHECK(program.runs == 1);
    CHECK(program.environment["KUBERNETES_EXEC_INFO"].find("ExecCredential") != std::string::npos);
    program.waiting(R"({"kind":"ExecCredential","status":{"token":"t1",
        "expirationTimestamp":"2026-03-01T12:01:00Z"}})");
    CHECK(answers == 3);
    CHECK(asked(credentials) == "Bearer t1");
    CHECK(program.runs == 1);

    clock.now_ += seconds(55);
    CHECK(asked(credentials) == "nothing yet");
    CHECK(program.runs == 2);
}

TEST_CASE("a token that the server no longer takes is asked for again") {
    const SetClock clock;
    Program program;
    Credentials credentials(with_program(), &program, clock);
    asked(credentials);
    program.waiting(R"({"status":{"token":"t1"}})");
    CHECK(asked(credentials) == "Bearer t1");
    credentials.renew();
    asked(credentials);
    CHECK(program.runs == 2);
}

TEST_CASE("what a program prints instead of a token is reported with its name") {
    const SetClock clock;
    Program program;
    Credentials credentials(with_program(), &program, clock);
    std::string said;
    credentials.authorize(
        [&](const base::Result<std::string>& header) { said = header.error().message; });
    program.waiting(R"({"status":{"clientCertificateData":"x"}})");
    CHECK(said == "login: gives a client certificate; wanted a token");
    for (const char* text : {"", "{}", R"({"status":{"token":"a b"}})", "Please log in"}) {
        CAPTURE(text);
        CHECK_FALSE(read_exec_credential(text));
    }
}
