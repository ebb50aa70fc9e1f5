// SPDX-License-Identifier: Apache-2.0
//
// Who holds a job to the part of a GPU that it was given? A launcher around the one that runs
// processes: an attempt that shares GPUs is a tenant of what keeps shares here (back_end.h) while
// it lives. Where GPUs are simulated, all processes find software GPUs (vgpu/software_driver) in
// place of a driver.
// Attempts that may share a GPU take turns in its rotation (rotations.h); what an unknown one takes
// is reported as soon as it is measured, and so are those that should not be on one GPU (pairs.h).
// It also decides how each attempt is paused (pause_way.h) and keeps the freezer that does it.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "adapters/gpu_shares/keepers/back_end.h"
#include "adapters/gpu_shares/keepers/interposed_shares.h"
#include "adapters/gpu_shares/keepers/share_keeper.h"
#include "adapters/gpu_shares/pausing/freezers.h"
#include "adapters/gpu_shares/proof/escapes.h"
#include "adapters/gpu_shares/terms/tenants.h"
#include "ports/launcher.h"
#include "ports/share_use.h"

namespace berth::gpu_shares {

struct Settings {
    std::string programs;  // the folder of berth-arbiter; ../lib and ../software_gpu lie beside it
    std::string runtime;  // path of the runtime folder, which is there (runtime/folder.h)
    std::string directory;  // in it: the arbiter's own
    std::string cluster;  // tells servers on one machine apart
    std::string cgroup;  // where they are made
    std::string mps_control;  // program; empty = it is not there
    Wish wish = Wish::Auto;
    InFront in_front = InFront::Preload;
    bool are_simulated = false;
};

class GpuShares final : public ports::Launcher, private ports::LauncherListener {
  public:
    GpuShares(boost::asio::io_context& loop, std::unique_ptr<ports::Launcher> processes,
              Settings settings);
    // Leaves what keeps shares to its tenants, and software GPUs to jobs that run; else both end.
    ~GpuShares() override;

    // Of all nodes of this machine, and its driver's release; before the first attempt is started.
    // Tries whether shares are kept and processes can be, in children. Errors: Unavailable when
    // what was wished for is not chosen.
    base::Status set_gpus(std::vector<Gpu> gpus, const std::string& driver);
    // By what shares of that node's GPUs are kept, and why: "interposer: driver 580 is older ...".
    std::string kept_by(const std::string& node) const;
    // Why they are not, and what to do; empty = they are.
    std::string lack(const std::string& node) const;
    // Why no job of this machine keeps its processes when it is paused; empty = they can be kept.
    const std::string& checkpoint_lack() const { return checkpoint_lack_; }

    // Whether shares are kept is tried once more when the parts that keep them are not those that
    // were tried, or `anew` in any case: Berth may have been installed meanwhile, or room made.
    // Whether it was, since this was last asked: lack() may say something else now.
    bool try_shares_again(bool anew);

    // What jobs use of the GPUs that they share.
    std::vector<ports::ShareUse> uses() const;
    // What nothing of ours counts: processes of jobs beside their shares, and of no job.
    const std::vector<ports::UncountedProcess>& uncounted() const { return escapes_.processes(); }

    void set_listener(ports::LauncherListener* listener) override;
    // An attempt whose shares cannot be kept ends with 126 and says why.
    void start(const ports::LaunchOrder& order) override;
    void resume(const ports::LaunchOrder& order) override;
    void park(ports::AttemptId attempt) override;
    void resize(const ports::BegunAttempt& attempt) override;
    base::Status narrow(const ports::BegunAttempt& attempt) override;
    void note(ports::AttemptId attempt, const std::string& text) override {
        processes_->note(attempt, text);
    }
    pid_t process_above(ports::AttemptId attempt) const override {
        return processes_->process_above(attempt);
    }
    std::string waits_for(ports::AttemptId attempt) const override;
    model::PauseWay pause_way(ports::AttemptId attempt) const override;
    void stop(ports::AttemptId attempt, ports::StopReason reason, base::Duration grace) override;
    void recover(std::span<const ports::BegunAttempt> attempts) override;

  private:
    void on_running(ports::AttemptId attempt) override;
    void on_saved(ports::AttemptId attempt) override;
    void on_frozen(ports::AttemptId attempt, const model::Frozen& frozen) override;
    void on_idle(ports::AttemptId attempt, base::Duration idle) override;
    void on_waking(ports::AttemptId attempt) override;
    void on_exit(ports::AttemptId attempt, const ports::AttemptExit& exit) override;
    void on_lost(ports::AttemptId attempt, const std::string& detail) override;

    void end(ports::AttemptId attempt);
    void wait_for_room(ports::AttemptId attempt, const std::string& lack);
    base::Status add_shares(ports::LaunchOrder& order);
    void add_software_gpus(ports::LaunchOrder& order);
    // Again and again, as long as there are tenants: all of them depend on the arbiter, those that
    // may be off their GPUs at any time on the freezer as well.
    void look_at_sharing();
    void choose_pause_way(ports::LaunchOrder& order);
    NodeAbility ability(const std::string& node);
    Freezers::Manner freezer_manner(const std::string& node);
    void start_freezer(const std::string& node);
    // Whether it is there, and can take the attempt off its GPUs.
    bool start_freezer(ports::AttemptId attempt);
    const std::string& description_of(const std::string& node);
    bool description_lacks(const std::string& node);  // where it would have to have one
    std::vector<std::string> software_environment(const std::string& node);
    void name_folders();
    bool try_shares();  // unless that was done with these very parts
    void try_changed_shares();
    void note_what_is_kept();
    ChildOrder probe_of(const std::string& node);
    void watch(ports::AttemptId attempt, std::span<const ports::TaskLaunch> tasks);

    boost::asio::io_context& loop_;
    std::unique_ptr<ports::Launcher> processes_;
    ports::LauncherListener* listener_ = nullptr;
    Settings settings_;
    std::vector<Gpu> gpus_;
    ShareFolders folders_;
    std::string loader_lack_;  // why the loader cannot find them
    std::unique_ptr<ShareKeeper> keeper_;
    Choice choice_;
    Freezers freezers_;
    struct Way {
        model::PauseWay way;
        std::string node;  // of its first task
    };
    std::map<ports::AttemptId, Way> ways_;
    std::map<ports::AttemptId, std::string> lacks_;  // of the machine, for which they wait
    std::string lack_;  // why shares are not kept here
    std::string tried_;  // with which parts
    bool has_news_ = false;  // of a trial since the start
    struct Kept {
        std::string by;  // empty where they are not
        std::string lack;  // why not
    };
    Kept kept_on(std::span<const Gpu> gpus) const;  // of one node
    std::map<std::string, Kept> kept_;  // by node
    std::string checkpoint_lack_;
    std::map<std::string, std::string> descriptions_;  // files of software GPUs, by node
    struct Stop {
        ports::AttemptId attempt;
        ports::StopReason reason;
        base::Duration grace;
    };
    std::vector<Stop> early_stops_;  // of attempts taken up before the GPUs are known
    std::vector<ports::BegunAttempt> taken_up_;  // until then
    Escapes escapes_;
    std::set<ports::AttemptId> live_;
    std::set<ports::AttemptId> unmeasured_;  // of those that may share
    Pairs pairs_;
    boost::asio::steady_timer timer_;  // runs while anybody depends on that
    bool is_looking_ = false;
    std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // for what was posted
};

}  // namespace berth::gpu_shares
