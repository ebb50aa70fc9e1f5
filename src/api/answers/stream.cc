// SPDX-License-Identifier: Apache-2.0
//
// What changes while it changes, as server-sent events (WHATWG HTML, 9.2). Their ids are the log's:
// who shows the last one again (Last-Event-ID, ?after=) goes on where it was.
//   ?topics=jobs,overview   rows of jobs that changed, and the overview of who asks; once a second
//   ?topics=events          the log itself, from the beginning or ?after=; of one job by ?job=
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <ranges>

#include "api/answers/job_views.h"
#include "api/answers/routes.h"
#include "api/http/access.h"
#include "api/http/problem.h"
#include "cluster/jobs/queue.h"
#include "codec/log/event_log.h"

namespace berth::api {
namespace {

constexpr std::int64_t kEventsPerPiece = 500;

std::string message(std::string_view event, std::int64_t id, const std::string& data) {
    std::string text;
    text.reserve(data.size() + 64);
    if (!event.empty()) text.append("event: ").append(event) += '\n';
    if (id >= 0) text.append("id: ").append(std::to_string(id)) += '\n';
    return text.append("data: ").append(data).append("\n\n");
}

struct Topics {
    bool jobs = false;
    bool overview = false;
    bool events = false;
};

class NowFeed final : public Feed {
  public:
    NowFeed(Site& site, Viewer viewer, Topics topics, std::int64_t after)
        : Feed(site.live, std::move(viewer)), site_(site), topics_(topics), after_(after) {}

    bool shows_jobs() const override { return topics_.jobs; }

  private:
    Piece news() override {
        if (Piece piece = new_rows()) return piece;
        if (!topics_.overview || (topics_.jobs && seen_ == 0)) return {};
        Piece said = site_.live.overview(
            site_.controller.state(), viewer().user, [this](const overview::Overview& seen) {
                return message("overview", -1, overview_json(seen, viewer().user));
            });
        return std::exchange(overview_, said) == said ? Piece() : said;
    }

    Piece new_rows() {
        JobRows& rows = site_.live.rows();
        const JobRows::Revision now = rows.revision();
        if (!topics_.jobs || now == 0) return {};
        if (seen_ == 0 && after_ > 0) seen_ = rows.revision_at(after_);
        after_ = 0;
        if (seen_ == now) return {};
        const JobRows::Revision from = std::exchange(seen_, now);
        return site_.live.row_pieces().shared(
            from, now, [&] { return message("jobs", rows.sequence(), rows.since(from)); });
    }

    Site& site_;
    Topics topics_;
    std::int64_t after_;  // the last id that the viewer knows; 0 = none
    JobRows::Revision seen_ = 0;
    Piece overview_;  // as it was said last
};

class EventFeed final : public Feed {
  public:
    EventFeed(Site& site, Viewer viewer, model::JobId job, std::int64_t after)
        : Feed(site.live, std::move(viewer)), site_(site), job_(job), after_(after) {}

    bool shows_jobs() const override { return false; }

  private:
    Piece news() override {
        const std::int64_t last = site_.controller.state().sequence;
        if (after_ >= last) return {};
        if (job_.is_valid()) return of_job(last);
        const std::int64_t from = after_;
        after_ = std::min(last, from + kEventsPerPiece);
        return site_.live.event_pieces().shared(from, after_, [&] {
            std::string text;
            const auto add = [&](model::Event&& event) { say(text, event); };
            if (!site_.store.read_events(from, after_ - from, add)) after_ = from;
            return text;
        });
    }

    Piece of_job(std::int64_t last) {
        std::string text;
        std::int64_t found = 0;
        const auto add = [&](model::Event&& event) {
            ++found;
            after_ = event.sequence;
            say(text, event);
        };
        const bool is_read =
            site_.store.read_events_of(job_, after_, kEventsPerPiece, add).has_value();
        if (is_read && found < kEventsPerPiece) after_ = last;
        return text.empty() ? Piece() : site_.live.event_pieces().make(std::move(text));
    }

    void say(std::string& text, const model::Event& event) const {
        text += message("", event.sequence, codec::event_json(event, names(site_)));
    }

