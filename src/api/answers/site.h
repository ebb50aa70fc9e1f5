// SPDX-License-Identifier: Apache-2.0
//
// What does the API speak for? The server behind it, as the answers need it. Assembled in
// app/berth/server.cc, which alone knows where logs lie and what launches jobs.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "api/answers/foresight.h"
#include "api/http/http.h"
#include "api/http/sessions.h"
#include "api/live/live.h"
#include "api/live/waiting.h"
#include "api/map/map_desk.h"
#include "api/pages/pages.h"
#include "api/past/ended_jobs.h"
#include "api/past/moment_desk.h"
#include "api/past/past_desk.h"
#include "api/past/replay_desk.h"
#include "api/past/span_desk.h"
#include "control/controller.h"
#include "ports/clock.h"
#include "ports/gpu_inventory.h"
#include "ports/share_use.h"
#include "ports/store.h"

namespace berth::api {

struct ServerFacts {
    std::string version;
    std::string cluster_id;
    std::string data_dir;
    std::string profile;
    std::string launcher;              // "process", or "simulated, jobs end after 100ms"
    std::string gpus;  // where they come from: "nvml", "simulated 8x80G"
    std::string checkpoint_lack;  // why pauses keep no processes; empty = they can
    int port = 0;                      // 0 = no TCP
    model::TimePoint started;
};

enum class JobsAtShutdown { Keep, Cancel };

struct Site {
    control::Controller& controller;
    ports::Store& store;
    const ports::Clock& clock;
    ports::GpuInventory& inventory;
    Sessions sessions;  // of browsers
    ServerFacts facts;
    std::string default_project;       // of submissions that name none
    // What one task prints; the file may not exist yet. Empty: what lies under that number is of an
    // attempt of another log than one with these incarnations.
    std::function<std::string(ports::AttemptId, int task,
                              std::span<const std::string> incarnations)>
        log_path;
    // By what shares of a node's GPUs are kept, and why, for people; empty = not known.
    std::function<std::string(const std::string& node)> shares_kept_by;
    std::function<std::vector<ports::ShareUse>()> share_uses;
    std::function<std::vector<ports::UncountedProcess>()> uncounted;
    // Where a client attaches to it; empty = it cannot be attached to.
    std::function<std::string(ports::AttemptId)> attach_address;
    std::function<void(JobsAtShutdown)> shut_down;
    Pages pages;
    Waiting waiting{};
    Live live{};
    Background in_background;
    ports::OpenLog open_log;  // called on the other thread
    ForesightDesk foresight{controller, store, clock, in_background};
    PastDesk past{store};
    EndedJobs ended{store};
    SpanDesk spans{open_log, in_background};
    MomentDesk moments{FoldedLog(open_log), in_background, controller.started_policy()};
    ReplayDesk replays{open_log, in_background};
    MapDesk map{controller, inventory, clock, in_background};
};

// One request on its way to its answer. `words` are the parts of the path that a route leaves open.
struct Call {
    Request request;
    Respond respond;
    std::vector<std::string> words;
    std::shared_ptr<Moment> moment = {};  // of ?at=; null: now (sight.h)

    // "wait", in seconds, at most kWaitMax; 0 when it is not asked for.
    base::Result<base::Duration> wait() const;
    // A whole number, or the fallback when it is not given. Errors: Invalid, naming it.
    base::Result<std::int64_t> number(std::string_view name, std::int64_t fallback) const;
    std::string text(std::string_view name) const;
    // The first open word as a job's number. Errors: Invalid.
    base::Result<model::JobId> job() const;
};

// Errors: Invalid, naming it.
base::Result<std::int64_t> parse_number(std::string_view name, std::string_view text);

// Clients that wait, or are shown what changes: to be called at events that became durable, every
// kTick while there are any, and at the end.
void on_events(Site& site, std::span<const model::Event> events);
void on_tick(Site& site);
bool has_listeners(const Site& site);
void end_listening(Site& site);

}  // namespace berth::api
