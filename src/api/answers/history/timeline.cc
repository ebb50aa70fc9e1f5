// SPDX-License-Identifier: Apache-2.0
//
// How is it with one job, what was it, and what is it expected to be? Why was it paused, each time?
// Which projects took GPUs from which?
#include <algorithm>

#include "api/answers/job_views.h"
#include "api/answers/routes.h"
#include "api/http/problem.h"
#include "codec/api/timeline_json.h"
#include "overview/job_sentence.h"
#include "timeline/expected.h"

namespace berth::api {
namespace {

// Asks `read` now or after some ticks, until it has read all there is; `then` gets it. Else answers
// with what went wrong. `what` is still being read.
template <typename Found>
void when_read(Site& site, const Call& call, std::function<base::Result<const Found*>()> read,
               std::function<void(const Found&)> then, std::string what) {
    const auto ask = [respond = call.respond, read = std::move(read), then = std::move(then),
                      what = std::move(what)](bool is_last) {
        const base::Result<const Found*> found = read();
        if (!found) {
            respond(problem(found.error()));
        } else if (*found != nullptr) {
            then(**found);
        } else if (is_last) {
            respond(problem(503, what + " are still being read; ask again"));
        } else {
            return false;
        }
        return true;
    };
    if (ask(site.waiting.is_full())) return;
    site.waiting.park_for_ticks(site.clock.now() + kWaitMax, call.request.client, ask);
}

// Calls `then` with the past of the job.
void with_past(Site& site, const Call& call, std::function<void(model::JobId, const Past&)> then) {
    const auto job = call.job();
    if (!job) return call.respond(problem(job.error()));
    const Sight sight(site, call);
    if (const auto record = sight.record_of(*job); !record)
        return call.respond(problem(record.error(), "berth ls -a"));
    const auto read = [&site, id = *job, sight] {
        return sight.is_past() ? site.past.read_on(id, sight.state().sequence)
                               : site.past.read_on(id);
    };
    when_read<Past>(
        site, call, read, [id = *job, then = std::move(then)](const Past& past) { then(id, past); },
        "the many events of job " + std::to_string(job->value));
}

overview::Chance chance_of(const codec::JobView& job) {
    const bool is_never = job.verdict && (job.verdict->reason == model::Reason::NeverFits ||
                                          job.verdict->reason == model::Reason::Invalid);
    return is_never ? overview::Chance::Never : overview::Chance::Runs;
}

void add_future(const Sight& sight, model::JobTimeline& timeline, const codec::JobView& job) {
    if (!sight.is_past()) {
        const model::RunTime run = sight.site().foresight.run_time(job);
        const auto start = job.foresight ? job.foresight->start_estimate : std::nullopt;
        timeline.evidence = run.evidence;
        timeline.expected = timeline::expected(job, start, run, timeline.now);
    }
    timeline.sentence =
        overview::job_sentence(job, timeline.expected, chance_of(job), timeline.now);
}

}  // namespace

void get_timeline(Site& site, Call call) {
    const Sight sight(site, call);
    with_past(site, call, [sight, respond = call.respond](model::JobId id, const Past& past) {
        auto view = view_of(sight, id);
        if (!view) return respond(problem(view.error(), "berth ls -a"));
        auto then = [sight, respond,
                     timeline = past.spans.timeline(sight.now())](const auto& complete) mutable {
            add_future(sight, timeline, complete);
            respond(json_response(codec::timeline_json(timeline, names(sight))));
        };
        if (sight.is_past()) return then(*view);
        sight.site().foresight.complete(std::move(*view), std::move(then));
    });
}

void get_receipts(Site& site, Call call) {
    with_past(site, call, [&site, respond = call.respond](model::JobId id, const Past& past) {
        model::JobReceipts receipts = past.receipts.receipts();
        const auto record = Sight(site).record_of(id);
        // What the order knew of both, only the state says, of the last.
        const bool is_last = record && record->last_pause && !receipts.items.empty() &&
                             record->last_pause->time == receipts.items.front().time;
        if (is_last) receipts.items.front().order = record->last_pause->order;
        respond(json_response(codec::receipts_json(receipts, names(site))));
    });
}

// Of ?project=NAME, or of all.
void get_takings(Site& site, Call call) {
    const auto read = [&site] { return site.past.read_takings(site.controller.state().sequence); };
    const auto then = [&site, project = call.text("project"),
                       respond = call.respond](const timeline::Takings& takings) {
        respond(json_response(
            codec::takings_json({takings.of(project), site.past.takings_after()}, names(site))));
    };
    when_read<timeline::Takings>(site, call, read, then, "the last events");
}

}  // namespace berth::api
