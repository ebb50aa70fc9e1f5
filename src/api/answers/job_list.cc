// SPDX-License-Identifier: Apache-2.0
//
// Which jobs are listed? By number, page after page, or in one page those that matter most to who
// asks: its own before others', those that hold GPUs before those that wait, and of these the next
// to start. What a row costs is paid for those of the page alone.
#include <algorithm>
#include <tuple>

#include "api/answers/job_views.h"
#include "api/answers/routes.h"
#include "api/http/problem.h"
#include "codec/text/json_writer.h"
#include "codec/words/words.h"

namespace berth::api {
namespace {

constexpr std::int64_t kPageUsual = 100;
constexpr std::int64_t kPageMax = 1'000;
constexpr std::int64_t kFinishedShown = 20;
// Ended jobs of one user are looked for among this many.
constexpr std::int64_t kFinishedSearched = 2'000;

struct Filter {
    std::string project;
    std::string user;
    std::string name;                     // "resnet" or "vision/resnet"
    std::vector<model::JobState> states;  // empty = all, as the others

    bool accepts(const model::JobRecord& record) const {
        return (project.empty() || record.spec.project == project) &&
               (user.empty() || record.user == user) && (name.empty() || is_called(record.spec)) &&
               (states.empty() || std::ranges::find(states, record.state) != states.end());
    }
    bool is_called(const model::JobSpec& spec) const {
        return spec.name == name || spec.project + "/" + spec.name == name;
    }
    bool is_narrow() const { return !user.empty() || !name.empty() || !states.empty(); }
};

// "running,queued" -> states; what is none was refused (asked.h).
std::vector<model::JobState> states_in(std::string_view text) {
    std::vector<model::JobState> states;
    while (!text.empty()) {
        const std::size_t comma = std::min(text.find(','), text.size());
        const auto state = codec::from_word<model::JobState>(text.substr(0, comma));
        if (state) states.push_back(*state);
        text.remove_prefix(std::min(comma + 1, text.size()));
    }
    return states;
}

// How early a job comes in a list by importance.
struct Rank {
    bool is_others = false;
    int standing = 0;  // holds GPUs, is promised some, is in line, or waits for a person
    cluster::PriorityKey priority_key;
    int gang_phase = 0;
    model::TimePoint created;
    model::JobId id;

