// SPDX-License-Identifier: Apache-2.0
//
// How do the nouns of the API look as JSON? Both directions, so that the CLI reads exactly what
// the server writes. Every text is one document:
//   {"apiVersion":"berth/v1","kind":"JobList","items":[...],"next":"","job_names":{"7":"nlp/ft"}}
//
// GPUs and CPUs are decimal numbers, -1 without a bound; memory is bytes; durations are seconds;
// times are RFC 3339 in UTC; nodes are named, GPUs are indices; a job is its number, and
// `job_names` names those mentioned. Every field is always written, null when there is nothing.
//
// What a client sent is read strictly: an unknown name is an error with a suggestion. What a server
// answered is read leniently, so that it may be newer. Errors: Invalid, with the line.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "codec/api/process_view.h"
#include "model/answer/order_account.h"
#include "model/answer/share_account.h"
#include "model/answer/start_estimate.h"
#include "model/answer/verdict.h"
#include "model/answer/what_if.h"
#include "model/event.h"
#include "model/job/submission.h"
#include "model/plan.h"
#include "model/record.h"

namespace berth::codec {

// What ids are called, and which date a time is, for writing. An empty answer means: not known.
struct NameSource {
    std::function<std::string(model::NodeId)> node;
    std::function<std::string(model::JobId)> job;  // "project/name"
    base::Duration date_shift{0};  // ports::Clock
};

// What ids are called, filled while reading: a reader numbers the nodes as it meets them.
struct NameTable {
    std::vector<std::string> nodes;  // by NodeId
    std::map<model::JobId, std::string> jobs;

    model::NodeId node_id(std::string_view name);
    // The table must outlive the source.
    NameSource source() const;

