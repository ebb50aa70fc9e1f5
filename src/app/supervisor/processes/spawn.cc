// SPDX-License-Identifier: Apache-2.0
#include "app/supervisor/processes/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <optional>

#include "app/supervisor/processes/environment.h"
#include "supervision/descriptor.h"
#include "supervision/shortage.h"
#include "supervision/status_file.h"
#include "vgpu/loading/program.h"

namespace berth::supervisor {
namespace {

using supervision::Descriptor;

// Of a name from outside, in messages about it.
constexpr std::size_t kQuotedNameMax = 200;

enum class Stage { Fork, Group, Workdir, Terminal, Exec };

// Everything the child needs, made before the fork: between vfork and exec it shares our memory.
struct Prepared {
    const SpawnPlan* plan = nullptr;
    std::vector<char*> command;
    std::vector<char*> environment;
    pid_t supervisor = 0;
};

// What the child writes into a pipe that closes with its exec: reported before spawn() returns, and
// without memory in common, which vfork need not give.
struct Failure {
    Stage stage = Stage::Fork;
    int error = 0;
};

std::vector<char*> pointers_to(const std::vector<std::string>& texts) {
    std::vector<char*> pointers;
    pointers.reserve(texts.size() + 1);
    for (const std::string& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
    pointers.push_back(nullptr);
    return pointers;
}

// What the supervisor changed for itself must not reach the user's process. Handlers go before the
// mask, because a handler that ran here would write into the supervisor's memory.
void restore_signals() {
    for (const int signal : {SIGCHLD, SIGTERM, SIGPIPE}) ::signal(signal, SIG_DFL);
    sigset_t none;
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

bool take_terminal(const char* path) {
    ::setsid();
    const int terminal = ::open(path, O_RDWR);  // a session leader's first terminal becomes its own
    if (terminal < 0) return false;
    for (int target = 0; target < 3; ++target) ::dup2(terminal, target);
    if (terminal > 2) ::close(terminal);
    return true;
}

// Appended, so that any file can stand in for the kernel's.
bool join_group(const char* path) {
    const int file = ::open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
    if (file < 0) return false;
    char digits[24];
    char* begin = digits + sizeof digits;
    *--begin = '\n';
    for (pid_t rest = ::getpid(); rest > 0; rest /= 10)
        *--begin = static_cast<char>('0' + rest % 10);
    const auto size = static_cast<std::size_t>(digits + sizeof digits - begin);
    const bool has_joined = ::write(file, begin, size) == static_cast<ssize_t>(size);
    ::close(file);
    return has_joined;
}

void take_files(const SpawnPlan& plan) {
    ::setpgid(0, 0);
    if (plan.input >= 0) ::dup2(plan.input, 0);
    if (plan.output >= 0) ::dup2(plan.output, 1);
    if (plan.error_output >= 0) ::dup2(plan.error_output, 2);
}

// Returns only when it failed, with the stage that did. Nothing here may allocate.
Stage become_user_process(const Prepared& prepared) {
    const SpawnPlan& plan = *prepared.plan;
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != prepared.supervisor) ::_exit(127);  // it died before that took hold
    if (!plan.group_file.empty() && !join_group(plan.group_file.c_str())) return Stage::Group;
    if (plan.terminal.empty()) {
        take_files(plan);
    } else if (!take_terminal(plan.terminal.c_str())) {
        return Stage::Terminal;
    }
    if (::chdir(plan.workdir.empty() ? "/" : plan.workdir.c_str()) != 0) return Stage::Workdir;
    ::umask(plan.umask);
    restore_signals();
    ::execvpe(prepared.command[0], prepared.command.data(), prepared.environment.data());
    return Stage::Exec;
}

[[gnu::noinline]] pid_t fork_and_exec(const Prepared& prepared, int failed) {
    const pid_t pid = ::vfork();
    if (pid != 0) return pid;
    const Stage stage = become_user_process(prepared);
    const Failure failure{stage, errno};
    [[maybe_unused]] const ssize_t size = ::write(failed, &failure, sizeof failure);
    ::_exit(127);
}

// What the child could not do, or nothing once it runs another program.
std::optional<Failure> told_by(int pipe) {
    Failure failure;
    ssize_t size = 0;
    do {
        size = ::read(pipe, &failure, sizeof failure);
    } while (size < 0 && errno == EINTR);
    if (size != sizeof failure) return {};
    return failure;
}

std::string describe(const SpawnPlan& plan, Stage stage, int error) {
    const auto of = [reason = std::string(": ") + ::strerror(error)](const std::string& what,
                                                                     const std::string& name) {
        return what + " \"" + supervision::shortened(name, kQuotedNameMax) + '"' + reason;
    };
    switch (stage) {
        case Stage::Fork: return supervision::no_process(error);
        case Stage::Group: return of("cannot join", plan.group_file);
        case Stage::Workdir: return of("cannot enter workdir", plan.workdir);
        case Stage::Terminal: return std::string("cannot open a terminal: ") + ::strerror(error);
        case Stage::Exec: break;
    }
    return of("cannot run", plan.command->front());
}

Spawned failed_to(const SpawnPlan& plan, Stage stage, int error) {
    const bool is_missing = stage == Stage::Exec && error == ENOENT;
    return {-1, is_missing ? 127 : 126, describe(plan, stage, error),
            supervision::is_shortage(error)};
}

// Empty when it keeps to its share, or has whole GPUs.
std::string why_without_share(const SpawnPlan& plan) {
    if (value_of(*plan.environment, "BERTH_VGPU_SOCKET").empty()) return {};
    const char* path = ::getenv("PATH");
    return vgpu::loading::why_not_loadable(
        {plan.command->front(), path == nullptr ? "" : path,
         plan.workdir.empty() ? "/" : std::string_view(plan.workdir)});
}

}  // namespace

Spawned spawn(const SpawnPlan& plan) {
    if (plan.command->empty()) return {-1, 126, "there is no command to run", false};
    if (const std::string why = why_without_share(plan); !why.empty()) return {-1, 126, why, false};
    const Prepared prepared{&plan, pointers_to(*plan.command), pointers_to(*plan.environment),
                            ::getpid()};
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return failed_to(plan, Stage::Fork, errno);
    const Descriptor reported(ends[0]);
    Descriptor failed(ends[1]);
    const pid_t pid = fork_and_exec(prepared, failed.get());
    if (pid < 0) return failed_to(plan, Stage::Fork, errno);
    failed.reset();
    const std::optional<Failure> failure = told_by(reported.get());
    if (!failure) return {pid, 0, {}, false};
    ::waitpid(pid, nullptr, 0);
    return failed_to(plan, failure->stage, failure->error);
}

}  // namespace berth::supervisor
