// SPDX-License-Identifier: Apache-2.0
#include "app/supervisor/supervisor.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include "app/supervisor/processes/environment.h"
#include "app/supervisor/processes/pause_signal.h"
#include "supervision/address.h"
#include "supervision/shortage.h"

namespace berth::supervisor {

using supervision::Descriptor;
using supervision::ExitReport;
using supervision::FrameType;

namespace {

constexpr std::int64_t kAttachWaitMs = 30'000;
// The client of a resumed job has been following it, or has left for good.
constexpr std::int64_t kReattachWaitMs = 5'000;
// Until it is tried again whether the machine has what it lacked.
constexpr std::int64_t kRoomWaitMs = 500;
constexpr std::int64_t kGangGraceMs = 5'000;
// A job that still writes its checkpoint at the end of its grace gets a little more, step by step.
// The sum is less than what promises to others allow for (model::Policy::reservation_hold).
constexpr std::int64_t kMoreTimeStepMs = 1'000;
constexpr std::int64_t kMoreTimeMaxMs = 20'000;
// What a task leaves running may still be copying its last output, as `> >(tee log)` does.
constexpr std::int64_t kLeftoverGraceMs = 200;
// Of a name from outside, in messages about it.
constexpr std::size_t kNameMax = 200;

// Makes a directory with its parents. 0 when it exists now, else the reason.
int make_directories(const std::string& path) {
    if (::mkdir(path.c_str(), 0777) == 0 || errno == EEXIST) return 0;
    if (errno != ENOENT) return errno;
    const std::size_t slash = path.rfind('/');
    if (slash == 0 || slash == std::string::npos) return ENOENT;
    if (const int reason = make_directories(path.substr(0, slash)); reason != 0) return reason;
    return ::mkdir(path.c_str(), 0777) == 0 || errno == EEXIST ? 0 : errno;
}

// As the job would make it: it may lie where its user shares it with others.
int make_checkpoint_dir(const supervision::Order& order) {
    const mode_t own = ::umask(static_cast<mode_t>(order.umask));
    const int reason = make_directories(order.checkpoint_dir);
    ::umask(own);
    return reason;
}

std::string cannot_make(const std::string& directory, int reason) {
    return "cannot make \"" + supervision::shortened(directory, kNameMax) +
           "\": " + ::strerror(reason);
}

std::string cannot_open_log(const std::string& path, int reason) {
    return "cannot open log \"" + path + "\": " + ::strerror(reason);
}

Descriptor open_log(const std::string& path) {
    return Descriptor(
        ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600));
}

}  // namespace

std::int64_t monotonic_ms() {
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000LL + now.tv_nsec / 1'000'000;
}

Supervisor::Supervisor(supervision::Order order, Descriptor status, Descriptor channel)
    : sleep_mask_(take_signals()),
      order_(std::move(order)),
      status_(std::move(status)),
      listening_(order_.runtime, supervision::attempt_socket(order_.job, order_.attempt)) {
    peers_.emplace_back(std::move(channel), Role::Server);
    tasks_.resize(order_.tasks.size());
}

void Supervisor::run() {
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
    // The command is searched where the user's own shell would search it.
    const std::string path(value_of(order_.environment, "PATH"));
    ::setenv("PATH", path.empty() ? "/usr/local/bin:/usr/bin:/bin" : path.c_str(), 1);
    write_status(supervision::starting_line(order_.boot, ::getpid()));
    if (order_.attached) {
        phase_ = Phase::Waiting;
        attach_deadline_ = monotonic_ms() + (order_.resumes ? kReattachWaitMs : kAttachWaitMs);
        listen();
    } else {
        start_tasks();
    }
    while (phase_ != Phase::Ended) wait_and_serve();
    // The rest of the output goes out at the client's own pace; the GPUs are free already.
    for (Connection& peer : peers_) {
        if (peer.role() != Role::Client && !peer.flush()) peer.lose();
    }
    drop_lost_peers();
    while (client() != nullptr && client()->backlog() > 0) wait_and_serve();
    // A server that asks meanwhile hears how it ended.
    while (!status_.are_written()) wait_and_serve();
    listening_.close();
}

// Nothing is run that could not be written down, or had no place for its log and its checkpoints.
// What it lacks.
std::string Supervisor::lack_of_room() {
    if (!status_.are_written())
        return std::string("cannot write its status: ") + ::strerror(ENOSPC);
    const int reason = make_checkpoint_dir(order_);
    if (supervision::is_shortage(reason)) return cannot_make(order_.checkpoint_dir, reason);
    if (order_.tasks.empty()) return {};
    const auto log = supervision::log_path(order_.file_prefix, order_.tasks.front().rank);
    if (open_log(log).is_open() || !supervision::is_shortage(errno)) return {};
    return cannot_open_log(log, errno);
}

