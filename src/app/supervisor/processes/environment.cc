// SPDX-License-Identifier: Apache-2.0
#include "app/supervisor/processes/environment.h"

#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <set>

#include "supervision/descriptor.h"

namespace berth::supervisor {
namespace {

using supervision::Order;
using supervision::TaskOrder;

// Where the task stands among those that run, which may be fewer than there are ranks.
std::int64_t place_in_gang(const Order& order, const TaskOrder& task) {
    return std::ranges::count_if(order.tasks,
                                 [&](const auto& other) { return other.rank < task.rank; });
}

void add_group(const Order& order, const TaskOrder& task, std::vector<std::string>& values) {
    if (task.group.empty()) return;
    std::int64_t rank = 0;
    std::int64_t size = 0;
    for (const TaskOrder& other : order.tasks) {
        if (other.group != task.group) continue;
        ++size;
        if (other.rank < task.rank) ++rank;
    }
    values.push_back("BERTH_GROUP=" + task.group);
    values.push_back("BERTH_GROUP_RANK=" + std::to_string(rank));
    values.push_back("BERTH_GROUP_SIZE=" + std::to_string(size));
}

std::vector<std::string> decided(const Order& order, const TaskOrder& task, int port) {
    const std::string attempt = std::to_string(order.attempt);
    const std::string node_rank = std::to_string(task.node_rank);
    std::vector<std::string> values = {
        // Without this CUDA numbers the fastest GPU 0, and the indices would mean other GPUs.
        "CUDA_DEVICE_ORDER=PCI_BUS_ID",
        "CUDA_VISIBLE_DEVICES=" + task.visible_devices,
        "RANK=" + std::to_string(place_in_gang(order, task)),
        "WORLD_SIZE=" + std::to_string(order.tasks.size()),
        "LOCAL_RANK=" + std::to_string(task.local_rank),
        "LOCAL_WORLD_SIZE=" + std::to_string(task.local_tasks),
        "GROUP_RANK=" + node_rank,
        "NODE_RANK=" + node_rank,
        "MASTER_ADDR=127.0.0.1",
        "MASTER_PORT=" + std::to_string(port),
        "TORCHELASTIC_RESTART_COUNT=" + std::to_string(order.attempt - 1),
        "BERTH_CLUSTER=" + order.cluster,
        "BERTH_JOB_ID=" + std::to_string(order.job),
        "BERTH_JOB_NAME=" + order.job_name,
        "BERTH_PROJECT=" + order.project,
        "BERTH_ATTEMPT=" + attempt,
        "BERTH_CHECKPOINT_DIR=" + order.checkpoint_dir,
        "BERTH_SAVED_FILE=" + order.saved_file,
    };
    add_group(order, task, values);
    values.insert(values.end(), task.environment.begin(), task.environment.end());
    if (order.resumes) values.push_back("BERTH_RESUME=1");
    return values;
}

std::string_view name_of(std::string_view assignment) {
    return assignment.substr(0, assignment.find('='));
}

bool is_free(int port) {
    const supervision::Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (!socket.is_open()) return true;
    const int on = 1;
    ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    return ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
}

}  // namespace

std::vector<std::string> task_environment(const Order& order, const TaskOrder& task, int port) {
    std::vector<std::string> result = decided(order, task, port);
    std::set<std::string, std::less<>> ours;
    for (const std::string& assignment : result) ours.emplace(name_of(assignment));
    ours.emplace("BERTH_RESUME");
    result.reserve(result.size() + order.environment.size());
    for (const std::string& assignment : order.environment) {
        if (!ours.contains(name_of(assignment))) result.push_back(assignment);
    }
    return result;
}

int choose_port(const Order& order) {
    constexpr std::int64_t kFirst = 20'000;
    constexpr std::int64_t kCount = 12'000;
    constexpr int kTries = 100;
    int port = 0;
    for (int step = 0; step < kTries; ++step) {
        port = static_cast<int>(kFirst + (order.job * 7 + order.attempt + step * 101) % kCount);
        if (is_free(port)) break;
    }
    return port;
}

std::string_view value_of(const std::vector<std::string>& environment, std::string_view name) {
    for (const std::string_view assignment : environment) {
        if (name_of(assignment) == name && name.size() < assignment.size())
            return assignment.substr(name.size() + 1);
    }
    return {};
}

}  // namespace berth::supervisor
