// SPDX-License-Identifier: Apache-2.0
#include "adapters/gpu_shares/gpu_shares.h"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <filesystem>

#include "adapters/gpu_shares/keepers/driver_limits.h"
#include "adapters/gpu_shares/programs/loadable.h"
#include "adapters/gpu_shares/proof/context_size.h"
#include "adapters/gpu_shares/proof/share_proof.h"
#include "adapters/gpu_shares/terms/software_gpus.h"
#include "vgpu/arbiter/precedence.h"

namespace berth::gpu_shares {
namespace {

using ports::AttemptId;

bool borrows(const ports::LaunchOrder& order) {
    return std::ranges::any_of(order.tasks, [](const ports::TaskLaunch& task) {
        return task.gpu_memory_max > base::Bytes{0};
    });
}
constexpr std::chrono::seconds kLookAtSharing{1};
constexpr std::int64_t kIterationsToTell = 30;

bool asks_for_share(const ports::LaunchOrder& order) {
    return order.may_share || std::ranges::any_of(order.tasks, [](const ports::TaskLaunch& task) {
               return !task.gpu_indices.empty() && task.share < base::kWholeGpu;
           });
}

std::string beside(const std::string& programs, const char* folder) {
    return (std::filesystem::path(programs).parent_path() / folder).string();
}

std::vector<ports::ShareUse> named(const std::vector<TenantUse>& tenants,
                                   const std::set<AttemptId>& live, const std::vector<Gpu>& gpus) {
    std::vector<ports::ShareUse> uses;
    std::map<std::string, base::JobId> jobs;
    for (const AttemptId attempt : live) jobs[name_of(attempt)] = attempt.job;
    for (const TenantUse& use : tenants) {
        const auto job = jobs.find(use.tenant.substr(0, use.tenant.rfind('.')));
        const auto gpu = std::ranges::find(gpus, use.gpu, &Gpu::uuid);
        if (job == jobs.end() || gpu == gpus.end()) continue;
        uses.push_back({job->second, gpu->node, gpu->index, use.memory, use.memory_limit,
                        use.compute, use.cap});
    }
    return uses;
}

// A job that was given no GPU has none to use. One that is kept off its GPUs is on none.
struct Given {
    std::set<std::string> nodes;
    std::set<std::string> gpus;  // by UUID
};
Given given_to(std::span<const ports::TaskLaunch> tasks, const std::vector<Gpu>& gpus) {
    Given given;
    for (const Gpu& gpu : gpus) {
        if (std::ranges::find(tasks, gpu.node, &ports::TaskLaunch::node) == tasks.end()) continue;
        given.nodes.insert(gpu.node);
        const auto has_it = [&](const ports::TaskLaunch& one) {
            return one.node == gpu.node && std::ranges::count(one.gpu_indices, gpu.index) > 0;
        };
        if (std::ranges::any_of(tasks, has_it)) given.gpus.insert(gpu.uuid);
    }
    return given;
}

}  // namespace

GpuShares::GpuShares(boost::asio::io_context& loop, std::unique_ptr<ports::Launcher> processes,
                     Settings settings)
    : loop_(loop),
      processes_(std::move(processes)),
      settings_(std::move(settings)),
      freezers_(settings_.programs + "/berth-freezer", settings_.runtime),
      escapes_(loop, {[this](const std::string& node) { return probe_of(node); },
                      [this] { return keeper_->members(); },
                      [this](AttemptId attempt) { return processes_->process_above(attempt); },
                      [this](const std::string& tenant, const auto& held) {
                          keeper_->charge(tenant, held);
                      },
                      [this](AttemptId attempt, const std::string& detail) {
                          if (listener_ != nullptr) listener_->on_escaped(attempt, detail);
                      }}),
      timer_(loop) {
    name_folders();
}

void GpuShares::name_folders() {
    folders_.programs = settings_.programs;
    const auto name = [&](const char* folder) {
        const std::string path = beside(settings_.programs, folder);
        const auto loaded = loadable(path, settings_.runtime + '/' + folder);
        if (!loaded) loader_lack_ = loaded.error().message;
        return loaded.value_or(path);
    };
    folders_.libraries = name("lib");
    if (settings_.are_simulated) folders_.software = name("software_gpu");
}

base::Status GpuShares::set_gpus(std::vector<Gpu> gpus, const std::string& driver) {
    gpus_ = std::move(gpus);
    if (settings_.are_simulated) identify_software_gpus(gpus_);
    auto interposed =
        std::make_unique<InterposedShares>(folders_, settings_.directory, settings_.in_front);
    MemoryGroups groups(settings_.cgroup, settings_.cluster);
    Machine machine{settings_.are_simulated, driver, {}, settings_.mps_control};
    machine.precedence_lacks = vgpu::arbiter::precedence_lack();
    machine.has_limited = !groups.tenants().empty();
    machine.has_interposed = interposed->has_tenants();
    if (choose_back_end(machine, settings_.wish).value_or(Choice{}).back_end ==
        BackEnd::DriverLimits)
        machine.groups_lack = groups.problem(gpus_);
    BERTH_TRY(choice, choose_back_end(machine, settings_.wish));
    choice_ = std::move(choice);
    if (choice_.back_end == BackEnd::Interposer) {
        keeper_ = std::move(interposed);
        measure_contexts(gpus_,
                         [&](const Gpu& gpu) { return context_of(gpu, probe_of(gpu.node)); });
        try_shares();
    } else {
        auto limits = std::make_unique<DriverLimits>(
            std::move(groups), MpsDaemon(settings_.mps_control, settings_.directory + "/mps"));
        if (const base::Status begun = limits->begin(); !begun) lack_ = begun.error().message;
        keeper_ = std::move(limits);
    }
    if (!gpus_.empty()) checkpoint_lack_ = ability(gpus_.front().node).why_not;
    note_what_is_kept();
    escapes_.set_gpus(gpus_);
    keeper_->drop_all_but(live_);
    for (const ports::BegunAttempt& attempt : std::exchange(taken_up_, {})) {
        if (!live_.contains(attempt.id)) continue;
        watch(attempt.id, attempt.tasks);
        // A server before this one may have ended before it passed on what the log says.
        resize(attempt);
    }
    look_at_sharing();  // of a server before this one
    for (const Stop& early : std::exchange(early_stops_, {}))
        stop(early.attempt, early.reason, early.grace);
    return {};
}

void GpuShares::note_what_is_kept() {
    std::map<std::string, std::vector<Gpu>> nodes;
    for (const Gpu& gpu : gpus_) nodes[gpu.node].push_back(gpu);
    for (const auto& [node, its_gpus] : nodes) kept_[node] = kept_on(its_gpus);
}

// All nodes of this machine have the same libraries; one GPU that can be shared stands for all.
bool GpuShares::try_shares() {
    const auto can_be_tried = [&](const Gpu& gpu) {
        return !gpu.takes_one_process && !description_lacks(gpu.node);
    };
    const auto gpu = std::ranges::find_if(gpus_, can_be_tried);
    if (gpu == gpus_.end()) return false;
    if (!loader_lack_.empty()) return std::exchange(lack_, loader_lack_) != loader_lack_;
    const ProofSettings proof{folders_, settings_.directory + "-proof", settings_.in_front,
                              software_environment(gpu->node)};
    std::string subject = proof_subject(proof);
    if (subject == tried_) return false;
    tried_ = std::move(subject);
    lack_ = why_shares_are_not_kept(proof, *gpu);
    return true;
}

void GpuShares::try_changed_shares() {
    if (choice_.back_end != BackEnd::Interposer || !try_shares()) return;
    note_what_is_kept();
    has_news_ = true;
}

bool GpuShares::try_shares_again(bool anew) {
    if (anew && !lack_.empty()) tried_.clear();
    try_changed_shares();
    return std::exchange(has_news_, false);
}

GpuShares::Kept GpuShares::kept_on(std::span<const Gpu> gpus) const {
    if (gpus.front().visible_as.starts_with("MIG-") && lack_.empty())
        return {"hardware: slices of GPUs (MIG)", ""};
    if (std::ranges::all_of(gpus, &Gpu::takes_one_process))
        return {"",
                "its GPUs take one process at a time (their compute mode); `nvidia-smi -c DEFAULT` "
                "lets jobs share them"};
    if (!lack_.empty()) return {"", lack_};
    const bool is_interposer = choice_.back_end == BackEnd::Interposer;
    return {(is_interposer ? "interposer: " : "driver: ") + choice_.reason, ""};
}

std::string GpuShares::kept_by(const std::string& node) const {
    const auto found = kept_.find(node);
    if (found == kept_.end()) return {};
    return found->second.by.empty() ? "nothing: " + found->second.lack : found->second.by;
}

std::string GpuShares::lack(const std::string& node) const {
    const auto found = kept_.find(node);
    return found == kept_.end() ? "" : found->second.lack;
}

std::vector<ports::ShareUse> GpuShares::uses() const {
    return named(keeper_->uses(), live_, gpus_);
}

GpuShares::~GpuShares() {
    *alive_ = false;
    if (keeper_ != nullptr && !keeper_->end_if_idle()) return;
    if (!live_.empty()) return;
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
    // Where it cannot share it is not measured, and so never packed.
    prepared.may_share &=
        keeper_->has_turns() && std::ranges::none_of(gpus_, &Gpu::takes_one_process);
    name_devices(prepared, gpus_);
    if (settings_.are_simulated) add_software_gpus(prepared);
    choose_pause_way(prepared);
    watch(prepared.attempt, prepared.tasks);
    if (has_tenants(prepared)) try_changed_shares();
    // To measure whole GPUs or to see calls to them is no reason not to run.
    const bool is_kept = lack_.empty() || asks_for_share(prepared);
    if (has_tenants(prepared) && is_kept) {
        if (const base::Status added = add_shares(prepared); !added) {
            if (added.error().code == base::ErrorCode::Exhausted)
                return wait_for_room(order.attempt, added.error().message);
            const std::string why = "its share of a GPU cannot be kept: " + added.error().message;
            boost::asio::post(loop_, [this, alive = alive_, attempt = order.attempt, why] {
                if (*alive) on_exit(attempt, {126, 0, false, false, why});
            });
            return;
        }
    }
    if (prepared.may_share && !order.profile) unmeasured_.insert(order.attempt);
    if (keeper_->has_tenants() && !is_looking_) look_at_sharing();
    processes_->start(prepared);
}

// It is ordered again when the server hears that nothing was started.
void GpuShares::wait_for_room(AttemptId attempt, const std::string& lack) {
    constexpr std::chrono::seconds kPause{1};
    lacks_[attempt] = lack;
    const auto timer = std::make_shared<boost::asio::steady_timer>(loop_, kPause);
    timer->async_wait([this, alive = alive_, timer, attempt](const boost::system::error_code&) {
        if (!*alive) return;
        lacks_.erase(attempt);
        on_lost(attempt, std::string(ports::kNeverStarted));
    });
}

std::string GpuShares::waits_for(AttemptId attempt) const {
    const auto found = lacks_.find(attempt);
    return found == lacks_.end() ? processes_->waits_for(attempt) : found->second;
}

// Attempts are tenants by name: "7.2.0" is of attempt 2 of job 7.
void GpuShares::look_at_sharing() {
    const std::vector<RotationSight> rotations = keeper_->rotations();
    const std::set<std::string> nodes = keeper_->nodes_of_dependents();
    for (const std::string& node : nodes) start_freezer(node);
    is_looking_ = keeper_->has_tenants();
    if (!is_looking_) return;
    timer_.expires_after(kLookAtSharing);
    timer_.async_wait([this, alive = alive_](const boost::system::error_code& error) {
        if (!error && *alive) look_at_sharing();
    });
    std::map<std::string, AttemptId> known;
    for (const AttemptId attempt : live_) known[name_of(attempt) + ".0"] = attempt;
    for (const RotationSight& sight : rotations) {
        const auto attempt = known.find(sight.tenant);
        const bool is_new = attempt != known.end() && unmeasured_.contains(attempt->second);
        if (!is_new || sight.iterations < kIterationsToTell) continue;
        const auto taken = keeper_->taken(name_of(attempt->second));
        if (!taken || !taken->compute) continue;
        unmeasured_.erase(attempt->second);
        listener_->on_measured(attempt->second, *taken);
    }
    const base::TimePoint now{std::chrono::duration_cast<base::Duration>(
        std::chrono::steady_clock::now().time_since_epoch())};
    for (const auto& [one, other] : pairs_.look(rotations, now)) {
        if (!known.contains(one) || !known.contains(other)) continue;
        listener_->on_slow_pair(known.at(one), known.at(other));
    }
}

void GpuShares::add_software_gpus(ports::LaunchOrder& order) {
    for (ports::TaskLaunch& task : order.tasks) {
        if (task.gpu_indices.empty()) continue;
        if (description_lacks(task.node)) continue;
        const std::string& description = description_of(task.node);
        put_first(order, task, "LD_LIBRARY_PATH", folders_.software);
        task.environment.push_back("BERTH_SOFTWARE_GPU=" + description);
    }
}

const std::string& GpuShares::description_of(const std::string& node) {
    std::string& path = descriptions_[node];
    if (path.empty()) path = describe_software_gpus(settings_.directory, node, gpus_);
    return path;
}

bool GpuShares::description_lacks(const std::string& node) {
    return settings_.are_simulated && description_of(node).empty();
}

void GpuShares::choose_pause_way(ports::LaunchOrder& order) {
    // The node is asked only about who depends on it.
    model::PauseWay way = gpu_shares::pause_way(order, {"", "", "", true, 0});
    if (way.rung == model::PauseRung::Checkpoint) {
        const std::string& node = order.tasks.front().node;
        way = gpu_shares::pause_way(order, ability(node));
        if (way.rung == model::PauseRung::Checkpoint) order.freezer = freezers_.socket_of(node);
        // Who borrows may be ordered off its GPUs at any time, and not by us.
        if (way.rung == model::PauseRung::Checkpoint && borrows(order)) start_freezer(node);
    }
    if (!way.why_not_parked.empty()) order.park_after.reset();
    ways_[order.attempt] = {std::move(way), order.tasks.empty() ? "" : order.tasks.front().node};
}

NodeAbility GpuShares::ability(const std::string& node) {
    NodeAbility ability;
    if (description_lacks(node)) {
        ability.why_not = "the node has more GPUs than software GPUs can stand for";
    } else {
        // Simulated nodes are one machine: what the freezer of one of them says holds for all.
        const std::string& asked = settings_.are_simulated ? gpus_.front().node : node;
        ability = freezers_.ability(asked, freezer_manner(asked));
    }
    if (choice_.back_end == BackEnd::DriverLimits)
        ability.shares_why_not =
            "its share is kept by MPS, under which the driver checkpoints nothing";
    if (!keeper_->has_turns())
        ability.parks_why_not =
            "calls to GPUs are seen by the interposer, which keeps no shares here";
    if (!lack_.empty()) ability.parks_why_not = "calls to GPUs are not seen: " + lack_;
    ability.gpus = static_cast<int>(std::ranges::count(gpus_, node, &Gpu::node));
    return ability;
}

std::vector<std::string> GpuShares::software_environment(const std::string& node) {
    if (!settings_.are_simulated) return {};
    return {"LD_LIBRARY_PATH=" + folders_.software, "BERTH_SOFTWARE_GPU=" + description_of(node)};
}

Freezers::Manner GpuShares::freezer_manner(const std::string& node) {
    if (!settings_.are_simulated) return {};
    // What is in the memory of software GPUs takes no more of the host's.
    return {software_environment(node), {"--host-memory", "1000T"}};
}

// It may have died since it was asked.
void GpuShares::start_freezer(const std::string& node) {
    if (description_lacks(node)) return;
    freezers_.start(node, freezer_manner(node));
}

// Of its node. Where an earlier server started it on whole GPUs the node is not known.
bool GpuShares::start_freezer(AttemptId attempt) {
    const auto known = ways_.find(attempt);
    const std::string node =
        known != ways_.end() ? known->second.node : keeper_->node_of(name_of(attempt));
    if (!node.empty()) {
        return !description_lacks(node) &&
               freezers_.ability(node, freezer_manner(node)).why_not.empty();
    }
    std::set<std::string> nodes;
    for (const Gpu& gpu : gpus_) nodes.insert(gpu.node);
    for (const std::string& one : nodes) start_freezer(one);
    return !gpus_.empty() && ability(gpus_.front().node).why_not.empty();
}

ChildOrder GpuShares::probe_of(const std::string& node) {
    if (description_lacks(node)) return {};
    ChildOrder order{{settings_.programs + "/berth-gpu-probe", "users", "libnvidia-ml.so.1"},
                     software_environment(node)};
    for (const Gpu& gpu : gpus_)
        if (gpu.node == node && !gpu.uuid.empty()) order.words.push_back(gpu.uuid);
    return order;
}

void GpuShares::watch(AttemptId attempt, std::span<const ports::TaskLaunch> tasks) {
    auto [nodes, given] = given_to(tasks, gpus_);
    escapes_.watch(attempt, std::move(nodes), std::move(given));
}

base::Status GpuShares::add_shares(ports::LaunchOrder& order) {
    if (!lack_.empty()) return base::fail(base::ErrorCode::Unavailable, lack_);
    BERTH_TRY(tenants, tenants_of(order, gpus_));
    for (const Tenant& tenant : tenants) BERTH_TRY_VOID(keeper_->add(tenant, order));
    return {};
}

void GpuShares::stop(AttemptId attempt, ports::StopReason reason, base::Duration grace) {
    if (keeper_ == nullptr) return early_stops_.push_back({attempt, reason, grace});
    const auto known = ways_.find(attempt);
    const bool may_freeze =
        known == ways_.end() || known->second.way.rung == model::PauseRung::Checkpoint;
    // Without a freezer it is asked by signal at once: its processes look for none.
    const bool asks_freezer = reason == ports::StopReason::Pause && may_freeze;
    if (asks_freezer && !start_freezer(attempt)) reason = ports::StopReason::Restart;
    processes_->stop(attempt, reason, grace);
}

// Its share is where it goes now, before it is there. Without what keeps it, it stays frozen.
void GpuShares::resume(const ports::LaunchOrder& order) {
    start_freezer(order.tasks.front().node);
    if (has_tenants(order)) {
        ports::LaunchOrder moved = order;
        (void)add_shares(moved);
    }
    watch(order.attempt, order.tasks);
    processes_->resume(order);
}

void GpuShares::park(AttemptId attempt) {
    start_freezer(attempt);
    processes_->park(attempt);
}

void GpuShares::resize(const ports::BegunAttempt& attempt) {
    const auto terms = changed_terms(attempt.tasks, gpus_);
    if (terms) keeper_->change(name_of(attempt.id), *terms);
    processes_->resize(attempt);
}

base::Status GpuShares::narrow(const ports::BegunAttempt& attempt) {
    BERTH_TRY(terms, changed_terms(attempt.tasks, gpus_));
    return keeper_->narrow(name_of(attempt.id), terms);
}

model::PauseWay GpuShares::pause_way(AttemptId attempt) const {
    const auto known = ways_.find(attempt);
    return known == ways_.end() ? model::PauseWay{} : known->second.way;
}

void GpuShares::recover(std::span<const ports::BegunAttempt> attempts) {
    for (const ports::BegunAttempt& attempt : attempts) live_.insert(attempt.id);
    unmeasured_ = live_;
    taken_up_.assign(attempts.begin(), attempts.end());
    processes_->recover(attempts);
}

void GpuShares::on_running(AttemptId attempt) { listener_->on_running(attempt); }

void GpuShares::on_saved(AttemptId attempt) { listener_->on_saved(attempt); }

// Its profile comes before its end: afterwards it is not asked for.
void GpuShares::end(AttemptId attempt) {
    live_.erase(attempt);
    unmeasured_.erase(attempt);
    ways_.erase(attempt);
    escapes_.forget(attempt);
    if (const auto taken = keeper_->taken(name_of(attempt))) {
        listener_->on_measured(attempt, *taken);
    }
    keeper_->drop(name_of(attempt));
}

void GpuShares::on_frozen(AttemptId attempt, const model::Frozen& frozen) {
    listener_->on_frozen(attempt, frozen);
}

void GpuShares::on_idle(AttemptId attempt, base::Duration idle) {
    listener_->on_idle(attempt, idle);
}

void GpuShares::on_waking(AttemptId attempt) { listener_->on_waking(attempt); }

void GpuShares::on_exit(AttemptId attempt, const ports::AttemptExit& exit) {
    end(attempt);
    listener_->on_exit(attempt, exit);
}

void GpuShares::on_lost(AttemptId attempt, const std::string& detail) {
    end(attempt);
    listener_->on_lost(attempt, detail);
}

}  // namespace berth::gpu_shares