    bool operator<(const Rank& other) const {
        return std::tie(is_others, standing, other.priority_key, gang_phase, created, id) <
               std::tie(other.is_others, other.standing, priority_key, other.gang_phase,
                        other.created, other.id);
    }
};

Rank rank_of(const cluster::Job& job, const model::JobRecord& record, const std::string& user) {
    Rank rank{record.user != user, 0, {}, 0, record.created, record.id};
    if (!record.tasks.empty()) return rank;
    rank.standing = job.reservation ? 1 : job.is_waiting() ? 2 : 3;
    rank.priority_key = job.queue_priority();
    rank.gang_phase = job.gang_phase();
    return rank;
}

// With how many are left out.
using Listed = std::pair<codec::Page<codec::JobView>, std::size_t>;

Listed by_importance(const Sight& sight, const Filter& filter, const std::string& user,
                     std::size_t many) {
    const lifecycle::State& state = sight.state();
    std::vector<Rank> ranks;
    ranks.reserve(state.jobs.size());
    for (const auto& [id, record] : state.jobs) {
        if (!filter.accepts(record)) continue;
        ranks.push_back(rank_of(state.cluster.job(id), record, user));
    }
    Listed listed;
    if (ranks.size() > many) {
        listed.second = ranks.size() - many;
        const auto end = ranks.begin() + static_cast<std::ptrdiff_t>(many);
        std::ranges::nth_element(ranks, end, std::less{});
        ranks.erase(end, ranks.end());
    }
    for (const Rank& rank : ranks) {
        listed.first.items.push_back(view_of(sight, state.jobs.at(rank.id)));
    }
    return listed;
}

Listed by_number(const Sight& sight, const Filter& filter, model::JobId after, std::size_t many) {
    codec::Page<codec::JobView> page;
    const auto& live = sight.state().jobs;
    for (auto at = live.upper_bound(after); at != live.end(); ++at) {
        if (!filter.accepts(at->second)) continue;
        if (page.items.size() == many) {
            page.next = std::to_string(page.items.back().id.value);
            break;
        }
        page.items.push_back(view_of(sight, at->second));
    }
    return {std::move(page), 0};
}

base::Result<Listed> live_jobs(const Sight& sight, const Call& call, const Filter& filter) {
    BERTH_TRY(limit, call.number("limit", kPageUsual));
    BERTH_TRY(after, call.number("after", 0));
    const auto many = static_cast<std::size_t>(std::clamp<std::int64_t>(limit, 1, kPageMax));
    if (call.text("order") == "importance")
        return by_importance(sight, filter, call.request.user, many);
    return by_number(sight, filter, {after}, many);
}

// Those that have ended stand on the first page.
base::Result<std::vector<model::JobRecord>> ended_jobs(const Sight& sight, const Call& call,
                                                       const Filter& filter) {
    BERTH_TRY(count, call.number("finished", kFinishedShown));
    BERTH_TRY(after, call.number("after", 0));
    ports::FinishedQuery query;
    BERTH_TRY(before, call.number("finished_before", query.before.value));
    if (count > kPageMax) {
        return base::invalid("finished: wanted at most " + std::to_string(kPageMax) +
                             "; finished_before=JOB asks for earlier ones");
    }
    if (count == 0 || after > 0) return std::vector<model::JobRecord>{};
    query.project = filter.project;
    const lifecycle::State& state = sight.state();
    query.before = {std::min(before, state.last_job.value + 1)};
    // Of those that have ended many lived at a moment that is past.
    const bool are_searched = filter.is_narrow() || sight.is_past();
    query.limit = static_cast<int>(are_searched ? kFinishedSearched : count);
    BERTH_TRY(found, sight.site().store.finished_jobs(query));
    std::erase_if(found, [&](const auto& record) {
        return !filter.accepts(record) || state.jobs.find(record.id) != state.jobs.end();
    });
    if (std::ssize(found) > count) found.resize(static_cast<std::size_t>(count));
    return std::move(found);
}

// The same as lines, with what was foreseen: a tenth of the bytes.
std::string rows_json(const codec::Page<codec::JobView>& page, const codec::NameSource& names) {
    std::string body = R"({"items":[)";
    for (const codec::JobView& view : page.items) {
        if (!body.ends_with('[')) body += ',';
        codec::append_job_row(body, row_of(view), names);
        if (view.foresight) {
            add_member(body, "foresight", codec::foresight_json(*view.foresight, names));
        }
    }
    body += "]}";
    std::string next;
    codec::append_json_string(next, page.next);
    add_member(body, "next", next);
    return body;
}

base::Status list_jobs(Site& site, const Call& call) {
    const Filter filter{call.text("project"), call.text("user"), call.text("name"),
                        states_in(call.text("state"))};
    const Sight sight(site, call);
    BERTH_TRY(live, live_jobs(sight, call, filter));
    BERTH_TRY(ended, ended_jobs(sight, call, filter));
    const auto answer = [sight, respond = call.respond, ended = std::move(ended),
                         is_row = call.text("view") == "row", next = live.first.next,
                         more = live.second](std::vector<codec::JobView> views) {
        codec::Page<codec::JobView> page{std::move(views), next};
        for (const model::JobRecord& record : ended) page.items.push_back({record, {}, {}});
        std::ranges::sort(page.items, {}, [](const model::JobRecord& record) { return record.id; });
        std::string body =
            is_row ? rows_json(page, names(sight)) : codec::job_list_json(page, names(sight));
        add_member(body, "more", std::to_string(more));
        respond(json_response(std::move(body)));
    };
    if (call.text("foresee") == "true" && !sight.is_past()) {
        site.foresight.estimate(std::move(live.first.items), answer);
    } else {
        answer(std::move(live.first.items));
    }
    return {};
}

}  // namespace

void get_jobs(Site& site, Call call) {
    if (const auto listed = list_jobs(site, call); !listed) call.respond(problem(listed.error()));
}

}  // namespace berth::api