    Site& site_;
    model::JobId job_;  // not valid = all
    std::int64_t after_;  // the last event that was shown
};

// It waits among those of its project in each of its pools; the first says its position.
std::vector<JobLook::Position> positions_of(const cluster::Cluster& cluster, model::JobId id) {
    const cluster::Job& job = cluster.job(id);
    std::vector<JobLook::Position> positions;
    for (const base::PoolId pool : cluster.pools_of(job)) {
        const auto queue = (static_cast<std::int64_t>(pool.index()) << 32) +
                           static_cast<std::int64_t>(job.project.index());
        positions.push_back(
            {queue, cluster::position_in_queue(cluster.claim(pool, job.project).queue, job)});
    }
    return positions;
}

JobLook look_at(Site& site, const model::JobRecord& record) {
    codec::JobRow row = row_of(verdict_view(site, record));
    JobLook look{.line = {}};
    if (row.position > 0) {
        look.positions = positions_of(site.controller.state().cluster, record.id);
    }
    codec::JobRowParts parts = codec::job_row_parts(std::move(row), names(site));
    look.line = std::move(parts.line);
    look.explanation = std::move(parts.explanation);
    return look;
}

// Those that had ended before anyone looked.
void put_ended_jobs(Site& site) {
    ports::FinishedQuery newest;
    newest.limit = static_cast<int>(kEndedRowsMax);
    const auto ended = site.store.finished_jobs(newest);
    if (!ended) return;
    for (const model::JobRecord& record : *ended | std::views::reverse) {
        site.live.rows().put_ended(record.id, look_at(site, record).line);
    }
}

base::Result<Topics> topics_of(const Call& call) {
    Topics topics;
    const std::string asked = call.text("topics");
    for (std::string_view text = asked; !text.empty();) {
        const std::size_t comma = std::min(text.find(','), text.size());
        const std::string_view topic = text.substr(0, comma);
        topics.jobs = topics.jobs || topic == "jobs";
        topics.overview = topics.overview || topic == "overview";
        topics.events = topics.events || topic == "events";
        text.remove_prefix(std::min(comma + 1, text.size()));
    }
    if (asked.empty()) return base::invalid("topics: wanted some of jobs and overview, or events");
    if (topics.events && (topics.jobs || topics.overview)) {
        return base::invalid(
            "topics: events are numbered one by one; ask for them in a stream "
            "of their own");
    }
    return topics;
}

// The id that a browser shows again goes before the address, which stays as it was.
base::Result<std::int64_t> after_of(const Call& call) {
    const std::string& shown = call.request.last_event;
    if (shown.empty()) return call.number("after", 0);
    std::int64_t id = 0;
    const auto [end, error] = std::from_chars(shown.data(), shown.data() + shown.size(), id);
    if (error == std::errc() && end == shown.data() + shown.size() && id >= 0) return id;
    return base::invalid("Last-Event-ID: wanted a whole number, found \"" + shown + "\"");
}

base::Result<std::shared_ptr<Feed>> feed_of(Site& site, const Call& call) {
    BERTH_TRY(topics, topics_of(call));
    BERTH_TRY(after, after_of(call));
    BERTH_TRY(job, call.number("job", model::JobId{}.value));
    const std::int64_t last = site.controller.state().sequence;
    if (topics.events && after > last) {
        return base::fail(base::ErrorCode::Conflict,
                          "the log ends with event " + std::to_string(last) +
                              ": it is not the one of which " + std::to_string(after) +
                              " is known; begin without an id");
    }
    const Request& request = call.request;
    Viewer viewer{request.user, request.rights, request.session};
    if (topics.events) return std::make_shared<EventFeed>(site, viewer, model::JobId{job}, after);
    return std::make_shared<NowFeed>(site, viewer, topics, after);
}

}  // namespace

void get_stream(Site& site, Call call) {
    const auto feed = feed_of(site, call);
    if (!feed) return call.respond(problem(feed.error()));
    if (!site.live.has_room((*feed)->viewer(), user_name(::geteuid()))) {
        return call.respond(busy(503,
                                 "too many streams are open; close some, or ask for jobs "
                                 "and overview now and then",
                                 5));
    }
    Response response{
        200, {}, "text/event-stream", {{"Cache-Control", "no-store"}, {"X-Accel-Buffering", "no"}}};
    response.stream = *feed;
    if (call.request.method == "HEAD") return call.respond(std::move(response));
    const bool is_first = (*feed)->shows_jobs() && !site.live.shows_jobs();
    site.live.add(*feed);
    if (is_first) put_ended_jobs(site);
    call.respond(std::move(response));
}

void show_news(Site& site) {
    site.live.beat(
        {site.controller.state(), site.clock.now(),
         [&](const model::JobRecord& record) { return look_at(site, record); },
         [&](model::JobId job) {
             const auto ended = site.store.finished_job(job);
             if (ended) site.live.rows().put_ended(job, look_at(site, *ended).line);
         },
         [&](const std::string& session) { return site.sessions.find(session) != nullptr; }});
}

}  // namespace berth::api
