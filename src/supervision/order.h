// SPDX-License-Identifier: Apache-2.0
//
// What is a supervisor to run? One attempt of one job: the whole gang, complete before the
// supervisor starts, so that nothing more is needed from a server that may die at any moment.
// It arrives as an anonymous file, passed (passing.h) over the socket kSpawnerDescriptor to the
// spawner process, which forks a supervisor for it, together with two more: the locked status file
// and a socket to the server.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace berth::supervision {

inline constexpr int kSpawnerDescriptor = 3;
// The order of the files in a message to the spawner.
enum PassedFile { kPassedStatus, kPassedChannel, kPassedOrder, kPassedCount };

struct TaskOrder {
    int rank = 0;
    int local_rank = 0;
    int local_tasks = 1;               // of this job on the same node
    int node_rank = 0;
    std::string gpu_indices;           // "0,3", of its node; empty = no GPU
    std::string visible_devices = {};  // as programs see them, or UUIDs
    std::string group = {};            // of the gang; empty = it has none
    std::string control_group = {};    // folder of the one it joins; empty = none
    std::vector<std::string> environment = {};  // for this task, before the job's own

    bool operator==(const TaskOrder&) const = default;
};

struct Order {
    std::string cluster;
    std::string runtime;               // folder where it listens (runtime/folder.h)
    std::int64_t job = 0;
    int attempt = 1;
    std::string job_name;
    std::string project;
    bool resumes = false;
    std::string boot;                  // of the machine: /proc/sys/kernel/random/boot_id
    std::string file_prefix;           // of the attempt's logs; the directory exists
    std::string checkpoint_dir;        // made by the supervisor
    std::string saved_file;            // touched by the job when its work is saved
    std::int64_t log_limit = 0;        // bytes on disk for each task's log; 0 = none
    std::int64_t umask = 022;  // of its processes; the supervisor's own files are private
    std::string workdir;
    std::string freezer;  // path of its node's (freezing.h); empty = not used
    std::string arbiter;  // socket of its tenant (vgpu/ledger/stay.h); empty = none
    std::string pause_signal;  // auto | TERM | INT | USR1 | USR2 | none
    std::int64_t grace_ms = 60'000;  // when the machine itself asks to stop
    bool terminal = false;
    bool attached = false;
    std::vector<std::string> command;
    std::vector<std::string> environment;
    std::vector<TaskOrder> tasks;

    bool operator==(const Order&) const = default;
};

// Where a task's output goes.
std::string log_path(const std::string& file_prefix, int task);

std::string pack(const Order& order);
// None when the bytes are damaged or were written by another version.
std::optional<Order> unpack_order(std::string_view bytes);

}  // namespace berth::supervision
