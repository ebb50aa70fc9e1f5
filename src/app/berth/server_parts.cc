// SPDX-License-Identifier: Apache-2.0
#include "app/berth/server_parts.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "adapters/process/attempt_files.h"
#include "adapters/process/launcher.h"
#include "adapters/simulated_launcher/simulated_launcher.h"
#include "app/berth/stand_ins.h"

namespace berth::app {
namespace {

constexpr std::string_view kSimulated = "sim:";
constexpr std::string_view kSimulatedLauncher = "simulated:";
constexpr const char* kWhenNoGpu = "sim:8x80G";

}  // namespace

base::Result<ChosenInventory> choose_inventory(const std::string& gpus) {
    const std::string wanted = gpus == "auto" ? kWhenNoGpu : gpus;
    if (!wanted.starts_with(kSimulated)) {
        return base::invalid("--gpus: wanted auto or sim:8x80G, found \"" + gpus + "\"");
    }
    ChosenInventory chosen;
    chosen.inventory = std::make_unique<PlainInventory>(wanted.substr(kSimulated.size()));
    chosen.description = "simulated (" + wanted + ")";
    return chosen;
}

base::Result<ChosenLauncher> choose_launcher(boost::asio::io_context& loop,
                                             const ServerOptions& options,
                                             const std::string& cluster_id) {
    ChosenLauncher chosen;
    const std::string jobs_dir = options.data_dir + "/jobs";
    chosen.log_path = [jobs_dir](ports::AttemptId attempt, int task) {
        return process::attempt_directory(jobs_dir, attempt) + "/task-" + std::to_string(task) +
               ".log";
    };
    if (options.launcher.starts_with(kSimulatedLauncher)) {
        const std::string time = options.launcher.substr(kSimulatedLauncher.size());
        BERTH_TRY(run_time, base::parse_duration(time));
        chosen.launcher =
            std::make_unique<adapters::simulated_launcher::SimulatedLauncher>(loop, run_time);
        chosen.description = "simulated: no processes, every job succeeds after " + time;
        chosen.attach_address = [](ports::AttemptId) { return std::string(); };
        return chosen;
    }
    if (options.launcher != "process") {
        return base::invalid("--launcher: wanted process or simulated:100ms, found \"" +
                             options.launcher + "\"");
    }
    const std::string supervisor =
        (std::filesystem::path(options.program).parent_path() / "berth-supervisor").string();
    if (::access(supervisor.c_str(), X_OK) != 0) {
        return base::fail(base::ErrorCode::Unavailable,
                          "\"" + supervisor + "\" is not there; it belongs beside berth");
    }
    chosen.launcher = std::make_unique<process::ProcessLauncher>(
        loop, process::ProcessLauncherOptions{options.data_dir, supervisor, cluster_id});
    chosen.description = "processes";
    chosen.attach_address = [cluster_id](ports::AttemptId attempt) {
        return "@berth-" + cluster_id + "-" + std::to_string(attempt.job.value) + "-" +
               std::to_string(attempt.attempt);
    };
    return chosen;
}

base::Result<model::Policy> choose_policy(const ServerOptions& options) {
    BERTH_TRY(policy, model::policy_named(options.profile));
    if (options.min_run) policy.min_run = *options.min_run;
    if (options.grace) policy.pause_grace = *options.grace;
    return policy;
}

base::Result<std::string> obtain_cluster_id(const std::string& data_dir) {
    const std::string path = data_dir + "/cluster";
    std::string id;
    std::ifstream(path) >> id;
    if (!id.empty()) return id;
    constexpr std::size_t kDigits = 12;
    std::ifstream("/proc/sys/kernel/random/uuid") >> id;
    std::erase(id, '-');
    id.resize(std::min(id.size(), kDigits));
    std::ofstream file(path);
    file << id << '\n';
    file.close();
    if (file && !id.empty()) return id;
    return base::fail(base::ErrorCode::Unavailable, "cannot write \"" + path + "\"");
}

}  // namespace berth::app
