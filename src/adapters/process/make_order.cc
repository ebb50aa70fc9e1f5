// SPDX-License-Identifier: Apache-2.0
#include "adapters/process/make_order.h"

#include <algorithm>

#include "adapters/process/attempt_files.h"

namespace berth::process {
namespace {

using supervision::Order;
using supervision::TaskOrder;

std::vector<TaskOrder> make_tasks(const std::vector<ports::TaskLaunch>& launches,
                                  const std::string& gpu_counters) {
    std::vector<std::string> nodes;  // in order of appearance, which is the order of ranks
    std::vector<TaskOrder> tasks;
    for (const ports::TaskLaunch& launch : launches) {
        const auto node = std::find(nodes.begin(), nodes.end(), launch.node);
        TaskOrder task;
        task.rank = launch.rank;
        task.local_rank = launch.local_rank;
        task.group = launch.group;
        task.control_group = launch.control_group;
        task.environment = launch.environment;
        task.node_rank = static_cast<int>(node - nodes.begin());
        task.local_tasks = static_cast<int>(
            std::count_if(launches.begin(), launches.end(),
                          [&](const auto& other) { return other.node == launch.node; }));
        for (const int index : launch.gpu_indices) {
            task.gpu_indices += (task.gpu_indices.empty() ? "" : ",") + std::to_string(index);
        }
        task.visible_devices =
            launch.visible_devices.empty() ? task.gpu_indices : launch.visible_devices;
        if (!gpu_counters.empty() && !task.gpu_indices.empty()) {
            task.environment.push_back("BERTH_SIMULATED_GPUS=" + gpu_counters + '/' + launch.node);
        }
        if (node == nodes.end()) nodes.push_back(launch.node);
        tasks.push_back(std::move(task));
    }
    return tasks;
}

}  // namespace

Order make_order(const Machine& machine, const ports::LaunchOrder& launch) {
    Order order;
    order.cluster = machine.cluster;
    order.runtime = machine.runtime;
    order.job = launch.attempt.job.value;
    order.attempt = launch.attempt.attempt;
    order.job_name = launch.job_name;
    order.project = launch.project;
    order.resumes = launch.resumes;
    order.boot = machine.boot;
    order.file_prefix = attempt_prefix(machine.jobs_dir, launch.attempt);
    order.checkpoint_dir = launch.spec.checkpoint_dir;
    if (order.checkpoint_dir.empty())
        order.checkpoint_dir = checkpoint_directory(machine.jobs_dir, launch.attempt.job);
    order.saved_file = order.file_prefix + ".saved";
    order.log_limit = machine.log_limit;
    order.umask = machine.umask;
    order.workdir = launch.spec.workdir;
    order.freezer = launch.freezer;
    order.arbiter = launch.arbiter;
    order.pause_signal = launch.spec.pause.signal;
    order.grace_ms = launch.grace.count();
    order.terminal = launch.spec.terminal;
    order.attached = launch.spec.attached;
    order.command = launch.spec.command;
    order.environment = launch.spec.environment;
    order.tasks = make_tasks(launch.tasks, machine.gpu_counters);
    return order;
}

}  // namespace berth::process
