// SPDX-License-Identifier: Apache-2.0
//
// What runs on a machine whatever becomes of its server: attempts of jobs, and how they ended. It
// is a Launcher for one server after the other, and knows what each attempt came to, as status
// files do. A job that ended by itself must never be started again.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <set>

#include "ports/launcher.h"

namespace berth::tests {

class Machine {
  public:
    // What a server has of the machine; its news go to the server's listener.
    class Connection final : public ports::Launcher {
      public:
        explicit Connection(Machine& machine) : machine_(machine) {}
        void set_listener(ports::LauncherListener* listener) override { listener_ = listener; }
        void start(const ports::LaunchOrder& order) override;
        void resume(const ports::LaunchOrder&) override {}
        model::PauseWay pause_way(ports::AttemptId) const override { return {}; }
        void stop(ports::AttemptId attempt, ports::StopReason, base::Duration) override;
        void recover(std::span<const ports::BegunAttempt> attempts) override;
        // Tells what happened since; true when there was something.
        bool tell();

      private:
        void tell_later(ports::AttemptId attempt);

        Machine& machine_;
        ports::LauncherListener* listener_ = nullptr;
        std::deque<ports::AttemptId> news_;
    };

    // The job's running attempt ends by itself; false when none runs.
    bool end(model::JobId job, int exit_code);
    bool is_done(model::JobId job) const { return done_.contains(job); }
    const std::map<model::JobId, int>& exit_codes() const { return done_; }

  private:
    struct Run {
        std::optional<ports::AttemptExit> exit;
        bool is_told = false;
    };
    std::map<ports::AttemptId, Run> runs_;
    std::map<model::JobId, int> done_;  // ended by themselves, with which code
};

}  // namespace berth::tests