void Supervisor::start_tasks() {
    if (const std::string lack = lack_of_room(); !lack.empty()) return wait_for_room(lack);
    phase_ = Phase::Running;
    attach_deadline_.reset();
    if (const int reason = make_checkpoint_dir(order_); reason != 0) {
        return fail_to_start(0, {-1, 126, cannot_make(order_.checkpoint_dir, reason), false});
    }
    const int port = choose_port(order_);
    for (std::size_t index = 0; index < tasks_.size(); ++index) {
        const Spawned spawned = start_task(index, port);
        if (spawned.is_for_want) return wait_for_room(spawned.failure);
        if (!spawned.failure.empty()) return fail_to_start(index, spawned);
        tasks_[index] = {spawned.pid, true};
        ++running_tasks_;
        has_children_ = true;
    }
    std::string line = "running";
    for (const Task& task : tasks_) line += ' ' + std::to_string(task.pid);
    write_status(line + '\n');
    was_running_ = true;
    lack_.clear();
    look_deadline_ = monotonic_ms() + kLookEveryMs;
    reach_arbiter();
    tell(Role::Server, FrameType::Running, supervision::pack_number(::getpid()));
}

Spawned Supervisor::start_task(std::size_t index, int port) {
    const supervision::TaskOrder& task = order_.tasks[index];
    const std::string log_path = supervision::log_path(order_.file_prefix, task.rank);
    Descriptor log = open_log(log_path);
    if (!log.is_open()) {
        const int reason = errno;
        return {-1, 126, cannot_open_log(log_path, reason), supervision::is_shortage(reason)};
    }
    const std::vector<std::string> environment = task_environment(order_, task, port);
    SpawnPlan plan;
    plan.command = &order_.command;
    plan.environment = &environment;
    plan.workdir = order_.workdir;
    plan.umask = static_cast<mode_t>(order_.umask);
    if (!task.control_group.empty()) plan.group_file = task.control_group + "/cgroup.procs";
    const int log_fd = log.get();
    const Descriptor log_copy(order_.attached ? ::fcntl(log_fd, F_DUPFD_CLOEXEC, 0) : -1);
    if (!order_.attached) plan.output = plan.error_output = log_fd;
    Spawned spawned =
        order_.attached ? start_attached_task(plan, index, std::move(log)) : spawn(plan);
    if (!spawned.failure.empty() && !spawned.is_for_want) {
        const std::string text = "berth: " + spawned.failure + '\n';
        const int target = order_.attached ? log_copy.get() : log_fd;
        // The reason is also in the exit line, so a log that takes no more loses nothing.
        [[maybe_unused]] const ssize_t size = ::write(target, text.data(), text.size());
    }
    return spawned;
}

Spawned Supervisor::start_attached_task(const SpawnPlan& plan, std::size_t index, Descriptor log) {
    SpawnPlan attached = plan;
    TaskEnds ends;
    const int rank = order_.tasks[index].rank;
    const std::string failure =
        order_.terminal && rank == 0
            ? relay_.open_terminal(rank, std::move(log), terminal_size_, ends)
            : relay_.open_pipes(rank, std::move(log), ends);
    if (!failure.empty()) return {-1, 126, failure, false};
    attached.terminal = ends.terminal;
    attached.input = ends.input.get();
    attached.output = ends.output.get();
    attached.error_output = ends.error_output.get();
    return spawn(attached);
}

void Supervisor::fail_to_start(std::size_t index, const Spawned& spawned) {
    const int rank = order_.tasks.empty() ? 0 : order_.tasks[index].rank;
    first_failure_ =
        ExitReport{spawned.exit_code, 0, false, false,
                   tasks_.size() > 1 ? "task " + std::to_string(rank) + ": " + spawned.failure
                                     : spawned.failure};
    tell(Role::Client, FrameType::ErrorOutput, "berth: " + spawned.failure + '\n');
    if (has_children_)
        kill_all();
    else
        end(describe_end());
}

// What was started of the gang goes first: it may be what another one waits for.
void Supervisor::wait_for_room(const std::string& lack) {
    if (std::exchange(lack_, lack) != lack) {
        tell(Role::Server, FrameType::Waiting, lack);
        tell(Role::Client, FrameType::ErrorOutput, "berth: waits to start: " + lack + '\n');
    }
    relay_.forget_tasks();
    phase_ = Phase::Clearing;
    has_children_ ? kill_all() : wait_or_end();
}

