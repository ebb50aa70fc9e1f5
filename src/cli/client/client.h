// SPDX-License-Identifier: Apache-2.0
//
// How are the server's questions asked? One function for each call of the API that the command
// line uses. Failures come back with the exit code and the command that helps: "no server answers"
// names `berth up`, an unknown job `berth ls`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/client/http_connection.h"
#include "cli/command_line/context.h"
#include "cli/command_line/exit_code.h"
#include "codec/api/json_api.h"
#include "codec/api/policy_view.h"
#include "codec/api/server_view.h"
#include "codec/text/json.h"

namespace berth::cli {

struct JobQuery {
    std::string state = {};    // empty = all; so for these
    std::string project = {};
    std::string user = {};
    int finished = 0;                  // how many of the newest finished ones
    bool foresees = false;             // with estimates of when waiting ones start
};

// Answers with the names of the nodes and jobs they mention, and as the server sent them.
struct JobAnswer {
    codec::JobView job;
    codec::NameTable names;
    std::string json;
};
struct JobList {
    std::vector<codec::JobView> jobs;
    codec::NameTable names;
    std::vector<std::string> pages;  // as the server sent them; one, unless there are very many
};
struct NodeList {
    std::vector<codec::NodeView> nodes;
    codec::NameTable names;
};
struct EventList {
    std::vector<model::Event> events;
    codec::NameTable names;
    std::int64_t next_after = 0;  // events up to this one were looked at
    bool has_more = false;  // and there are later ones already
};

// What a long poll on a job waits for.
struct JobWait {
    const char* until = "change";  // running | final | change
    std::int64_t since = 0;  // sequence; for change
    base::Duration at_most{30'000};
};

// What becomes of a job: "pause", "resume" or "cancel", with a grace; without a verb it asks
// something else of its GPUs, as codec/files/request_change.h reads it.
struct JobOrder {
    std::string verb = {};
    std::string body = {};  // JSON
};

struct LogPiece {
    std::string bytes;
    std::int64_t next_offset = 0;
    bool is_end = false;
};

struct LogQuery {
    int attempt = 0;  // 0 = the newest
    int task = -1;  // -1 = task 0
    std::int64_t offset = 0;
    base::Duration wait{0};
};

struct ShareAnswer {
    model::ShareAccount account;
    std::string json;
};

struct AttachPlace {
    std::string socket;
    int attempt = 0;
};

class Client {
  public:
    // `patience`: for one answer, beyond what a long poll may take by itself. When `interrupt`
    // becomes readable, a call in progress fails with kDetached.
    explicit Client(const Context& context, base::Duration patience = base::Duration{20'000},
                    int interrupt = -1);

    Outcome<std::string> get(const std::string& target);  // the body, JSON
    Outcome<std::string> post(const std::string& target, std::string body);  // the same
    // What the last answer said of the server itself, for people; empty = all is well. It is
    // printed when it is first heard, unless it is kept for a screen that shows it.
    const std::string& notice() const { return notice_; }
    void keep_notices() { prints_notices_ = false; }
    Outcome<JobList> jobs(const JobQuery& query);
    Outcome<JobAnswer> job(model::JobId id);
    // With what would start it and when it will start.
    Outcome<JobAnswer> foreseen_job(model::JobId id);
    Outcome<JobAnswer> wait_for_job(model::JobId id, const JobWait& wait);
    // Where it is not known whether the job was taken, it is asked again with the same key, for
    // some time; without a key it is given one.
    Outcome<JobAnswer> submit(const model::Submission& submission);
    // What would become of it, as JSON: nothing is submitted.
    Outcome<std::string> try_submission(const model::Submission& submission);
    Outcome<JobAnswer> order_job(model::JobId id, const JobOrder& order);
    Outcome<LogPiece> log(model::JobId id, const LogQuery& query);
    Outcome<AttachPlace> attach(model::JobId id);
    // Appends the next page behind `list.next_after`: of one job, or of all when `job` is not
    // valid. Waits at most this time for an event when there is none yet.
    Success more_events(EventList& list, model::JobId job, base::Duration wait);
    // All there are by now.
    Outcome<EventList> events(model::JobId job);
    Outcome<NodeList> nodes();
    Outcome<std::vector<codec::PoolView>> pools();
    Outcome<codec::PoolView> pool(const std::string& name);
    Outcome<std::vector<codec::ProjectView>> projects();
    // An empty pool is the default one.
    Outcome<ShareAnswer> fair_share(const std::string& project, const std::string& pool);
    // What would be different, as JSON: nothing is changed.
    Outcome<std::string> what_if(const std::vector<model::Hypothesis>& suppose);
    Outcome<codec::PolicyView> policy();
    // Changes "projects", "pools" or "nodes" of that name, or "policy", which has none. Answers
    // with what is to be considered: one sentence each.
    Outcome<std::vector<std::string>> change(std::string_view kind, const std::string& name,
                                             const std::string& body);
    // Takes away one of "projects" or "pools".
    Success remove(std::string_view kind, const std::string& name);
    Outcome<codec::ServerView> status();
    // "keep" or "cancel": what becomes of the jobs.
    Success shut_down(const std::string& jobs);

    // "12", a name, or project/name to the job's id; the newest that lives wins, then the newest.
    Outcome<model::JobId> resolve(const std::string& text);

  private:
    Outcome<HttpResponse> send(const HttpRequest& request, base::Duration extra = {});
    Outcome<std::string> body_of(const HttpRequest& request, base::Duration extra = {});
    template <typename Parse>
    auto get_as(const std::string& target, Parse parse)
        -> Outcome<typename decltype(parse(std::string_view()))::value_type>;
    Outcome<codec::Value> get_tree(const std::string& target);
    Outcome<JobAnswer> read_job(Outcome<std::string> body) const;
    void take_notice(const HttpResponse& response);
    Failure no_answer(const base::Error& error) const;
    Failure refused(const HttpResponse& response) const;

    const Context& context_;
    base::Duration patience_;
    HttpConnection connection_;
    std::string notice_;
    bool prints_notices_ = true;
};

}  // namespace berth::cli