  private:
    std::map<std::string, model::NodeId, std::less<>> ids_;
};

// Computed for a waiting job only when asked for: it takes decisions on copies.
struct Foresight {
    std::string starts_if;  // the suggestion as a clause; empty = none
    std::optional<model::StartEstimate> start_estimate;
};

// A job as it is shown: why it waits stands beside it.
struct JobView : model::JobRecord {
    std::optional<model::Verdict> verdict;
    std::string why;  // the verdict as a sentence; or why its start is not done
    std::optional<Foresight> foresight = {};
    std::optional<model::GpuProfile> profile = {};  // of jobs like it
    std::vector<model::JobId> beside = {};  // packed on its GPU with it
    std::vector<ProcessView> uncounted = {};  // that use GPUs beside its share, now
    std::optional<model::OrderAccount> order = {};  // when it is asked for
};

// What a client wants supposed, one after the other.
struct WhatIfRequest {
    std::vector<model::Hypothesis> suppose;
};

// What a project has in one pool.
struct UseInPool {
    std::string pool;
    model::MilliGpu quota{0};  // resolved: never "sum of the children's"
    model::MilliGpu limit{0};
    model::MilliGpu fair_share{0};
    model::MilliGpu used{0};
    model::MilliGpu used_by_non_preemptible{0};
    model::MilliGpu waiting{0};  // asked for by jobs that wait
    model::MilliCpu cpu_used{0};  // that its tasks ask for, as memory is
    model::Bytes memory_used{0};
};
struct ProjectView : model::Project {
    std::vector<UseInPool> use;
    std::optional<model::Accuracy> predicted = {};  // GPU time over what was used, of ended jobs
};

// What a job that shares a GPU really uses of it.
struct ShareView {
    model::JobId job;
    model::Bytes memory_used{0};
    std::optional<model::Bytes> memory_limit = {};
    std::optional<model::MilliGpu> compute_used = {};  // in the last seconds
    std::optional<model::MilliGpu> cap = {};  // the most of it that it ever gets; none = all
};
struct GpuView {
    int index = 0;
    std::string uuid;
    bool healthy = true;
    model::MilliGpu used{0};  // the larger of both parts that tasks hold
    model::MilliGpu compute_held{0};
    model::Bytes memory_held{0};  // of a GPU that is shared; by one task alone: all of it
    std::vector<model::JobId> jobs;
    std::vector<ShareView> shares = {};  // of those of them that are known
    std::vector<ProcessView> uncounted = {};
    std::optional<int> utilization_percent;
    std::optional<model::Bytes> memory_used;
    std::optional<int> power_watts;
};
struct NodeView : model::Node {
    std::string pool;
    std::string labelled_pool;  // the pool that its labels say
    std::string joins;  // the pool to which it goes once nothing runs on it; empty = it stays
    std::string shares_kept_by;  // "interposer: why"; empty = not known
    std::vector<GpuView> devices;
};

struct PoolView {
    std::string name;
    model::Labels labels;
    std::string spares;
    bool strict_shares = false;
    std::map<std::string, model::MilliGpu> exchange;  // what one GPU of a model counts as
    int nodes = 0;  // that stand in it
    int nodes_ready = 0;
    model::MilliGpu gpus{0};  // of those that are ready
    model::MilliGpu used{0};  // as GPUs count
    model::MilliGpu quotas{0};  // of the topmost departments and projects together
};

// One page of a list; `next` asks for the following one, empty at the end.
template <typename T>
struct Page {
    std::vector<T> items;
    std::string next;
};

// --- what clients send; read strictly. apiVersion and kind may be left out, but not be wrong.
std::string submission_json(const model::Submission& submission);
base::Result<model::Submission> parse_submission(std::string_view text);
std::string project_json(const model::Project& project);
base::Result<model::Project> parse_project(std::string_view text);
std::string pool_json(const model::Pool& pool);
base::Result<model::Pool> parse_pool(std::string_view text);

std::string what_if_request_json(const WhatIfRequest& request, const NameSource& names);
base::Result<WhatIfRequest> parse_what_if_request(std::string_view text);

// --- what servers answer
std::string job_json(const JobView& job, const NameSource& names);
base::Result<JobView> parse_job(std::string_view text, NameTable& names);
// Without an envelope, to stand inside another document.
std::string foresight_json(const Foresight& foresight, const NameSource& names);
std::string order_account_json(const model::OrderAccount& account, const NameSource& names);
std::string job_list_json(const Page<JobView>& jobs, const NameSource& names);
base::Result<Page<JobView>> parse_job_list(std::string_view text, NameTable& names);

std::string verdict_json(const model::Verdict& verdict, const NameSource& names);
base::Result<model::Verdict> parse_verdict(std::string_view text, NameTable& names);

struct PlanView {  // with the verdicts of the jobs that go on waiting
    model::Plan plan;
    std::vector<model::Verdict> verdicts;
};
std::string plan_json(const PlanView& plan, const NameSource& names);
base::Result<PlanView> parse_plan(std::string_view text, NameTable& names);

std::string share_account_json(const model::ShareAccount& account);
base::Result<model::ShareAccount> parse_share_account(std::string_view text);
std::string what_if_json(const model::WhatIf& what_if, const NameSource& names);
base::Result<model::WhatIf> parse_what_if(std::string_view text, NameTable& names);

std::string event_json(const model::Event& event, const NameSource& names);
base::Result<model::Event> parse_event_json(std::string_view text, NameTable& names);
std::string event_list_json(const Page<model::Event>& events, const NameSource& names);
base::Result<Page<model::Event>> parse_event_list(std::string_view text, NameTable& names);

std::string project_list_json(const Page<ProjectView>& projects);
base::Result<Page<ProjectView>> parse_project_list(std::string_view text);
std::string pool_list_json(const Page<PoolView>& pools);
base::Result<Page<PoolView>> parse_pool_list(std::string_view text);
std::string node_list_json(const Page<NodeView>& nodes, const NameSource& names);
base::Result<Page<NodeView>> parse_node_list(std::string_view text, NameTable& names);

std::string launch_json(const model::LaunchSpec& launch);
base::Result<model::LaunchSpec> parse_launch_json(std::string_view text);
// An error as application/problem+json (RFC 9457). `hint` is a command that may help, or empty.
std::string problem_json(const base::Error& error, int status, std::string_view hint = "");
// The error in an answer; one that says what was found when it is none of ours.
base::Error parse_problem(std::string_view text);

}  // namespace berth::codec