void Supervisor::wait_or_end() {
    is_killing_ = false;
    kill_again_.reset();
    phase_ = Phase::Waiting;
    if (stop_asked_) return end(never_started());
    attach_deadline_ = monotonic_ms() + kRoomWaitMs;
}

void Supervisor::reap() {
    while (true) {
        int wait_status = 0;
        const pid_t pid = ::waitpid(-1, &wait_status, WNOHANG);
        if (pid == 0 || (pid < 0 && errno == EINTR)) break;
        if (pid < 0) {
            has_children_ = false;
            break;
        }
        for (std::size_t index = 0; index < tasks_.size(); ++index) {
            if (tasks_[index].is_running && tasks_[index].pid == pid)
                note_task_end(index, wait_status);
        }
    }
    consider_end();
}

void Supervisor::note_task_end(std::size_t index, int wait_status) {
    tasks_[index].is_running = false;
    --running_tasks_;
    const bool is_signal = WIFSIGNALED(wait_status);
    const int signal = is_signal ? WTERMSIG(wait_status) : 0;
    const int code = is_signal ? 128 + signal : WEXITSTATUS(wait_status);
    if (code == 0 || first_failure_ || phase_ == Phase::Clearing) return;
    const std::string who = "task " + std::to_string(order_.tasks[index].rank);
    first_failure_ = ExitReport{code, signal, false, false,
                                is_signal ? who + " was ended by " + signal_name(signal)
                                          : who + " exited with " + std::to_string(code)};
    // While the gang is saving, one that is done, or that cannot save, does not end the others.
    if (stop_asked_ || is_killing_ || running_tasks_ == 0) return;
    gang_deadline_ = monotonic_ms() + kGangGraceMs;
    ask_all(SIGTERM);
}

void Supervisor::consider_end() {
    if (phase_ == Phase::Clearing && !has_children_) return wait_or_end();
    if (phase_ != Phase::Running || running_tasks_ > 0) return;
    if (!has_children_) {
        end(describe_end());
    } else if (!is_killing_ && !leftover_deadline_) {
        leftover_deadline_ = monotonic_ms() + kLeftoverGraceMs;
    }
}

void Supervisor::end(ExitReport report) {
    phase_ = Phase::Ended;
    limit_logs();
    attach_deadline_ = look_deadline_ = stop_deadline_ = stall_deadline_ = {};
    gang_deadline_ = leftover_deadline_ = kill_again_ = freezer_deadline_ = ask_again_ = {};
    reach_again_.reset();
    exit_text_ = supervision::exit_line(report);
    write_status(exit_text_);
    tell(Role::Server, FrameType::Exited, exit_text_);
    relay_.drain(sink());
    tell(Role::Client, FrameType::Exited, exit_text_);
}

void Supervisor::on_deadline() {
    const std::int64_t now = monotonic_ms();
    const auto is_over = [now](const std::optional<std::int64_t>& deadline) {
        return deadline && *deadline <= now;
    };
    if (is_over(stall_deadline_)) {
        stall_deadline_.reset();
        if (Connection* peer = client()) peer->lose();
    }
    if (is_over(attach_deadline_)) return start_tasks();  // no client came: its log remains
    if (is_over(look_deadline_)) look_around();
    on_freezer_deadline();
    if (is_over(reach_again_)) reach_arbiter();
    if (is_over(listen_again_)) listen();
    if (is_over(stop_deadline_) && asked_to_pause_ && more_time_ms_ < kMoreTimeMaxMs &&
        keeps_writing()) {
        more_time_ms_ += kMoreTimeStepMs;
        stop_deadline_ = now + kMoreTimeStepMs;
    }
    if (is_over(stop_deadline_)) {
        stop_deadline_.reset();
        killed_ = running_tasks_ > 0 || is_saving();
        kill_all();
    }
    // The tasks are gone, yet below them someone still saves: the whole grace is theirs.
    if (is_over(leftover_deadline_) && stop_deadline_ && is_saving())
        leftover_deadline_ = now + kLeftoverGraceMs;
    if (is_over(gang_deadline_) || is_over(leftover_deadline_)) {
        gang_deadline_.reset();
        leftover_deadline_.reset();
        kill_all();
    }
    if (is_over(kill_again_)) kill_all();
    if (is_over(write_again_)) write_status_more();
}

}  // namespace berth::supervisor
