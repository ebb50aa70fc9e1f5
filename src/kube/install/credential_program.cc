// SPDX-License-Identifier: Apache-2.0
#include "kube/install/credential_program.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string>
#include <vector>

extern char** environ;

namespace berth::kube::install {
namespace {

using base::ErrorCode;

constexpr std::size_t kPrintedMax = std::size_t{1} << 20;

std::vector<std::string> environment_of(const client::ExecCommand& command) {
    std::vector<std::string> all;
    for (char** at = environ; *at != nullptr; ++at) {
        const std::string_view entry = *at;
        if (!command.environment.contains(std::string(entry.substr(0, entry.find('='))))) {
            all.emplace_back(entry);
        }
    }
    for (const auto& [name, value] : command.environment) all.push_back(name + "=" + value);
    return all;
}

std::vector<char*> pointers_to(std::vector<std::string>& words) {
    std::vector<char*> pointers;
    for (std::string& word : words) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    return pointers;
}

// All that comes, of which the first megabyte and a byte are kept.
std::string read_to_end(int pipe) {
    std::string all;
    std::array<char, 4096> piece{};
    for (;;) {
        const ssize_t got = ::read(pipe, piece.data(), piece.size());
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return all;
        if (all.size() <= kPrintedMax) all.append(piece.data(), static_cast<std::size_t>(got));
    }
}

base::Result<std::string> printed_by(const client::ExecCommand& command) {
    std::array<int, 2> pipe{};
    if (::pipe2(pipe.data(), O_CLOEXEC) != 0) {
        return base::fail(ErrorCode::Unavailable, "no pipe: " + std::string(std::strerror(errno)));
    }
    std::vector<std::string> words{command.command};
    words.insert(words.end(), command.arguments.begin(), command.arguments.end());
    std::vector<std::string> variables = environment_of(command);
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, pipe[1], STDOUT_FILENO);
    pid_t child = 0;
    const int failed = ::posix_spawnp(&child, command.command.c_str(), &actions, nullptr,
                                      pointers_to(words).data(), pointers_to(variables).data());
    ::posix_spawn_file_actions_destroy(&actions);
    ::close(pipe[1]);
    const std::string text = failed == 0 ? read_to_end(pipe[0]) : std::string();
    ::close(pipe[0]);
    if (failed != 0) {
        return base::fail(ErrorCode::NotFound,
                          "\"" + command.command + "\", which gives " +
                              "credentials, cannot be run: " + std::strerror(failed));
    }
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        return base::fail(ErrorCode::Unavailable,
                          "\"" + command.command + "\", which gives credentials, failed");
    }
    if (text.size() > kPrintedMax) {
        return base::fail(ErrorCode::Exhausted,
                          "\"" + command.command + "\" printed more than 1 MiB");
    }
    return text;
}

}  // namespace

void CredentialProgram::run(const client::ExecCommand& command, Printed printed) {
    printed(printed_by(command));
}

}  // namespace berth::kube::install
