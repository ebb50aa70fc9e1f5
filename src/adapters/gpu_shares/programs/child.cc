// SPDX-License-Identifier: Apache-2.0
#include "adapters/gpu_shares/programs/child.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>

extern char** environ;

namespace berth::gpu_shares {
namespace {

using Clock = std::chrono::steady_clock;

tl::unexpected<base::Error> unavailable(const std::string& what) {
    return base::fail(base::ErrorCode::Unavailable, what);
}

std::vector<std::string> with_own_environment(const std::vector<std::string>& first) {
    std::vector<std::string> all = first;
    for (char** own = environ; *own != nullptr; ++own) {
        const std::string assignment(*own);
        const std::string name = assignment.substr(0, assignment.find('=') + 1);
        const bool is_replaced = std::ranges::any_of(
            first, [&](const std::string& other) { return other.starts_with(name); });
        if (!is_replaced) all.push_back(assignment);
    }
    return all;
}

std::vector<char*> pointers(std::vector<std::string>& words) {
    std::vector<char*> all;
    for (std::string& word : words) all.push_back(word.data());
    all.push_back(nullptr);
    return all;
}

// One letter, within the time that is left: 0 at its end, '\n' for the end of a line.
bool read_letter(int file, char& letter, Clock::time_point deadline) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    pollfd wait = {file, POLLIN, 0};
    if (::poll(&wait, 1, static_cast<int>(std::max<std::int64_t>(left, 0))) <= 0) return false;
    if (::read(file, &letter, 1) != 1) letter = 0;
    return true;
}

}  // namespace

base::Result<Child> Child::start(const ChildOrder& order) {
    int input[2] = {};
    int output[2] = {};
    if (::pipe2(input, O_CLOEXEC) != 0) return unavailable("no pipe");
    const supervision::Descriptor its_input(input[0]);
    Child child;
    child.input_.reset(input[1]);
    if (::pipe2(output, O_CLOEXEC) != 0) return unavailable("no pipe");
    const supervision::Descriptor its_output(output[1]);
    child.output_.reset(output[0]);
    ::fcntl(output[0], F_SETFL, O_NONBLOCK);
    posix_spawn_file_actions_t files;
    ::posix_spawn_file_actions_init(&files);
    ::posix_spawn_file_actions_adddup2(&files, its_input.get(), STDIN_FILENO);
    ::posix_spawn_file_actions_adddup2(&files, its_output.get(), STDOUT_FILENO);
    if (order.tells_errors)
        ::posix_spawn_file_actions_adddup2(&files, its_output.get(), STDERR_FILENO);
    ::posix_spawn_file_actions_addclosefrom_np(&files, STDERR_FILENO + 1);
    // The terminal's signals are for the server, which takes its time to end.
    posix_spawnattr_t manner;
    ::posix_spawnattr_init(&manner);
    ::posix_spawnattr_setflags(&manner, POSIX_SPAWN_SETPGROUP);
    std::vector<std::string> words = order.words;
    std::vector<std::string> environment = with_own_environment(order.environment);
    child.program_ = words.front();
    const int failed = ::posix_spawn(&child.pid_, words.front().c_str(), &files, &manner,
                                     pointers(words).data(), pointers(environment).data());
    ::posix_spawnattr_destroy(&manner);
    ::posix_spawn_file_actions_destroy(&files);
    if (failed == 0) return child;
    child.pid_ = -1;
    return unavailable("\"" + child.program_ + "\" cannot be run: " + ::strerror(failed));
}

bool Child::is_living() {
    if (pid_ > 0 && ::waitpid(pid_, nullptr, WNOHANG) == 0) return true;
    pid_ = -1;
    return false;
}

base::Result<std::string> Child::answer(int patience_ms) {
    const auto deadline = Clock::now() + std::chrono::milliseconds(patience_ms);
    const std::string ready = "ready";
    const std::string unable = "unable ";
    std::string last_words;
    std::string line;
    for (char letter = 0; read_letter(output_.get(), letter, deadline);) {
        if (letter != 0 && letter != '\n') {
            line += letter;
            continue;
        }
        if (line.starts_with(unable)) return unavailable(line.substr(unable.size()));
        if (line == ready) return std::string();
        if (line.starts_with(ready + " ")) return line.substr(ready.size() + 1);
        if (!line.empty()) last_words = line;
        if (letter == 0) return unavailable(how_it_ended(last_words));
        line.clear();
    }
    return unavailable("\"" + program_ + "\" does not answer within " +
                       std::to_string(patience_ms / 1000) + " s");
}

std::string Child::how_it_ended(const std::string& last_words) {
    int status = 0;
    const bool is_known = pid_ > 0 && ::waitpid(pid_, &status, 0) == pid_;
    pid_ = -1;
    std::string how = "\"" + program_ + "\" ends without an answer";
    if (is_known && WIFEXITED(status)) how += ", with " + std::to_string(WEXITSTATUS(status));
    if (is_known && WIFSIGNALED(status)) how += ", by signal " + std::to_string(WTERMSIG(status));
    return last_words.empty() ? how : how + ": " + last_words;
}

std::string Child::news() {
    std::string text;
    char bytes[4096];
    while (true) {
        const ssize_t size = output_.is_open() ? ::read(output_.get(), bytes, sizeof bytes) : -1;
        if (size <= 0) return text;
        text.append(bytes, static_cast<std::size_t>(size));
    }
}

void Child::kill() {
    if (!is_living()) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = -1;
}

}  // namespace berth::gpu_shares
