// SPDX-License-Identifier: Apache-2.0
//
// What is a running server made of? The one place where the control loop, the API, the event log,
// the launcher and the GPUs of this machine come together on one thread.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/quantity.h"
#include "base/result.h"
#include "model/node/node.h"
#include "model/policy/policy_settings.h"

namespace berth::app {

inline constexpr int kDefaultPort = 7421;
inline constexpr const char* kDefaultProject = "default";

struct ServerOptions {
    std::string data_dir;               // absolute
    mode_t jobs_umask = 022;
    std::string gpus = "auto";  // auto | sim:NODESxGPUSxMEMORY, as the inventory reads it
    std::string profile = "berth";
    std::string sharing = "auto";  // auto | interposer | driver: what keeps shares of GPUs
    std::string in_front = "preload";  // preload | audit | mount: where the interposer is
    std::string cgroup = "/sys/fs/cgroup";  // where control groups for that are made
    std::string launcher = "process";  // process | simulated:TIME
    std::string program;  // path of this executable: its siblings are found by it
    std::optional<int> port;  // none = kDefaultPort, or any when that is taken
    model::PolicyChanges policy;  // of what the profile says
    std::optional<std::int64_t> snapshot_events;  // a snapshot after this number of events
    std::optional<model::Levels> levels;  // none = those of before, or the default ones
    model::Labels topology;  // where this machine stands, by level
    base::Bytes log_limit{std::int64_t{1} << 30};  // of each task's log, on disk; 0 = none
    bool accept_older_log = false;  // go on from a log that is not the newest
    bool demo = false;
};

// How long a server that is to end its jobs first waits for them.
inline constexpr std::chrono::seconds kCancelPatience{90};

// Of a server whose log failed: what the log has shows when it is opened anew.
inline constexpr int kLogFailed = 3;

class Server {
  public:
    // Everything up to the first decision; answers clients from run() on.
    // Errors: Conflict (another server has the data directory), Invalid, Unavailable.
    static base::Result<std::unique_ptr<Server>> open(const ServerOptions& options);
    ~Server();

    // What people read when it is ready.
    std::string banner() const;
    // Until it is asked to end, or its log failed. Returns the exit code of the process.
    int run();
    // The port that clients know.
    int port() const;

  private:
    struct Parts;
    explicit Server(std::unique_ptr<Parts> parts);
    std::unique_ptr<Parts> parts_;
};

}  // namespace berth::app
