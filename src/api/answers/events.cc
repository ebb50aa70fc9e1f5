// SPDX-License-Identifier: Apache-2.0
//
// What happened? Events from the log, all or those of one job, with a long poll for the next ones.
#include <algorithm>

#include "api/answers/job_views.h"
#include "api/answers/routes.h"
#include "api/http/problem.h"
#include "codec/log/event_log.h"

namespace berth::api {
namespace {

constexpr std::int64_t kEventsMax = 1'000;

struct EventQuery {
    std::int64_t after = 0;
    std::int64_t limit = kEventsMax;
    model::JobId job;                  // not valid = all
    std::int64_t last = INT64_MAX;     // later ones are not there
};

struct Found {
    codec::Page<model::Event> page;
    std::int64_t searched_to = 0;      // everything up to here was looked at
};

base::Result<Found> find_events(Site& site, const EventQuery& query) {
    Found found;
    found.searched_to = query.after;
    const auto take = [&](model::Event&& event) {
        found.searched_to = event.sequence;
        found.page.items.push_back(std::move(event));
    };
    BERTH_TRY_VOID(query.job.is_valid()
                       ? site.store.read_events_of(query.job, query.after, query.limit, take)
                       : site.store.read_events(query.after, query.limit, take));
    const std::int64_t last = std::min(site.controller.state().sequence, query.last);
    const bool is_all = std::ssize(found.page.items) < query.limit || found.searched_to >= last;
    std::erase_if(found.page.items,
                  [&](const model::Event& event) { return event.sequence > last; });
    if (is_all) found.searched_to = last;
    if (found.searched_to < last) found.page.next = std::to_string(found.searched_to);
    return found;
}

void respond_with_events(const Sight& sight, const Respond& respond,
                         const base::Result<Found>& found) {
    if (!found) return respond(problem(found.error()));
    respond(json_response(codec::event_list_json(found->page, names(sight))));
}

}  // namespace

void get_events(Site& site, Call call) {
    const auto after = call.number("after", 0);
    const auto limit = call.number("limit", kEventsMax);
    const auto job = call.number("job", model::JobId{}.value);
    const auto wait = call.wait();
    if (!after) return call.respond(problem(after.error()));
    if (!limit) return call.respond(problem(limit.error()));
    if (!job) return call.respond(problem(job.error()));
    if (!wait) return call.respond(problem(wait.error()));
    const Sight sight(site, call);
    EventQuery query{*after, std::clamp<std::int64_t>(*limit, 1, kEventsMax), {*job}};
    if (sight.is_past()) query.last = sight.state().sequence;
    const auto found = find_events(site, query);
    const bool parks = !sight.is_past() && wait->count() > 0 && found &&
                       found->page.items.empty() && found->page.next.empty() &&
                       !site.waiting.is_full();
    if (!parks) return respond_with_events(sight, call.respond, found);
    site.waiting.park_for_events(
        site.clock.now() + *wait, call.request.client,
        [&site, query, respond = call.respond, seen = found->searched_to](bool is_last) mutable {
            EventQuery rest = query;
            rest.after = std::max(seen, query.after);
            const auto next = find_events(site, rest);
            if (next) seen = next->searched_to;
            if (next && next->page.items.empty() && !is_last) return false;
            respond_with_events(site, respond, next);
            return true;
        });
}

}  // namespace berth::api
