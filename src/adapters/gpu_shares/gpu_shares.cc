// SPDX-License-Identifier: Apache-2.0
#include "adapters/gpu_shares/gpu_shares.h"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <filesystem>

#include "adapters/gpu_shares/software_gpus.h"

namespace berth::gpu_shares {
namespace {

using ports::AttemptId;

// What the job's own environment says there comes behind.
void put_first(const ports::LaunchOrder& order, ports::TaskLaunch& task, const std::string& name,
               std::string value) {
    for (const std::string& own : order.spec.environment) {
        if (own.starts_with(name + "=") && own.size() > name.size() + 1) {
            value += ":" + own.substr(name.size() + 1);
        }
    }
    task.environment.push_back(name + "=" + value);
}

std::vector<std::string> arbiter_options(const Settings& settings) {
    // Software GPUs free the memory of the dead at once.
    if (settings.are_simulated) return {"--free-after", "0ms"};
    return {"--nvml", "libnvidia-ml.so.1"};
}

std::string beside(const std::string& programs, const char* folder) {
    return (std::filesystem::path(programs).parent_path() / folder).string();
}

}  // namespace

GpuShares::GpuShares(boost::asio::io_context& loop, std::unique_ptr<ports::Launcher> processes,
                     Settings settings)
    : loop_(loop),
      processes_(std::move(processes)),
      settings_(std::move(settings)),
      library_dir_(beside(settings_.programs, "lib")),
      arbiter_(settings_.programs + "/berth-arbiter", settings_.directory,
               arbiter_options(settings_)),
      freezers_(settings_.programs + "/berth-freezer", settings_.cluster) {
    if (!settings_.are_simulated) return;
    software_dir_ = beside(settings_.programs, "software_gpu");
    identify_software_gpus(settings_.gpus);
}

GpuShares::~GpuShares() {
    *alive_ = false;
    if (!arbiter_.stop_if_idle() || !live_.empty()) return;
    if (settings_.are_simulated) remove_software_gpus(settings_.directory);
    std::error_code ignored;
    std::filesystem::remove_all(settings_.directory, ignored);
}

void GpuShares::set_listener(ports::LauncherListener* listener) {
    listener_ = listener;
    processes_->set_listener(this);
}

void GpuShares::start(const ports::LaunchOrder& order) {
    live_.insert(order.attempt);
    ports::LaunchOrder prepared = order;
    if (settings_.are_simulated) add_software_gpus(prepared);
    choose_pause_way(prepared);
    if (shares(order)) {
        if (const base::Status added = add_shares(prepared); !added) {
            const std::string why = "its share of a GPU cannot be kept: " + added.error().message;
            boost::asio::post(loop_, [this, alive = alive_, attempt = order.attempt, why] {
                if (*alive) on_exit(attempt, {126, 0, false, false, why});
            });
            return;
        }
    }
    processes_->start(prepared);
}

void GpuShares::add_software_gpus(ports::LaunchOrder& order) {
    for (ports::TaskLaunch& task : order.tasks) {
        if (task.gpu_indices.empty()) continue;
        const std::string& description = description_of(task.node);
        if (description.empty()) continue;
        put_first(order, task, "LD_LIBRARY_PATH", software_dir_);
        task.environment.push_back("BERTH_SOFTWARE_GPU=" + description);
    }
}

const std::string& GpuShares::description_of(const std::string& node) {
    const auto [known, is_new] = descriptions_.try_emplace(node);
    if (is_new) known->second = describe_software_gpus(settings_.directory, node, settings_.gpus);
    return known->second;
}

void GpuShares::choose_pause_way(ports::LaunchOrder& order) {
    // The node is asked only about who depends on it.
    model::PauseWay way = gpu_shares::pause_way(order, {"", true, 0});
    if (way.rung == model::PauseRung::Checkpoint) {
        const std::string& node = order.tasks.front().node;
        way = gpu_shares::pause_way(order, ability(node));
        if (way.rung == model::PauseRung::Checkpoint) order.freezer = freezers_.socket_of(node);
    }
    ways_[order.attempt] = std::move(way);
}

NodeAbility GpuShares::ability(const std::string& node) {
    NodeAbility ability{"", true, 0};
    if (!settings_.are_simulated) {
        ability = freezers_.ability(node, {}, {});
    } else if (description_of(node).empty()) {
        ability.why_not = "the node has more GPUs than software GPUs can stand for";
    }
    ability.gpus = static_cast<int>(std::ranges::count(settings_.gpus, node, &Gpu::node));
    return ability;
}

// Real GPUs are of one node and its freezer was asked already; it may have died since.
void GpuShares::start_freezers() {
    std::set<std::string> nodes;
    for (const Gpu& gpu : settings_.gpus) nodes.insert(gpu.node);
    for (const std::string& node : nodes) {
        if (!settings_.are_simulated) {
            freezers_.start(node, {}, {});
        } else if (const std::string& description = description_of(node); !description.empty()) {
            // What is in the memory of software GPUs takes no more of the host's.
            freezers_.start(
                node, {"LD_LIBRARY_PATH=" + software_dir_, "BERTH_SOFTWARE_GPU=" + description},
                {"--host-memory", "1000T"});
        }
    }
}

base::Status GpuShares::add_shares(ports::LaunchOrder& order) {
    BERTH_TRY(tenants, tenants_of(order, settings_.gpus));
    for (const Tenant& tenant : tenants) {
        BERTH_TRY_VOID(arbiter_.add(tenant));
        for (ports::TaskLaunch& task : order.tasks) {
            if (task.node != tenant.node || task.gpu_indices.empty()) continue;
            put_first(order, task, "LD_PRELOAD",
                      library_dir_ + "/libberth-cuda.so:" + library_dir_ +
                          "/libberth-cuda-alias.so:" + library_dir_ + "/libberth-nvml.so");
            task.environment.push_back("BERTH_VGPU_SOCKET=" + arbiter_.socket_of(tenant));
            if (software_dir_.empty()) continue;
            task.environment.push_back("BERTH_VGPU_DRIVER=" + software_dir_ + "/libcuda.so.1");
            task.environment.push_back("BERTH_VGPU_NVML=" + software_dir_ + "/libnvidia-ml.so.1");
        }
    }
    return {};
}

void GpuShares::stop(AttemptId attempt, ports::StopReason reason, base::Duration grace) {
    const auto way = ways_.find(attempt);
    const bool may_freeze = way == ways_.end() || way->second.rung == model::PauseRung::Checkpoint;
    if (reason == ports::StopReason::Pause && may_freeze) start_freezers();
    processes_->stop(attempt, reason, grace);
}

void GpuShares::resume(const ports::LaunchOrder& order) {
    start_freezers();
    processes_->resume(order);
}

model::PauseWay GpuShares::pause_way(AttemptId attempt) const {
    const auto way = ways_.find(attempt);
    return way == ways_.end() ? model::PauseWay{} : way->second;
}

void GpuShares::recover(std::span<const AttemptId> attempts) {
    live_.insert(attempts.begin(), attempts.end());
    processes_->recover(attempts);
}

void GpuShares::on_running(AttemptId attempt) { listener_->on_running(attempt); }

void GpuShares::on_saved(AttemptId attempt) { listener_->on_saved(attempt); }

void GpuShares::on_frozen(AttemptId attempt, const model::Frozen& frozen) {
    listener_->on_frozen(attempt, frozen);
}

void GpuShares::forget(AttemptId attempt) {
    live_.erase(attempt);
    ways_.erase(attempt);
    arbiter_.drop(name_of(attempt));
}

void GpuShares::on_exit(AttemptId attempt, const ports::AttemptExit& exit) {
    forget(attempt);
    listener_->on_exit(attempt, exit);
}

void GpuShares::on_lost(AttemptId attempt, const std::string& detail) {
    forget(attempt);
    listener_->on_lost(attempt, detail);
}

}  // namespace berth::gpu_shares
