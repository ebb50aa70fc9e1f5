// SPDX-License-Identifier: Apache-2.0
#include "adapters/gpu_shares/keepers/interposed_shares.h"

#include <utility>

namespace berth::gpu_shares {
namespace {

std::vector<std::string> arbiter_options(bool are_simulated) {
    // Software GPUs free the memory of the dead at once.
    if (are_simulated) return {"--free-after", "0ms"};
    return {"--nvml", "libnvidia-ml.so.1"};
}

}  // namespace

base::Result<InFront> parse_in_front(const std::string& text) {
    if (text == "preload") return InFront::Preload;
    if (text == "audit") return InFront::Audit;
    if (text == "mount") return InFront::Mount;
    return base::invalid("--in-front: wanted preload, audit or mount, found \"" + text + "\"");
}

std::vector<std::string> files_of(const ShareFolders& folders, InFront in_front) {
    std::vector<std::string> files{folders.libraries + "/libberth-cuda.so",
                                   folders.libraries + "/libberth-nvml.so"};
    if (in_front == InFront::Preload)
        files.push_back(folders.libraries + "/libberth-cuda-alias.so");
    if (in_front == InFront::Audit) files.push_back(folders.libraries + "/libberth-audit.so");
    if (folders.software.empty()) return files;
    files.push_back(folders.software + "/libcuda.so.1");
    files.push_back(folders.software + "/libnvidia-ml.so.1");
    return files;
}

InterposedShares::InterposedShares(ShareFolders folders, std::string directory, InFront in_front)
    : folders_(std::move(folders)),
      directory_(std::move(directory)),
      in_front_(in_front),
      arbiter_(folders_.programs + "/berth-arbiter", directory_,
               arbiter_options(!folders_.software.empty())) {}

base::Status InterposedShares::add(const Tenant& tenant, ports::LaunchOrder& order) {
    BERTH_TRY_VOID(arbiter_.add(tenant));
    // A job of several tasks never lends its GPUs, so it needs no orders.
    if (order.tasks.size() == 1) order.arbiter = arbiter_.socket_of(tenant);
    for_each_task(tenant, order, [&](ports::TaskLaunch& task) {
        task.environment.push_back("BERTH_VGPU_SOCKET=" + arbiter_.socket_of(tenant));
        task.environment.push_back("BERTH_VGPU_GPUS=" + tenant.gpus);
        if (order.park_after) task.environment.push_back("BERTH_VGPU_PARKS=1");
        put_in_front(order, task);
    });
    if (in_front_ == InFront::Mount) put_command_under_mount(order);
    return {};
}

void InterposedShares::put_in_front(ports::LaunchOrder& order, ports::TaskLaunch& task) const {
    if (in_front_ == InFront::Mount) return;
    if (in_front_ == InFront::Audit) {
        put_first(order, task, "LD_AUDIT", folders_.libraries + "/libberth-audit.so");
    } else {
        put_first(order, task, "LD_PRELOAD",
                  folders_.libraries + "/libberth-cuda.so:" + folders_.libraries +
                      "/libberth-cuda-alias.so:" + folders_.libraries + "/libberth-nvml.so");
    }
    if (folders_.software.empty()) return;
    task.environment.push_back("BERTH_VGPU_DRIVER=" + folders_.software + "/libcuda.so.1");
    task.environment.push_back("BERTH_VGPU_NVML=" + folders_.software + "/libnvidia-ml.so.1");
}

// Once for all tasks of the attempt: they run one command.
void InterposedShares::put_command_under_mount(ports::LaunchOrder& order) const {
    const std::string program = folders_.programs + "/berth-driver-mount";
    std::vector<std::string>& command = order.spec.command;
    if (!command.empty() && command.front() == program) return;
    std::vector<std::string> words{program, "--keep", directory_ + "/driver"};
    if (!folders_.software.empty()) {
        words.insert(words.end(), {"--cuda", folders_.software + "/libcuda.so.1", "--nvml",
                                   folders_.software + "/libnvidia-ml.so.1"});
    }
    words.push_back("--");
    command.insert(command.begin(), words.begin(), words.end());
}

}  // namespace berth::gpu_shares
