// SPDX-License-Identifier: Apache-2.0
//
// What were all jobs in some time, and what are they expected to be? Of those that live, what is
// expected comes with the question: their records, and one forecast for those that wait.
#include <algorithm>

#include "api/answers/job_views.h"
#include "api/answers/routes.h"
#include "api/http/problem.h"
#include "codec/words/timestamp.h"
#include "timeline/expected.h"

namespace berth::api {
namespace {

constexpr base::Duration kHour{3'600'000};
constexpr base::Duration kBefore{6 * kHour};
constexpr base::Duration kBehind{4 * kHour};
constexpr std::int64_t kJobsMax = 1'000;
// The most that are foreseen of those that run and of those that wait, the first by number.
constexpr std::size_t kRunningForeseen = 5'000;
constexpr std::size_t kWaitingForeseen = 500;

base::Result<model::TimePoint> time_in(const Call& call, std::string_view name,
                                       model::TimePoint fallback) {
    const std::string text = call.text(name);
    if (text.empty()) return fallback;
    return codec::parse_time(text);
}

base::Result<timeline::SpansAsked> read_query(Site& site, const Call& call, model::TimePoint now) {
    timeline::SpansAsked asked;
    BERTH_TRY(to, time_in(call, "to", now + kBehind));
    BERTH_TRY(from, time_in(call, "from", std::min(now, to) - kBefore));
    BERTH_TRY(after, call.number("after", 0));
    BERTH_TRY(limit, call.number("limit", kJobsMax));
    // Times are those of clients, which may be some days off.
    asked.from = from - site.clock.date_shift();
    asked.to = to - site.clock.date_shift();
    asked.project = call.text("project");
    asked.user = call.text("user");
    asked.after = {after};
    asked.jobs_max = static_cast<std::size_t>(std::clamp<std::int64_t>(limit, 1, kJobsMax));
    if (from >= to) {
        return base::invalid("from: wanted a time before to=" + codec::format_time(to) +
                             ", found " + codec::format_time(from));
    }
    const std::string node = call.text("node");
    if (node.empty()) return asked;
    asked.node = site.controller.state().cluster.find_node(node);
    if (asked.node->is_valid()) return asked;
    return base::fail(base::ErrorCode::NotFound, "node \"" + node + "\" does not exist");
}

bool is_asked(const model::JobRecord& job, const timeline::SpansAsked& asked) {
    return job.id > asked.after && (asked.project.empty() || job.spec.project == asked.project) &&
           (asked.user.empty() || job.user == asked.user);
}

bool runs(const model::JobRecord& job) {
    return job.state == model::JobState::Starting || job.state == model::JobState::Running;
}

void expect(Site& site, SpanQuestion& question, const model::JobRecord& job,
            const std::optional<model::StartEstimate>& start) {
    const model::RunTime run = site.foresight.run_time(job);
    auto spans = timeline::expected(job, start, run, question.now);
    if (!spans.empty()) question.expected[job.id] = {std::move(spans), run.evidence};
}

// Of those that run at once; those that wait are answered with.
ForesightDesk::Views foresee_running(Site& site, SpanQuestion& question) {
    ForesightDesk::Views waiting;
    if (question.asked.to <= question.now) return waiting;
    for (const auto& [id, job] : site.controller.state().jobs) {
        if (!is_asked(job, question.asked)) continue;
        if (runs(job)) {
            if (question.expected.size() < kRunningForeseen) expect(site, question, job, {});
        } else if (!job.held && waiting.size() < kWaitingForeseen) {
            waiting.push_back(verdict_view(site, job));
        }
    }
    return waiting;
}

std::shared_ptr<const std::vector<std::string>> node_names(const cluster::Cluster& cluster) {
    auto names = std::make_shared<std::vector<std::string>>();
    for (std::size_t i = 0; i < cluster.nodes().size(); ++i) {
        names->push_back(cluster.node_name({static_cast<model::NodeId::Rep>(i)}));
    }
    return names;
}

void respond_with(const Respond& respond, base::Result<std::string> body, bool is_small) {
    if (!body && body.error().code == base::ErrorCode::Exhausted)
        return respond(busy(503, body.error().message, 1));
    if (!body) return respond(problem(body.error()));
    Response response = json_response(std::move(*body));
    if (is_small) response.headers.emplace_back("Content-Encoding", "gzip");
    response.headers.emplace_back("Vary", "Accept-Encoding");
    respond(std::move(response));
}

}  // namespace

void get_spans(Site& site, Call call) {
    SpanQuestion question;
    question.now = std::max(site.clock.now(), site.controller.state().time);
    question.date_shift = site.clock.date_shift();
    const auto asked = read_query(site, call, question.now + question.date_shift);
    if (!asked) return call.respond(problem(asked.error(), "berth node ls"));
    question.asked = *asked;
    question.last = site.controller.state().sequence;
    question.is_small = lists(call.request.accepted_encodings, "gzip");
    question.node_names = node_names(site.controller.state().cluster);
    auto waiting = foresee_running(site, question);
    auto kept = std::make_shared<SpanQuestion>(std::move(question));
    site.foresight.estimate(
        std::move(waiting), [&site, kept, respond = call.respond](ForesightDesk::Views foreseen) {
            for (const codec::JobView& job : foreseen) {
                if (job.foresight) expect(site, *kept, job, job.foresight->start_estimate);
            }
            const bool is_small = kept->is_small;
            site.spans.ask(std::move(*kept), [respond, is_small](base::Result<std::string> body) {
                respond_with(respond, std::move(body), is_small);
            });
        });
}

}  // namespace berth::api
