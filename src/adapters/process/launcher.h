// SPDX-License-Identifier: Apache-2.0
//
// How do jobs run on this machine? Each attempt under a supervisor process of its own
// (app/supervisor) that outlives this one. start() hands it everything in one piece; from then on
// the truth about the attempt is its status file (supervision/status_file.h), and the socket
// between us only tells of it sooner. recover() therefore needs nothing but the directory.
// A start of an attempt that has a status file already takes it up instead of running it twice. One
// for whose files or processes there is no room is tried again until there is, or until it is to
// stop.
// All calls and callbacks on the thread that runs the io_context; no callback from within a call.
#pragma once

#include <sys/types.h>

#include <boost/asio/io_context.hpp>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "adapters/process/make_order.h"
#include "adapters/process/spawner.h"
#include "ports/launcher.h"
#include "supervision/descriptor.h"

namespace berth::process {

struct ProcessLauncherOptions {
    std::string data_dir;  // absolute; jobs/ is made below it (attempt_files.h)
    std::string supervisor;  // path of the berth-supervisor program
    std::string cluster;  // tells servers on one machine apart
    std::string runtime;  // path of the runtime folder, which is there (runtime/folder.h)
    std::int64_t log_limit = 0;  // bytes on disk for each task's log; 0 = none
    mode_t umask = 022;  // of the jobs' processes
    std::string gpu_counters = {};  // a folder, as in make_order.h
};

class ProcessLauncher final : public ports::Launcher {
  public:
    ProcessLauncher(boost::asio::io_context& loop, ProcessLauncherOptions options);
    // Leaves everything running.
    ~ProcessLauncher() override;

    void set_listener(ports::LauncherListener* listener) override { listener_ = listener; }
    void start(const ports::LaunchOrder& order) override;
    void resume(const ports::LaunchOrder& order) override;
    void park(ports::AttemptId attempt) override;
    void note(ports::AttemptId attempt, const std::string& text) override;
    pid_t process_above(ports::AttemptId attempt) const override;
    std::string waits_for(ports::AttemptId attempt) const override;
    // Knows nothing of GPUs: that it is asked by a signal.
    model::PauseWay pause_way(ports::AttemptId attempt) const override;
    void stop(ports::AttemptId id, ports::StopReason reason, base::Duration grace) override;
    void recover(std::span<const ports::BegunAttempt> attempts) override;
    // Where the supervisor of an attempt listens.
    std::string socket_path(ports::AttemptId id) const;

  private:
    struct Attempt;
    using AttemptRef = std::shared_ptr<Attempt>;  // shared with the reads and waits under way

    void try_to_start(const ports::LaunchOrder& order, const AttemptRef& attempt);
    void wait_for_room(const AttemptRef& attempt, std::function<void()> then);
    base::Status spawn(const ports::LaunchOrder& order, Attempt& attempt);
    AttemptRef add(const ports::BegunAttempt& begun);
    void read_more(const AttemptRef& attempt);
    void on_bytes(const AttemptRef& attempt, std::size_t size);
    void look(const AttemptRef& attempt);
    void look_later(const AttemptRef& attempt);
    void insist(const AttemptRef& attempt, base::Duration patience);
    void take_up(const AttemptRef& attempt, supervision::Descriptor socket);
    void send_pending(const AttemptRef& attempt);
    void report_exit(const AttemptRef& attempt, const ports::AttemptExit& exit);
    void report_lost(const AttemptRef& attempt, const std::string& detail);
    void finish(const AttemptRef& attempt);

    boost::asio::io_context& loop_;
    ports::LauncherListener* listener_ = nullptr;
    Machine machine_;
    Spawner spawner_;
    std::map<ports::AttemptId, AttemptRef> attempts_;
    std::shared_ptr<bool> alive_;  // false once destroyed; held by what was posted
};

}  // namespace berth::process
