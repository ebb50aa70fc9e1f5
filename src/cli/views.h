// SPDX-License-Identifier: Apache-2.0
//
// What does the server tell the command line? Its answers as plain data, read from the JSON of
// the API. Names of nodes and jobs stand where the core has positions. A field that is not there
// has its default; an unknown one is passed over, so that an older client reads a newer server.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "codec/json.h"
#include "model/record.h"
#include "model/verdict.h"

namespace berth::cli {

struct PlaceView {
    int task = 0;
    std::string node;
    std::vector<int> gpus;
    model::MilliGpu share{0};           // of each of them
};

struct JobNameView {
    model::JobId id;
    std::string name;
    std::string project;
    std::string state;
    std::string gpus;
};

struct VerdictView {
    model::Verdict verdict;
    std::string text;                   // one sentence
    std::vector<JobNameView> blockers;
};

struct ReceiptView {
    model::PauseReceipt receipt;
    JobNameView beneficiary;            // id not valid when a user asked
};

struct JobView {
    model::JobRecord record;            // its tasks are in `places`
    std::vector<PlaceView> places;
    std::vector<PlaceView> hold;        // promised, being freed
    std::optional<VerdictView> verdict; // while it waits
    std::optional<ReceiptView> last_pause;
    std::string log_dir;
};

struct GpuUseView {
    model::JobId job;
    std::string name;
    std::string project;
    model::MilliGpu share{0};
};

struct GpuView {
    std::string node;
    int index = 0;
    std::string model;
    model::Bytes memory{0};
    std::string health = "ready";
    std::vector<GpuUseView> jobs;
    int utilization_percent = -1;       // -1 = not measured, here and below
    model::Bytes memory_used{-1};
    int power_watts = -1;
};

struct ProjectView {
    model::Project project;
    int depth = 0;                      // in the tree, as listed
    model::MilliGpu quota{0};
    model::MilliGpu fair_share{0};
    model::MilliGpu used{0};
    model::MilliGpu lent{0};
    model::MilliGpu borrowed{0};
    int running = 0;
    int waiting = 0;
};

struct EventView {
    std::int64_t sequence = 0;
    model::TimePoint time;
    std::string actor;
    std::string kind;
    model::JobId job;                   // not valid when about something else
    std::string name;                   // of the job, node or project
    std::string text;
    std::string json;                   // the whole event as the server sent it, on one line
};

struct StatusView {
    std::string version, cluster_id, data_dir, profile;
    std::int64_t pid = 0;
    int port = 0;
    model::TimePoint started;
    model::MilliGpu total{0}, ready{0}, used{0}, idle{0};
    std::map<std::string, std::int64_t> jobs;  // by state
    std::int64_t sequence = 0;
};

// Each reads one value of the API's JSON.
JobView read_job(const codec::Value& value);
VerdictView read_verdict(const codec::Value& value);
GpuView read_gpu(const codec::Value& value);
ProjectView read_project(const codec::Value& value);
EventView read_event(const codec::Value& value);
StatusView read_status(const codec::Value& value);

}  // namespace berth::cli
