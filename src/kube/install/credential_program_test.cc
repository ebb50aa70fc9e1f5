// SPDX-License-Identifier: Apache-2.0
#include "kube/install/credential_program.h"

#include <doctest/doctest.h>

#include <string>

using namespace berth;
using namespace berth::kube;

namespace {

base::Result<std::string> printed(const client::ExecCommand& command) {
    base::Result<std::string> answer = base::invalid("nothing yet");
    install::CredentialProgram().run(command, [&](base::Result<std::string> got) { answer = got; });
    return answer;
}

client::ExecCommand shell(const std::string& script) {
    return {"sh", {"-c", script}, {{"BERTH_TEST_WORD", "two words"}}, {}};
}

}  // namespace

TEST_CASE("a program's output is the answer; it has our environment and its own variables") {
    CHECK(printed(shell("printf '%s' \"$BERTH_TEST_WORD\"")).value() == "two words");
    CHECK(printed(shell("test -n \"$PATH\" && echo yes")).value() == "yes\n");
}

TEST_CASE("a program that is not there, fails or never stops printing is named") {
    CHECK(printed({"/nowhere/login", {}, {}, {}}).error().message ==
          "\"/nowhere/login\", which gives credentials, cannot be run: No such file or directory");
    CHECK(printed(shell("exit 3")).error().message == "\"sh\", which gives credentials, failed");
    CHECK(printed(shell("head -c 2000000 /dev/zero")).error().code == base::ErrorCode::Exhausted);
}
