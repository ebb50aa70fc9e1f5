// SPDX-License-Identifier: Apache-2.0
#include "adapters/process/spawn_supervisor.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include <algorithm>

#include "adapters/process/attempt_files.h"

namespace berth::process {
namespace {

using base::ErrorCode;
using supervision::Descriptor;
using supervision::Order;
using supervision::TaskOrder;

tl::unexpected<base::Error> system_failure(ErrorCode code, const std::string& what, int error) {
    return base::fail(code, what + ": " + ::strerror(error));
}

std::vector<TaskOrder> make_tasks(const std::vector<ports::TaskLaunch>& launches) {
    std::vector<std::string> nodes;  // in order of appearance, which is the order of ranks
    std::vector<TaskOrder> tasks;
    for (const ports::TaskLaunch& launch : launches) {
        const auto node = std::find(nodes.begin(), nodes.end(), launch.node);
        TaskOrder task;
        task.rank = launch.rank;
        task.local_rank = launch.local_rank;
        task.node_rank = static_cast<int>(node - nodes.begin());
        task.local_tasks = static_cast<int>(
            std::count_if(launches.begin(), launches.end(),
                          [&](const auto& other) { return other.node == launch.node; }));
        for (const int index : launch.gpu_indices)
            task.gpu_indices += (task.gpu_indices.empty() ? "" : ",") + std::to_string(index);
        if (node == nodes.end()) nodes.push_back(launch.node);
        tasks.push_back(std::move(task));
    }
    return tasks;
}

base::Result<Descriptor> write_order(const Order& order) {
    Descriptor file(::memfd_create("berth-order", MFD_CLOEXEC));
    if (!file.is_open()) return system_failure(ErrorCode::Exhausted, "memfd_create", errno);
    const std::string bytes = pack(order);
    if (::write(file.get(), bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size()))
        return system_failure(ErrorCode::Exhausted, "cannot hand over the order", errno);
    return file;
}

// Above the numbers that they get in the supervisor, so that no dup2 overwrites a later source.
int above_targets(Descriptor& fd) {
    if (fd.get() < supervision::kFirstFreeDescriptor)
        fd.reset(::fcntl(fd.get(), F_DUPFD_CLOEXEC, supervision::kFirstFreeDescriptor));
    return fd.get();
}

struct Inherited {
    int null = -1;
    int status = -1;
    int channel = -1;
    int order = -1;
};

int run_supervisor(const SupervisorPlace& place, const std::string& title,
                   const Inherited& files, pid_t& pid) {
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    for (int target = 0; target < 3; ++target)
        ::posix_spawn_file_actions_adddup2(&actions, files.null, target);
    ::posix_spawn_file_actions_adddup2(&actions, files.status, supervision::kStatusDescriptor);
    ::posix_spawn_file_actions_adddup2(&actions, files.channel, supervision::kChannelDescriptor);
    ::posix_spawn_file_actions_adddup2(&actions, files.order, supervision::kOrderDescriptor);
    // Libraries in the server may have opened files that would leak into every job.
    ::posix_spawn_file_actions_addclosefrom_np(&actions, supervision::kFirstFreeDescriptor);

    posix_spawnattr_t attributes;
    ::posix_spawnattr_init(&attributes);
    sigset_t none;
    sigset_t all;
    ::sigemptyset(&none);
    ::sigfillset(&all);
    ::posix_spawnattr_setsigmask(&attributes, &none);
    ::posix_spawnattr_setsigdefault(&attributes, &all);
    ::posix_spawnattr_setflags(
        &attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);

    std::string name = "berth-supervisor";
    std::string about = title;
    char* const arguments[] = {name.data(), about.data(), nullptr};
    char* const environment[] = {nullptr};
    const int error = ::posix_spawn(&pid, place.program.c_str(), &actions, &attributes, arguments,
                                    environment);
    ::posix_spawnattr_destroy(&attributes);
    ::posix_spawn_file_actions_destroy(&actions);
    return error;
}

}  // namespace

Order make_order(const SupervisorPlace& place, const ports::LaunchOrder& launch) {
    Order order;
    order.cluster = place.cluster;
    order.job = launch.attempt.job.value;
    order.attempt = launch.attempt.attempt;
    order.job_name = launch.job_name;
    order.project = launch.project;
    order.resumes = launch.resumes;
    order.boot = place.boot;
    order.directory = attempt_directory(place.jobs_dir, launch.attempt);
    order.checkpoint_dir = launch.spec.checkpoint_dir;
    if (order.checkpoint_dir.empty())
        order.checkpoint_dir = job_directory(place.jobs_dir, launch.attempt.job) + "/checkpoint";
    order.workdir = launch.spec.workdir;
    order.pause_signal = launch.spec.pause.signal;
    order.grace_ms = launch.spec.pause.grace.count();
    order.terminal = launch.spec.terminal;
    order.attached = launch.spec.attached;
    order.command = launch.spec.command;
    order.environment = launch.spec.environment;
    order.tasks = make_tasks(launch.tasks);
    return order;
}

base::Result<SpawnedSupervisor> spawn_supervisor(const SupervisorPlace& place,
                                                 const ports::LaunchOrder& launch,
                                                 int status_fd) {
    BERTH_TRY(order, write_order(make_order(place, launch)));
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) != 0)
        return system_failure(ErrorCode::Exhausted, "socketpair", errno);
    Descriptor channel(ends[0]);
    Descriptor theirs(ends[1]);
    Descriptor status(::fcntl(status_fd, F_DUPFD_CLOEXEC, supervision::kFirstFreeDescriptor));
    Descriptor null(::fcntl(place.null_fd, F_DUPFD_CLOEXEC, supervision::kFirstFreeDescriptor));
    const Inherited files{null.get(), status.get(), above_targets(theirs), above_targets(order)};
    const std::string title =
        "job " + std::to_string(launch.attempt.job.value) + '.' +
        std::to_string(launch.attempt.attempt) + ' ' + launch.job_name;
    SpawnedSupervisor spawned;
    const int error = run_supervisor(place, title, files, spawned.pid);
    if (error != 0)
        return system_failure(ErrorCode::Unavailable, "cannot run \"" + place.program + '"', error);
    spawned.channel = std::move(channel);
    return spawned;
}

}  // namespace berth::process
