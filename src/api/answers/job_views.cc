// SPDX-License-Identifier: Apache-2.0
#include "api/answers/job_views.h"

#include <algorithm>

#include "api/answers/routes.h"
#include "api/http/problem.h"
#include "codec/api/job_row.h"
#include "codec/text/json_writer.h"
#include "codec/words/words.h"
#include "scheduling/explain/explain.h"
#include "scheduling/explain/suggestion.h"

namespace berth::api {
namespace {

bool is_waiting(const model::JobRecord& record) {
    return record.state == model::JobState::Queued || record.state == model::JobState::Paused;
}

// What a long poll on one job waits for.
struct Goal {
    std::string until = "change";
    std::int64_t since = 0;
};

bool is_reached(const Goal& goal, const model::JobRecord& record) {
    if (model::is_final(record.state)) return true;
    if (goal.until != "running") return false;
    return record.state == model::JobState::Starting || record.state == model::JobState::Running;
}

base::Result<Goal> goal_of(const Call& call) {
    Goal goal;
    if (const std::string* until = call.request.find("until")) goal.until = *until;
    BERTH_TRY(since, call.number("since", 0));
    goal.since = since;
    return goal;
}

void respond_with_job(const Sight& sight, const Respond& respond, model::JobId job) {
    const auto view = view_of(sight, job);
    if (!view) return respond(problem(view.error(), "berth ls -a"));
    respond(json_response(codec::job_json(*view, names(sight))));
}

std::vector<model::JobId> packed_beside(const lifecycle::State& state,
                                        const model::JobRecord& record) {
    std::vector<model::JobId> beside;
    if (!record.spec.packed || record.tasks.empty()) return beside;
    const model::TaskPlacement& task = record.tasks.front();
    for (const model::JobId id : state.cluster.jobs_on(task.node)) {
        const model::JobRecord& other = state.jobs.at(id);
        const bool is_there = id != record.id && other.spec.packed && !other.tasks.empty() &&
                              (other.tasks.front().gpu_mask & task.gpu_mask) != 0;
        if (is_there) beside.push_back(id);
    }
    return beside;
}

// A clause; empty = its start lacks nothing, or it is not known.
std::string lack_of_start(const Sight& sight, const model::JobRecord& record) {
    if (sight.is_past()) return {};
    const std::string lack = sight.site().controller.lack_of_start(record);
    if (lack.empty()) return lack;
    return "the machine has no room for its start, which is tried again: " + lack;
}

}  // namespace

codec::JobView view_of(const Sight& sight, const model::JobRecord& record, model::TimePoint until) {
    const lifecycle::State& state = sight.state();
    codec::JobView view = verdict_view(sight, record);
    if (!model::is_final(record.state)) view.milli_gpu_ms = state.ledger.times(record.id, until);
    if (const auto* known = state.profiles.of(record)) view.profile = *known;
    view.beside = packed_beside(state, record);
    if (sight.is_past()) return view;
    for (const ports::UncountedProcess& process : sight.site().uncounted())
        if (process.job == record.id) view.uncounted.push_back(shown(process));
    return view;
}

// A list stays as it is until something happens.
codec::JobView view_of(const Sight& sight, const model::JobRecord& record) {
    return view_of(sight, record, sight.state().time);
}

codec::JobView verdict_view(const Sight& sight, const model::JobRecord& record) {
    codec::JobView view{record, {}, {}, {}};
    view.why = lack_of_start(sight, record);
    if (!is_waiting(record)) return view;
    view.verdict = sight.why(record.id);
    if (view.verdict) view.why = scheduling::explain_text(*view.verdict);
    return view;
}

codec::JobRow row_of(const codec::JobView& view) {
    codec::JobRow row = codec::row_of(view);
    if (!view.why.empty()) row.why = view.why;
    if (!view.verdict) return row;
    row.position = view.verdict->position;
    row.reason = view.verdict->reason;
    row.blockers = view.verdict->blockers;
    return row;
}

codec::ProcessView shown(const ports::UncountedProcess& process) {
    codec::ProcessView view{{}, process.node, process.index, process.pid, process.memory};
    if (process.job.is_valid()) view.job = process.job;
    return view;
}

void foresee(const Sight& sight, codec::JobView view, std::function<void(codec::JobView)> done) {
    view.order = sight.order_account(view.id);
    if (sight.is_past()) return done(std::move(view));
    sight.site().foresight.complete(std::move(view), [sight, done](codec::JobView complete) {
        if (complete.foresight && complete.verdict->suggestion) {
            const codec::NameSource source = names(sight);
            complete.foresight->starts_if =
                scheduling::suggestion_text(*complete.verdict->suggestion, [&](model::JobId other) {
                    return std::to_string(other.value) + " " + source.job(other);
                });
        }
        done(std::move(complete));
    });
}

base::Result<codec::JobView> view_of(const Sight& sight, model::JobId job) {
    BERTH_TRY(record, sight.record_of(job));
    return view_of(sight, record, sight.now());
}

codec::NameSource names(const Sight& sight) {
    codec::NameSource source;
    source.node = [sight](model::NodeId node) { return sight.state().cluster.node_name(node); };
    source.job = [sight](model::JobId job) -> std::string {
        const auto& live = sight.state().jobs;
        if (const auto found = live.find(job); found != live.end()) {
            return found->second.spec.project + "/" + found->second.spec.name;
        }
        const auto ended = sight.site().store.finished_job(job);
        return ended ? ended->spec.project + "/" + ended->spec.name : std::string();
    };
    source.date_shift = sight.site().clock.date_shift();
    return source;
}

Response json_response(std::string body, int status) {
    Response response;
    response.status = status;
    response.body = std::move(body);
    return response;
}

void add_member(std::string& object, std::string_view name, std::string_view json) {
    object.pop_back();
    object += ",\"";
    object += name;
    object += "\":";
    object += json;
    object += '}';
}

void get_job(Site& site, Call call) {
    const auto job = call.job();
    const auto wait = call.wait();
    const auto goal = goal_of(call);
    if (!job) return call.respond(problem(job.error()));
    if (!wait) return call.respond(problem(wait.error()));
    if (!goal) return call.respond(problem(goal.error()));
    const auto& live = site.controller.state().jobs;
    const auto found = live.find(*job);
    const bool is_stale = goal->since > 0 && goal->since < site.controller.state().sequence &&
                          goal->until == "change";
    const Sight sight(site, call);
    const bool parks = !sight.is_past() && wait->count() > 0 && found != live.end() && !is_stale &&
                       !is_reached(*goal, found->second) && !site.waiting.is_full();
    if (!parks && call.text("foresee") == "true") {
        auto view = view_of(sight, *job);
        if (!view) return call.respond(problem(view.error(), "berth ls -a"));
        return foresee(sight, std::move(*view), [sight, respond = call.respond](auto complete) {
            respond(json_response(codec::job_json(complete, names(sight))));
        });
    }
    if (!parks) return respond_with_job(sight, call.respond, *job);
    site.waiting.park(*job, site.clock.now() + *wait, call.request.client,
                      [&site, id = *job, goal = *goal, respond = call.respond](bool is_last) {
                          const auto& jobs = site.controller.state().jobs;
                          const auto now = jobs.find(id);
                          const bool is_over =
                              now == jobs.end() || is_last || goal.until == "change";
                          if (!is_over && !is_reached(goal, now->second)) return false;
                          respond_with_job(site, respond, id);
                          return true;
                      });
}

void get_why(Site& site, Call call) {
    const auto job = call.job();
    if (!job) return call.respond(problem(job.error()));
    const Sight sight(site, call);
    auto view = view_of(sight, *job);
    if (!view) return call.respond(problem(view.error(), "berth ls -a"));
    if (!view->verdict) {
        const std::string& why = view->why;
        return call.respond(problem(409, "job " + std::to_string(job->value) + " is " +
                                             std::string(codec::word(view->state)) + " and waits" +
                                             (why.empty() ? " for nothing" : ": " + why)));
    }
    foresee(sight, std::move(*view), [sight, respond = call.respond](const auto& complete) {
        std::string body = codec::verdict_json(*complete.verdict, names(sight));
        std::string text;
        codec::append_json_string(text, complete.why);
        add_member(body, "text", text);
        if (complete.order) {
            add_member(body, "order", codec::order_account_json(*complete.order, names(sight)));
        }
        if (complete.foresight) {
            add_member(body, "foresight", codec::foresight_json(*complete.foresight, names(sight)));
        }
        respond(json_response(std::move(body)));
    });
}

}  // namespace berth::api
