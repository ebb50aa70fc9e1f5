// SPDX-License-Identifier: Apache-2.0
//
// How is the server: the answer to GET /api/v1/status. And the small answers about who asks it.
// What a server does not say keeps its default: a client may be newer than it.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "codec/api/json_api.h"
#include "codec/fields/described.h"

namespace berth::codec {

// GPUs of all nodes together, each whole one as one.
struct GpuTotals {
    model::MilliGpu total{0};
    model::MilliGpu ready{0};
    model::MilliGpu used{0};
    model::MilliGpu idle{0};
};
struct SharesKept {
    std::string node;  // of those kept alike the first one
    std::string kept_by;  // empty where they cannot be kept
    std::string lack;
};
struct StorageView {
    std::int64_t free = 0;  // bytes, as is what the server wants to stay free
    std::int64_t wanted = 0;
    bool full = false;
    std::optional<model::TimePoint> since;  // while it is full
    std::optional<std::string> text;  // the cause, and what to do
};
struct ServerView {
    std::string version;
    std::string cluster_id;
    std::int64_t pid = 0;
    model::TimePoint started;
    std::string data_dir;
    int port = 0;  // 0 = no TCP
    std::string profile;
    std::string launcher;  // "process", or "simulated, jobs end after 100ms"
    std::string inventory;  // where GPUs come from: "nvml", "simulated 8x80G"
    std::string default_project;
    GpuTotals gpus;
    std::map<std::string, std::int64_t> jobs;  // by state
    std::vector<SharesKept> shares;
    std::string checkpoint_lack;  // why pauses keep no processes; empty = they can
    StorageView storage;
    model::JobId last_job;
    std::int64_t sequence = 0;  // of the newest event
};

// Who asks, and what it may do: see, read, submit, steer, cluster, server.
struct CallerView {
    std::string user;
    std::vector<std::string> rights;
    std::optional<model::TimePoint> ends;  // of the session; none = it has none
    std::optional<std::string> token;  // of a session that begins
};
struct LinkView {
    std::string url;
    std::int64_t valid_for_s = 0;
};
// What a change makes worth a thought, a sentence each.
struct NotesView {
    std::vector<std::string> warnings;
};

template <>
struct Fields<GpuTotals> {
    static void visit(auto&& field) {
        field("total", &GpuTotals::total);
        field("ready", &GpuTotals::ready);
        field("used", &GpuTotals::used);
        field("idle", &GpuTotals::idle);
    }
};
template <>
struct Fields<SharesKept> {
    static void visit(auto&& field) {
        field("node", &SharesKept::node);
        field("kept_by", &SharesKept::kept_by);
        field("lack", &SharesKept::lack);
    }
};
template <>
struct Fields<StorageView> {
    static void visit(auto&& field) {
        field("free", &StorageView::free);
        field("wanted", &StorageView::wanted);
        field("full", &StorageView::full);
        field("since", &StorageView::since);
        field("text", &StorageView::text);
    }
};
template <>
struct Fields<ServerView> {
    static void visit(auto&& field) {
        using S = ServerView;
        field("version", &S::version);
        field("cluster_id", &S::cluster_id);
        field("pid", &S::pid);
        field("started", &S::started);
        field("data_dir", &S::data_dir);
        field("port", &S::port);
        field("profile", &S::profile);
        field("launcher", &S::launcher);
        field("inventory", &S::inventory);
        field("default_project", &S::default_project);
        field("gpus", &S::gpus);
        field("jobs", &S::jobs);
        field("shares", &S::shares);
        field("checkpoint_lack", &S::checkpoint_lack);
        field("storage", &S::storage);
        field("last_job", &S::last_job);
        field("sequence", &S::sequence);
    }
};
template <>
struct Fields<CallerView> {
    static void visit(auto&& field) {
        field("user", &CallerView::user);
        field("rights", &CallerView::rights);
        field("ends", &CallerView::ends);
        field("token", &CallerView::token);
    }
};
template <>
struct Fields<LinkView> {
    static void visit(auto&& field) {
        field("url", &LinkView::url);
        field("valid_for_s", &LinkView::valid_for_s);
    }
};
template <>
struct Fields<NotesView> {
    static void visit(auto&& field) { field("warnings", &NotesView::warnings); }
};

std::string server_json(const ServerView& server, const NameSource& names);
base::Result<ServerView> parse_server(std::string_view text);
std::string caller_json(const CallerView& caller);
std::string link_json(const LinkView& link);
std::string notes_json(const NotesView& notes);

}  // namespace berth::codec
