// SPDX-License-Identifier: Apache-2.0
//
// A process launcher over a data directory of its own, and what it reported: the stage on which
// the tests of this folder run real processes.
#pragma once

#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <sstream>
#include <string>

#include "adapters/process/attempt_files.h"
#include "adapters/process/jobs_folder.h"
#include "adapters/process/launcher.h"
#include "process/watching.h"
#include "runtime/folder.h"

namespace berth::process_test {

using ports::AttemptExit;
using ports::AttemptId;

inline AttemptId attempt(std::int64_t job, int number = 1) { return {model::JobId{job}, number}; }

inline ports::LaunchOrder order_of(AttemptId id, std::vector<std::string> command, int tasks = 1) {
    ports::LaunchOrder order;
    order.attempt = id;
    order.job_name = "test";
    order.project = "lab";
    order.spec.command = std::move(command);
    order.spec.workdir = "/";
    order.spec.environment = {"PATH=/usr/bin:/bin", "MARK=set by the user", "RANK=77"};
    for (int rank = 0; rank < tasks; ++rank) order.tasks.push_back({rank, rank, "n0", {rank}});
    return order;
}

inline ports::LaunchOrder shell(AttemptId id, const std::string& script, int tasks = 1) {
    return order_of(id, {"/bin/bash", "-c", script}, tasks);
}

class World final : public ports::LauncherListener {
  public:
    explicit World(std::string data_dir, std::string supervisor = BERTH_SUPERVISOR)
        : data_dir_(std::move(data_dir)),
          launcher_(std::make_unique<process::ProcessLauncher>(
              loop_, process::ProcessLauncherOptions{
                         data_dir_, std::move(supervisor), cluster_of(data_dir_),
                         runtime::Folder::make(data_dir_ + "/run", runtime::Openness::Private)
                             .value()
                             .path()})) {
        launcher_->set_listener(this);
    }

    // A test that fails half-way leaves nothing running. Those that mean to call drop_launcher().
    ~World() override {
        if (!launcher_) return;
        for (const AttemptId id : begun_)
            launcher_->stop(id, ports::StopReason::Cancel, base::Duration{0});
        until([&] {
            return std::all_of(begun_.begin(), begun_.end(),
                               [&](AttemptId id) { return is_over(id); });
        });
    }

    static std::string cluster_of(const std::string& data_dir) {
        return std::filesystem::path(data_dir).filename();
    }
    std::string cluster() const { return cluster_of(data_dir_); }

    void on_running(AttemptId id) override { running.insert(id); }
    void on_saved(AttemptId id) override { ++saved[id]; }
    void on_frozen(AttemptId id, const model::Frozen& answer) override { frozen[id] = answer; }
    void on_exit(AttemptId id, const AttemptExit& exit) override {
        exits[id] = exit;
        ++reports;
    }
    void on_lost(AttemptId id, const std::string& detail) override {
        lost[id] = detail;
        ++reports;
    }

    process::ProcessLauncher& launcher() { return *launcher_; }
    void drop_launcher() { launcher_.reset(); }
    void start(const ports::LaunchOrder& order) {
        begun_.insert(order.attempt);
        launcher_->start(order);
    }
    void recover(std::vector<AttemptId> attempts) {
        begun_.insert(attempts.begin(), attempts.end());
        std::vector<ports::BegunAttempt> begun;
        for (const AttemptId id : attempts) begun.push_back({id});
        launcher_->recover(begun);
    }
    void pause(AttemptId id, int grace_ms = 60'000) {
        launcher_->stop(id, ports::StopReason::Pause, base::Duration{grace_ms});
    }

    // Runs the loop until the condition holds; false when it hangs.
    bool until(const std::function<bool()>& condition) {
        const auto deadline = std::chrono::steady_clock::now() + kPatience;
        while (!condition()) {
            if (std::chrono::steady_clock::now() > deadline) return false;
            loop_.restart();
            if (loop_.run_one_for(std::chrono::milliseconds(20)) == 0) ::usleep(1'000);
        }
        return true;
    }
    bool until_running(AttemptId id) {
        return until([&] { return running.contains(id) || is_over(id); }) && running.contains(id);
    }
    bool is_over(AttemptId id) const { return exits.contains(id) || lost.contains(id); }
    // The exit of an attempt; code -1 when it did not come.
    AttemptExit exit_of(AttemptId id) {
        if (!until([&] { return is_over(id); }) || !exits.contains(id))
            return {-1, 0, false, false, lost[id]};
        return exits[id];
    }
    AttemptExit run(const ports::LaunchOrder& order) {
        start(order);
        return exit_of(order.attempt);
    }

    std::string jobs_dir() const { return data_dir_ + "/jobs"; }
    std::string log(AttemptId id, int rank = 0) const {
        return read_file(process::log_path(jobs_dir(), id, rank));
    }
    std::string status_path(AttemptId id) const {
        return process::attempt_prefix(jobs_dir(), id) + ".status";
    }
    std::string status(AttemptId id) const { return read_file(status_path(id)); }
    int supervisor_of(AttemptId id) const {
        std::istringstream words(status(id));
        std::string word;
        int pid = 0;
        words >> word >> word >> pid;
        return pid;
    }

    std::set<AttemptId> running;
    std::map<AttemptId, int> saved;
    std::map<AttemptId, AttemptExit> exits;
    std::map<AttemptId, std::string> lost;
    std::map<AttemptId, model::Frozen> frozen;
    int reports = 0;

  private:
    boost::asio::io_context loop_;
    std::string data_dir_;
    std::set<AttemptId> begun_;
    std::unique_ptr<process::ProcessLauncher> launcher_;
};

}  // namespace berth::process_test
