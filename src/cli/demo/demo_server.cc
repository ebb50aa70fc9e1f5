// SPDX-License-Identifier: Apache-2.0
#include "cli/demo/demo_server.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>
#include <vector>

namespace berth::cli {
namespace {

std::string own_path() {
    std::error_code error;
    const auto path = std::filesystem::read_symlink("/proc/self/exe", error);
    return error ? std::string("berth") : path.string();
}

// Runs this very program silently; standard error goes to a pipe and comes back as text.
int run_self(std::vector<std::string> words, std::string& output) {
    words.insert(words.begin(), own_path());
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return -1;
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
    // Not of the terminal's group: Ctrl-C is for the demo, which then asks it to end the server.
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
    pid_t child = -1;
    const int error =
        ::posix_spawn(&child, arguments[0], &actions, &attributes, arguments.data(), environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    ::close(ends[1]);
    int status = -1;
    if (error == 0) {
        char buffer[4096];
        for (;;) {
            const ssize_t count = ::read(ends[0], buffer, sizeof(buffer));
            if (count < 0 && errno == EINTR) continue;
            if (count <= 0) break;
            output.append(buffer, static_cast<std::size_t>(count));
        }
        while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
        }
    } else {
        output = std::strerror(error);
    }
    ::close(ends[0]);
    return error == 0 && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

Outcome<std::string> make_directory() {
    const char* place = std::getenv("TMPDIR");
    std::string path = std::string(place && *place ? place : "/tmp") + "/berth-demo-XXXXXX";
    if (!::mkdtemp(path.data())) {
        return refuse(kFailed, "cannot make " + path + ": " + std::strerror(errno));
    }
    return path;
}

}  // namespace

DemoServer::DemoServer(const Context& outer, std::string directory)
    : context_(outer), directory_(std::move(directory)) {
    context_.data_dir = directory_;
    context_.is_default_data_dir = false;
    context_.address = {};
    context_.address.socket = directory_ + "/berth.sock";
}

Outcome<std::unique_ptr<DemoServer>> DemoServer::start(const Context& outer,
                                                       const std::string& gpus) {
    auto directory = make_directory();
    if (!directory) return tl::unexpected(directory.error());
    std::unique_ptr<DemoServer> server(new DemoServer(outer, *directory));
    std::string output;
    const int code = run_self({"up", "--data", *directory, "--gpus", gpus, "--port", "0"}, output);
    if (code == 0) return server;
    while (output.ends_with('\n')) output.pop_back();
    return refuse(kServerUnreachable, "the demo's server did not start: " + output);
}

DemoServer::~DemoServer() { (void)end(); }

Success DemoServer::end() {
    if (directory_.empty()) return {};
    std::string output;
    const int code = run_self({"down", "--data", directory_, "--jobs", "cancel"}, output);
    const std::string directory = std::exchange(directory_, "");
    // While it lives its folder is what it can be reached by.
    if (code != 0) {
        return refuse(kFailed, "the demo's server did not end: " + output,
                      "berth down --data " + directory + " --jobs cancel");
    }
    std::error_code ignored;
    std::filesystem::remove_all(directory, ignored);
    return {};
}

std::string DemoServer::sibling(const std::string& program) const {
    return (std::filesystem::path(own_path()).parent_path() / program).string();
}

}  // namespace berth::cli
