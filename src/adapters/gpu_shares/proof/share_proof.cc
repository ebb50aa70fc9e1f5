// SPDX-License-Identifier: Apache-2.0
#include "adapters/gpu_shares/proof/share_proof.h"

#include <sys/stat.h>

#include <filesystem>

#include "adapters/gpu_shares/programs/child.h"

namespace berth::gpu_shares {
namespace {

constexpr int kPatienceMs = 30'000;  // a driver of many GPUs takes seconds to start
constexpr base::MilliGpu kHalf{500};
constexpr int kLooksAtTheEnd = 50;
const ports::AttemptId kTrial{base::JobId{0}, 1};

ports::LaunchOrder trial_order(const ProofSettings& settings, const Gpu& gpu) {
    ports::LaunchOrder order;
    order.attempt = kTrial;
    ports::TaskLaunch task;
    task.node = gpu.node;
    task.gpu_indices = {gpu.index};
    task.share = kHalf;
    task.environment = settings.environment;
    order.tasks.push_back(std::move(task));
    name_devices(order, {gpu});
    return order;
}

base::Status ask_probe(const ProofSettings& settings, const Gpu& gpu, ports::LaunchOrder order) {
    const ports::TaskLaunch& task = order.tasks.front();
    const std::int64_t share = gpu.memory.value > 0 ? gpu.memory.value / 2 : INT64_MAX;
    ChildOrder probe{order.spec.command, task.environment, true};
    probe.words.insert(probe.words.end(), {settings.folders.programs + "/berth-gpu-probe", "share",
                                           std::to_string(share), gpu.uuid});
    for (std::string& file : files_of(settings.folders, settings.in_front))
        probe.words.push_back(std::move(file));
    probe.environment.push_back("CUDA_DEVICE_ORDER=PCI_BUS_ID");
    probe.environment.push_back("CUDA_VISIBLE_DEVICES=" + (task.visible_devices.empty()
                                                               ? std::to_string(gpu.index)
                                                               : task.visible_devices));
    BERTH_TRY(child, Child::start(probe));
    const auto answer = child.answer(kPatienceMs);
    child.kill();
    if (!answer) return tl::unexpected(answer.error());
    return {};
}

base::Status prove(const ProofSettings& settings, const Gpu& gpu) {
    InterposedShares shares(settings.folders, settings.directory, settings.in_front);
    ports::LaunchOrder order = trial_order(settings, gpu);
    BERTH_TRY(tenants, tenants_of(order, {gpu}));
    BERTH_TRY_VOID(shares.add(tenants.front(), order));
    const base::Status proved = ask_probe(settings, gpu, std::move(order));
    shares.drop(name_of(kTrial));
    for (int looks = 0; looks < kLooksAtTheEnd && !shares.end_if_idle(); ++looks) {
    }
    return proved;
}

}  // namespace

std::string proof_subject(const ProofSettings& settings) {
    std::string subject;
    std::vector<std::string> files = files_of(settings.folders, settings.in_front);
    files.push_back(settings.folders.programs + "/berth-arbiter");
    for (const std::string& file : files) {
        struct stat about{};
        if (::stat(file.c_str(), &about) != 0) about = {};
        subject += file;
        for (const std::int64_t number :
             {static_cast<std::int64_t>(about.st_ino), static_cast<std::int64_t>(about.st_mode),
              static_cast<std::int64_t>(about.st_size), about.st_mtim.tv_sec,
              about.st_mtim.tv_nsec}) {
            subject += ' ' + std::to_string(number);
        }
        subject += '\n';
    }
    return subject;
}

std::string why_shares_are_not_kept(const ProofSettings& settings, const Gpu& gpu) {
    const base::Status proved = prove(settings, gpu);
    std::error_code ignored;
    std::filesystem::remove_all(settings.directory, ignored);
    if (proved) return {};
    return proved.error().message +
           "; repair that (./dev build, or install Berth again) and start the server again";
}

}  // namespace berth::gpu_shares
