// SPDX-License-Identifier: Apache-2.0
#include "app/berth/server_parts.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "adapters/gpu_shares/gpu_shares.h"
#include "adapters/nvml/nvml_gpus.h"
#include "adapters/process/attempt_files.h"
#include "adapters/process/launcher.h"
#include "adapters/simulated_gpu/simulated_gpu.h"
#include "adapters/simulated_launcher/simulated_launcher.h"
#include "cli/terminal/text_file.h"
#include "runtime/folder.h"
#include "supervision/address.h"

namespace berth::app {
namespace {

constexpr std::string_view kSimulated = "sim:";
constexpr std::string_view kSimulatedLauncher = "simulated:";
constexpr std::string_view kWhenNoGpu = "sim:8x80G";

std::string host_name() {
    char name[256] = "localhost";
    ::gethostname(name, sizeof name - 1);
    return name;
}

// The only simulated node; the same on every machine, so that what is written about it is true.
constexpr const char* kSimulatedNode = "sim1";

base::Result<ChosenInventory> simulated(std::string_view spec, const std::string& note,
                                        const std::string& counters) {
    BERTH_TRY(gpus, simulated_gpu::SimulatedGpus::parse(spec, kSimulatedNode, counters));
    ChosenInventory chosen;
    chosen.inventory = std::make_unique<simulated_gpu::SimulatedGpus>(std::move(gpus));
    chosen.is_simulated = true;
    chosen.description = "simulated (" + std::string(spec) + ")" + note;
    return chosen;
}

// Empty where GPUs are real.
base::Result<std::string> make_gpu_counters(const ServerOptions& options, bool is_simulated) {
    if (!is_simulated) return std::string();
    BERTH_TRY(folder, runtime::Folder::make(gpu_counters_of(options), runtime::Openness::Private));
    return folder.path();
}

// The path of a program that people call by its name; empty when it is not there.
std::string in_path(const std::string& program) {
    const char* path = std::getenv("PATH");
    std::istringstream folders(path == nullptr ? "" : path);
    for (std::string folder; std::getline(folders, folder, ':');) {
        const std::string found = folder + "/" + program;
        if (::access(found.c_str(), X_OK) == 0) return found;
    }
    return {};
}

base::Result<gpu_shares::Settings> share_settings(const ServerOptions& options,
                                                  const std::string& cluster_id,
                                                  const std::string& runtime, bool is_simulated) {
    gpu_shares::Settings settings;
    settings.programs = std::filesystem::path(options.program).parent_path().string();
    settings.runtime = runtime;
    settings.directory = runtime + "/vgpu";
    settings.cluster = cluster_id;
    settings.cgroup = options.cgroup;
    settings.mps_control = in_path("nvidia-cuda-mps-control");
    settings.are_simulated = is_simulated;
    BERTH_TRY(wish, gpu_shares::parse_wish(options.sharing));
    settings.wish = wish;
    BERTH_TRY(in_front, gpu_shares::parse_in_front(options.in_front));
    settings.in_front = in_front;
    return settings;
}

base::Result<std::vector<gpu_shares::Gpu>> shared_gpus(ports::GpuInventory& inventory) {
    BERTH_TRY(nodes, inventory.discover());
    BERTH_TRY(readings, inventory.read());
    std::vector<gpu_shares::Gpu> gpus;
    for (const ports::GpuReading& reading : readings) {
        const auto node = std::ranges::find(nodes, reading.node, &model::Node::name);
        if (node == nodes.end()) continue;
        // Memory that the driver reserves belongs to no job.
        const base::Bytes memory{node->gpu_memory.value - node->gpu_reserved.value};
        gpus.push_back({reading.node, reading.index, reading.uuid, memory, node->gpu_context,
                        reading.visible_as, reading.pci_address, reading.takes_one_process});
    }
    return gpus;
}

}  // namespace

std::string gpu_counters_of(const ServerOptions& options) { return options.data_dir + "/run/gpus"; }

base::Result<ChosenInventory> choose_inventory(const std::string& gpus,
                                               const std::string& gpu_counters) {
    if (gpus.starts_with(kSimulated)) return simulated(gpus, "", gpu_counters);
    if (gpus != "auto") {
        return base::invalid("--gpus: wanted auto or sim:8x80G, found \"" + gpus + "\"");
    }
    auto real = std::make_unique<nvml::NvmlGpus>(host_name());
    const auto nodes = real->discover();
    const bool has_gpus =
        nodes && std::ranges::any_of(*nodes, [](const model::Node& node) { return node.gpus > 0; });
    if (!has_gpus) {
        const char* const note = nodes ? ", no GPU was found" : ", no NVIDIA driver was found";
        return simulated(kWhenNoGpu, note, gpu_counters);
    }
    ChosenInventory chosen;
    chosen.inventory = std::move(real);
    const std::string& model = nodes->front().gpu_model;
    chosen.description = model.empty() ? "of several models" : model;
    return chosen;
}

base::Result<ChosenLauncher> choose_launcher(boost::asio::io_context& loop,
                                             const ServerOptions& options,
                                             const std::string& cluster_id, bool is_simulated) {
    ChosenLauncher chosen;
    const std::string jobs_dir = options.data_dir + "/jobs";
    chosen.log_path = [jobs_dir](ports::AttemptId attempt, int task,
                                 std::span<const std::string> incarnations) {
        const std::string log = process::look_at(jobs_dir, attempt).status.log;
        const bool is_ours =
            log.empty() || std::ranges::find(incarnations, log) != incarnations.end();
        return is_ours ? process::log_path(jobs_dir, attempt, task) : "";
    };
    if (options.launcher.starts_with(kSimulatedLauncher)) {
        const std::string time = options.launcher.substr(kSimulatedLauncher.size());
        BERTH_TRY(run_time, base::parse_duration(time));
        chosen.launcher =
            std::make_unique<adapters::simulated_launcher::SimulatedLauncher>(loop, run_time);
        chosen.description = "simulated: no processes, every job succeeds after " + time;
        chosen.attach_address = [](ports::AttemptId) { return std::string(); };
        chosen.learn_gpus = [](ports::GpuInventory&) { return base::Status{}; };
        chosen.shares_kept_by = [](const std::string&) { return std::string(); };
        chosen.shares_lack = [](const std::string&) { return std::string(); };
        chosen.try_shares = [](bool) { return false; };
        chosen.checkpoint_lack = [] { return std::string(); };
        chosen.share_uses = [] { return std::vector<ports::ShareUse>(); };
        chosen.uncounted = [] { return std::vector<ports::UncountedProcess>(); };
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
    BERTH_TRY(runtime,
              runtime::Folder::make(options.data_dir + "/run", runtime::Openness::Private));
    BERTH_TRY(counters, make_gpu_counters(options, is_simulated));
    auto processes = std::make_unique<process::ProcessLauncher>(
        loop,
        process::ProcessLauncherOptions{options.data_dir, supervisor, cluster_id, runtime.path(),
                                        options.log_limit.value, options.jobs_umask, counters});
    BERTH_TRY(settings, share_settings(options, cluster_id, runtime.path(), is_simulated));
    auto shares =
        std::make_unique<gpu_shares::GpuShares>(loop, std::move(processes), std::move(settings));
    chosen.learn_gpus = [&shares = *shares](ports::GpuInventory& inventory) -> base::Status {
        BERTH_TRY(gpus, shared_gpus(inventory));
        return shares.set_gpus(std::move(gpus), inventory.driver());
    };
    chosen.shares_kept_by = [&shares = *shares](const std::string& node) {
        return shares.kept_by(node);
    };
    chosen.shares_lack = [&shares = *shares](const std::string& node) { return shares.lack(node); };
    chosen.try_shares = [&shares = *shares](bool anew) { return shares.try_shares_again(anew); };
    chosen.checkpoint_lack = [&shares = *shares] { return shares.checkpoint_lack(); };
    chosen.share_uses = [&shares = *shares] { return shares.uses(); };
    chosen.uncounted = [&shares = *shares] { return shares.uncounted(); };
    chosen.launcher = std::move(shares);
    chosen.description = "processes";
    chosen.attach_address = [folder = runtime.path()](ports::AttemptId attempt) {
        return folder + '/' + supervision::attempt_socket(attempt.job.value, attempt.attempt);
    };
    return chosen;
}

base::Result<model::Policy> choose_policy(const ServerOptions& options) {
    BERTH_TRY(policy, model::policy_named(options.profile));
    return model::changed_policy(policy, options.policy);
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
    BERTH_TRY_VOID(cli::write_text_file(path, id + "\n"));
    return id;
}

}  // namespace berth::app
