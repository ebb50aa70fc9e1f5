// SPDX-License-Identifier: Apache-2.0
//
// Handing in a job, pausing, resuming and cancelling one, and changing what it asks.
#include <algorithm>

#include "api/answers/job_views.h"
#include "api/answers/nearest_project.h"
#include "api/answers/routes.h"
#include "api/http/problem.h"
#include "codec/files/request_change.h"
#include "codec/text/json.h"
#include "codec/text/json_writer.h"
#include "codec/words/words.h"
#include "model/limits.h"
#include "scheduling/explain/explain.h"

namespace berth::api {
namespace {

Response refusal_of(const Site& site, const std::string& project, base::Error error) {
    const std::string meant = nearest_project(site.controller.state().cluster, project);
    const bool is_unknown = !site.controller.state().cluster.find_project(project).is_valid();
    error.message += meant;
    return refused(error, is_unknown ? "berth project create " + project : "");
}

base::Error no_key(const std::string& found) {
    return {base::ErrorCode::Invalid,
            "Idempotency-Key: wanted 1 to 200 bytes without control characters, found " +
                std::to_string(found.size())};
}

void respond_with_job(Site& site, model::JobId job, const Respond& respond) {
    const auto view = view_of(site, job);
    if (!view) return respond(problem(view.error()));
    respond(json_response(codec::job_json(*view, names(site))));
}

base::Result<model::Submission> read_submission(Site& site, const Call& call) {
    BERTH_TRY(submission, codec::parse_submission(call.request.body));
    if (submission.launch.command.empty()) return base::invalid("launch.command: wanted a command");
    if (!submission.launch.workdir.starts_with('/')) {
        return base::invalid("launch.workdir: wanted an absolute path, found \"" +
                             submission.launch.workdir + "\"");
    }
    if (submission.spec.project.empty()) submission.spec.project = site.default_project;
    submission.launch.user = call.request.user;
    if (!call.request.idempotency_key.empty()) submission.key = call.request.idempotency_key;
    if (!submission.key.empty() && !model::is_name(submission.key))
        return tl::unexpected(no_key(submission.key));
    return std::move(submission);
}

Response never_runs(Site& site, const model::Verdict& verdict) {
    Response response =
        problem(422, "this job can never run here: " + scheduling::explain_text(verdict));
    add_member(response.body, "verdict", codec::verdict_json(verdict, names(site)));
    return response;
}

// What would become of it, without handing it in.
Response dry_run(Site& site, const model::Submission& submission) {
    const model::JobSubmitted trial{
        {site.controller.state().last_job.value + 1}, submission.spec, {}, {}};
    if (const auto possible = lifecycle::check(site.controller.state(), trial); !possible) {
        return refusal_of(site, submission.spec.project, possible.error());
    }
    const control::Outlook outlook = site.controller.outlook(submission);
    if (!outlook.can_run) return never_runs(site, outlook.verdict);
    codec::PlanView plan;
    plan.plan.pauses = outlook.pauses;
    plan.plan.moves = outlook.moves;
    plan.verdicts.push_back(outlook.verdict);
    std::string body = codec::plan_json(plan, names(site));
    std::string text;
    codec::append_json_string(text, scheduling::explain_text(outlook.verdict));
    add_member(body, "starts_now", outlook.starts_now ? "true" : "false");
    add_member(body, "text", text);
    return json_response(std::move(body));
}

void answer_submission(Site& site, const Respond& respond, const std::string& project,
                       const tl::expected<model::JobId, control::Refusal>& outcome) {
    if (!outcome) {
        const control::Refusal& refusal = outcome.error();
        if (refusal.verdict) return respond(never_runs(site, *refusal.verdict));
        return respond(refusal_of(site, project, refusal.error));
    }
    const auto record = Sight(site).record_of(*outcome);
    if (!record) return respond(problem(record.error()));
    // Without the verdict: explaining costs more than all the rest of a submission.
    Response response = json_response(codec::job_json({*record, {}, {}, {}}, names(site)), 201);
    response.headers.emplace_back("Location", "/api/v1/jobs/" + std::to_string(outcome->value));
    respond(std::move(response));
}

// How long a job is kept, though its GPUs do nothing: if not said, and at most.
constexpr base::Duration kKeep{2 * 3'600'000};
constexpr base::Duration kKeepMax{30LL * 24 * 3'600'000};

// {"grace": seconds}, as a number or as text with a unit, with that one member. An empty body says
// nothing.
base::Result<std::optional<base::Duration>> read_time(const std::string& body,
                                                      const std::string& member,
                                                      base::Duration most) {
    if (body.empty()) return std::nullopt;
    BERTH_TRY(tree, codec::parse_json(body, "body"));
    if (tree.kind != codec::Value::Kind::Map)
        return base::invalid("body: wanted {\"" + member + "\": TIME} or nothing");
    for (const auto& [name, value] : tree.members) {
        if (name != member)
            return base::invalid("unknown field \"" + name + "\", wanted " + member);
    }
    const codec::Value* said = tree.find(member);
    if (said == nullptr || said->kind == codec::Value::Kind::Null) return std::nullopt;
    base::Duration time{0};
    if (said->kind == codec::Value::Kind::Number) {
        BERTH_TRY(milliseconds, base::parse_thousandths(said->text));
        time = base::Duration{milliseconds};
    } else {
        BERTH_TRY(duration, base::parse_duration(said->text));
        time = duration;
    }
    if (time <= most) return std::optional(time);
    return base::invalid(member + ": wanted 0s to " + base::format(most) + ", found " +
                         base::format(time));
}

// What is to become of which job.
struct Order {
    model::JobId job;
    std::optional<base::Duration> grace;
};

base::Result<Order> read_order(const Call& call) {
    BERTH_TRY(job, call.job());
    BERTH_TRY(grace, read_time(call.request.body, "grace", model::kPauseGraceMax));
    return Order{job, grace};
}

// Calls `carry_out` with the order and what is to be called when it is done.
void steer(Site& site, const Call& call, const auto& carry_out) {
    const auto order = read_order(call);
    if (!order) return call.respond(problem(order.error()));
    carry_out(*order, [&site, id = order->job, respond = call.respond](const base::Status& status) {
        if (!status) return respond(problem(status.error()));
        respond_with_job(site, id, respond);
    });
}

}  // namespace

void post_job(Site& site, Call call) {
    auto submission = read_submission(site, call);
    if (!submission) return call.respond(problem(submission.error()));
    if (const auto small = model::check_limits(submission->launch); !small) {
        return call.respond(refused(small.error()));
    }
    if (call.text("dryRun") == "true") return call.respond(dry_run(site, *submission));
    const std::string project = submission->spec.project;
    site.controller.submit(
        std::move(*submission),
        [&site, project, respond = std::move(call.respond)](const auto& outcome) {
            answer_submission(site, respond, project, outcome);
        });
}

void pause_job(Site& site, Call call) {
    steer(site, call, [&](const Order& order, auto done) {
        site.controller.pause(order.job, call.request.user, order.grace, std::move(done));
    });
}

void resume_job(Site& site, Call call) {
    steer(site, call, [&](const Order& order, auto done) {
        site.controller.resume(order.job, call.request.user, std::move(done));
    });
}

void cancel_job(Site& site, Call call) {
    steer(site, call, [&](const Order& order, auto done) {
        site.controller.cancel(order.job, call.request.user, order.grace, std::move(done));
    });
}

void keep_job(Site& site, Call call) {
    const auto job = call.job();
    if (!job) return call.respond(problem(job.error()));
    const auto time = read_time(call.request.body, "for", kKeepMax);
    if (!time) return call.respond(problem(time.error()));
    const model::JobKept kept{*job, site.clock.now() + time->value_or(kKeep)};
    site.controller.record(kept, call.request.user,
                           [&site, id = *job, respond = call.respond](const base::Status& status) {
                               if (!status) return respond(refused(status.error()));
                               respond_with_job(site, id, respond);
                           });
}

void patch_job(Site& site, Call call) {
    const auto job = call.job();
    if (!job) return call.respond(problem(job.error()));
    const auto change = codec::parse_job_change(call.request.body);
    if (!change) return call.respond(problem(change.error()));
    const std::string& key = call.request.idempotency_key;
    if (!key.empty() && !model::is_name(key)) return call.respond(problem(no_key(key)));
    const auto done = [&site, id = *job, respond = call.respond](const base::Status& status) {
        if (!status) return respond(refused(status.error()));
        respond_with_job(site, id, respond);
    };
    site.controller.set_request(*job, {change->request, change->may_requeue, key},
                                call.request.user, done);
}

}  // namespace berth::api
