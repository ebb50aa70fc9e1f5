// SPDX-License-Identifier: Apache-2.0
#include "adapters/gpu_shares/keepers/mps_daemon.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>

extern char** environ;

namespace berth::gpu_shares {
namespace {

// Read once, when the daemon starts.
constexpr const char* kConfiguration =
    "schema_version = \"1.0\"\n"
    "\n"
    "[features.memacct]\n"
    "enabled = true\n";

}  // namespace

MpsDaemon::MpsDaemon(std::string program, std::string directory)
    : program_(std::move(program)), directory_(std::move(directory)) {}

bool MpsDaemon::is_there() const {
    pid_t pid = 0;
    std::ifstream(directory_ + "/nvidia-cuda-mps-control.pid") >> pid;
    return pid > 1 && (::kill(pid, 0) == 0 || errno == EPERM);
}

base::Status MpsDaemon::start() {
    if (is_there()) return {};
    // It listens at names of its own there, of at most 25 letters.
    constexpr std::size_t kPathMax = 107 - 26;
    if (directory_.size() > kPathMax)
        return base::invalid("MPS cannot have sockets in \"" + directory_ + "\", a path of " +
                             std::to_string(directory_.size()) + " bytes, at most " +
                             std::to_string(kPathMax) + "; choose a shorter --data");
    std::error_code ignored;
    std::filesystem::create_directories(directory_ + "/log", ignored);
    const std::string configuration = directory_ + "/mps.toml";
    std::ofstream(configuration) << kConfiguration;
    return run({"-d", "-p", "3", "-a", configuration});
}

void MpsDaemon::stop() {
    if (is_there()) (void)run({"-q"});
}

std::vector<std::string> MpsDaemon::environment(base::MilliGpu share, model::JobKind kind) const {
    constexpr std::int64_t kMilliPerPercent = 10;
    const std::int64_t percent = std::max<std::int64_t>(1, share.value / kMilliPerPercent);
    return {"CUDA_MPS_PIPE_DIRECTORY=" + directory_,
            "CUDA_MPS_LOG_DIRECTORY=" + directory_ + "/log",
            "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE=" + std::to_string(percent),
            // 0 is normal, 1 below: who waits for an answer goes first.
            std::string("CUDA_MPS_CLIENT_PRIORITY=") + (kind == model::JobKind::Train ? "1" : "0")};
}

base::Status MpsDaemon::run(const std::vector<std::string>& arguments) {
    const std::string log = directory_ + "/control.log";
    std::vector<std::string> words{program_};
    words.insert(words.end(), arguments.begin(), arguments.end());
    std::vector<char*> command;
    for (std::string& word : words) command.push_back(word.data());
    command.push_back(nullptr);
    std::vector<std::string> settings{"CUDA_MPS_PIPE_DIRECTORY=" + directory_,
                                      "CUDA_MPS_LOG_DIRECTORY=" + directory_ + "/log"};
    std::vector<char*> environment;
    for (char** one = environ; *one != nullptr; ++one) environment.push_back(*one);
    for (std::string& setting : settings) environment.push_back(setting.data());
    environment.push_back(nullptr);
    posix_spawn_file_actions_t files;
    ::posix_spawn_file_actions_init(&files);
    ::posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, log.c_str(),
                                       O_WRONLY | O_CREAT | O_TRUNC, 0600);
    ::posix_spawn_file_actions_adddup2(&files, STDOUT_FILENO, STDERR_FILENO);
    ::posix_spawn_file_actions_addclosefrom_np(&files, STDERR_FILENO + 1);
    pid_t pid = 0;
    const int failed =
        ::posix_spawn(&pid, program_.c_str(), &files, nullptr, command.data(), environment.data());
    ::posix_spawn_file_actions_destroy(&files);
    int status = 0;
    if (failed == 0) ::waitpid(pid, &status, 0);
    if (failed == 0 && status == 0) return {};
    std::string said;
    std::getline(std::ifstream(log) >> std::ws, said);
    return base::fail(base::ErrorCode::Unavailable, program_ + " does not start: " + said);
}

}  // namespace berth::gpu_shares
