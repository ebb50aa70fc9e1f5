// SPDX-License-Identifier: Apache-2.0
#include "cli/client/client.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <thread>

#include "base/percent.h"
#include "cli/command_line/arguments.h"
#include "codec/text/json.h"
#include "codec/words/timestamp.h"
#include "codec/words/words.h"

namespace berth::cli {
namespace {

constexpr std::string_view kBase = "/api/v1/";

std::string target_of(std::string_view path) { return std::string(kBase) + std::string(path); }

std::string job_target(model::JobId id, std::string_view rest = {}) {
    return target_of("jobs/" + std::to_string(id.value) + std::string(rest));
}

std::string text_of(const codec::Value& value, std::string_view name) {
    const codec::Value* member = value.find(name);
    return member && member->is_scalar() ? member->text : std::string();
}

// Of a refusal; about a flag, where it is about the field that one set.
std::string cause_of(const codec::Value& problem, const Context& context) {
    std::string cause = text_of(problem, "detail");
    if (cause.empty()) cause = text_of(problem, "title");
    return context.typed == nullptr ? cause : context.typed->in_flags(cause);
}

int exit_code_of_status(int status) {
    switch (status) {
        case 400:
        case 413: return kBadUsage;
        case 401:
        case 403: return kForbidden;
        case 404: return kNoSuchThing;
        case 409:
        case 429: return kFailed;
        case 422: return kJobNeverRuns;
        default: return status >= 500 ? kServerUnreachable : kFailed;
    }
}

std::string seconds_text(base::Duration wait) {
    return std::to_string(std::max<std::int64_t>(0, (wait.count() + 999) / 1000));
}

constexpr int kPageRows = 250;  // what a server answers without keeping others waiting
constexpr int kBusyRetries = 2;

HttpRequest at_moment(HttpRequest request, base::TimePoint at) {
    request.target += request.target.find('?') == std::string::npos ? "?at=" : "&at=";
    request.target += base::percent_encoded(codec::format_time(at));
    return request;
}

template <typename T>
tl::unexpected<Failure> unreadable(const base::Result<T>& answer) {
    return refuse(kServerUnreachable,
                  "the server's answer cannot be read: " + answer.error().message,
                  "berth version; berth status");
}

}  // namespace

Client::Client(const Context& context, base::Duration patience, int interrupt)
    : context_(context), patience_(patience), connection_(context.address, interrupt) {}

Failure Client::no_answer(const base::Error& error) const {
    if (error.message == "interrupted") return {kDetached, "interrupted", ""};
    if (error.code == base::ErrorCode::Forbidden) {
        return {kForbidden, error.message, "ask the owner of the server for a token"};
    }
    if (error.code != base::ErrorCode::Unavailable) {
        return {kServerUnreachable, error.message, command_line(context_, "status")};
    }
    const bool is_remote = context_.address.socket.empty();
    if (!is_remote && context_.data_dir.empty()) return no_home();
    return {kServerUnreachable, error.message,
            is_remote ? std::string("check BERTH_URL") : command_line(context_, "up")};
}

Failure Client::refused(const HttpResponse& response) const {
    Failure failure{exit_code_of_status(response.status), "", ""};
    if (const auto problem = codec::parse_json(response.body, "answer")) {
        failure.cause = cause_of(*problem, context_);
        failure.hint = text_of(*problem, "hint");
        // Well formed and beyond a limit, not a job that could run elsewhere.
        const bool has_verdict = problem->find("verdict") != nullptr;
        if (response.status == 422 && !has_verdict) failure.exit_code = kBadUsage;
    }
    if (failure.cause.empty()) {
        failure.cause = "the server answered with HTTP status " + std::to_string(response.status);
    }
    return failure;
}

// A refusal has the same sentence in its body.
void Client::take_notice(const HttpResponse& response) {
    const std::string_view notice = response.header("berth-notice");
    const bool is_new = notice_.empty() && !notice.empty();
    notice_ = notice;
    if (is_new && prints_notices_ && response.status < 300) {
        print_notice(context_.err.paint(Tone::Warning, "berth:") + " " + printable(notice_) + "\n");
    }
}

Outcome<HttpResponse> Client::send(const HttpRequest& request, base::Duration extra) {
    auto response = connection_.send(request, patience_ + extra);
    for (int again = 0; again < kBusyRetries && response && response->is_turned_away(); ++again) {
        std::this_thread::sleep_for(std::chrono::seconds(1));
        response = connection_.send(request, patience_ + extra);
    }
    if (!response) return tl::unexpected(no_answer(response.error()));
    take_notice(*response);
    if (response->status >= 300) return tl::unexpected(refused(*response));
    return std::move(*response);
}

Outcome<std::string> Client::body_of(const HttpRequest& request, base::Duration extra) {
    auto response = send(context_.at ? at_moment(request, *context_.at) : request, extra);
    if (!response) return tl::unexpected(response.error());
    return std::move(response->body);
}

Outcome<std::string> Client::post(const std::string& target, std::string body) {
    return body_of({.method = "POST", .target = target_of(target), .body = std::move(body)});
}

Outcome<std::string> Client::get(const std::string& target) {
    return body_of({.target = target_of(target)});
}

Outcome<codec::Value> Client::get_tree(const std::string& target) {
    const auto body = body_of({.target = target});
    if (!body) return tl::unexpected(body.error());
    auto tree = codec::parse_json(*body, "answer");
    if (!tree) return unreadable(tree);
    return std::move(*tree);
}

Outcome<JobList> Client::jobs(const JobQuery& query) {
    std::string target = "jobs?finished=" + std::to_string(query.finished);
    if (!query.state.empty()) target += "&state=" + base::percent_encoded(query.state);
    if (!query.project.empty()) target += "&project=" + base::percent_encoded(query.project);
    if (!query.user.empty()) target += "&user=" + base::percent_encoded(query.user);
    if (query.foresees) target += "&foresee=true";
    target += "&limit=" + std::to_string(kPageRows);
    JobList list;
    for (std::string next = "0"; !next.empty();) {
        auto body = get(target + "&after=" + next);
        if (!body) return tl::unexpected(body.error());
        auto page = codec::parse_job_list(*body, list.names);
        if (!page) return unreadable(page);
        list.jobs.insert(list.jobs.end(), std::make_move_iterator(page->items.begin()),
                         std::make_move_iterator(page->items.end()));
        next = page->next;
        list.pages.push_back(std::move(*body));
    }
    // Those that have ended came with the first page.
    std::ranges::stable_sort(list.jobs, {}, [](const model::JobRecord& job) { return job.id; });
    return list;
}

Outcome<JobAnswer> Client::read_job(Outcome<std::string> body) const {
    if (!body) return tl::unexpected(body.error());
    JobAnswer answer;
    auto job = codec::parse_job(*body, answer.names);
    if (!job) return unreadable(job);
    answer.job = std::move(*job);
    answer.json = std::move(*body);
    return answer;
}

Outcome<JobAnswer> Client::job(model::JobId id) {
    return read_job(body_of({.target = job_target(id)}));
}

Outcome<JobAnswer> Client::foreseen_job(model::JobId id) {
    return read_job(body_of({.target = job_target(id, "?foresee=true")}));
}

Outcome<ShareAnswer> Client::fair_share(const std::string& project, const std::string& pool) {
    std::string target = "projects/" + base::percent_encoded(project) + "/fair-share";
    if (!pool.empty()) target += "?pool=" + base::percent_encoded(pool);
    auto body = get(target);
    if (!body) return tl::unexpected(body.error());
    auto account = codec::parse_share_account(*body);
    if (!account) return unreadable(account);
    return ShareAnswer{std::move(*account), std::move(*body)};
}

Outcome<std::string> Client::what_if(const std::vector<model::Hypothesis>& suppose) {
    return post("what-if", codec::what_if_request_json({suppose}, {}));
}

Outcome<JobAnswer> Client::wait_for_job(model::JobId id, const JobWait& wait) {
    std::string rest = "?wait=" + seconds_text(wait.at_most) + "&until=" + wait.until;
    if (wait.since > 0) rest += "&since=" + std::to_string(wait.since);
    return read_job(body_of({.target = job_target(id, rest)}, wait.at_most));
}

Outcome<std::string> Client::try_submission(const model::Submission& submission) {
    return post("jobs?dryRun=true", codec::submission_json(submission));
}

Outcome<JobAnswer> Client::order_job(model::JobId id, const JobOrder& order) {
    const std::string verb = order.verb.empty() ? "" : "/" + order.verb;
    return read_job(body_of({.method = order.verb.empty() ? "PATCH" : "POST",
                             .target = job_target(id, verb),
                             .body = order.body}));
}

Outcome<LogPiece> Client::log(model::JobId id, const LogQuery& query) {
    std::string rest = "/log?offset=" + std::to_string(query.offset);
    if (query.attempt > 0) rest += "&attempt=" + std::to_string(query.attempt);
    if (query.task >= 0) rest += "&task=" + std::to_string(query.task);
    if (query.wait.count() > 0) rest += "&wait=" + seconds_text(query.wait);
    auto response = send({.target = job_target(id, rest)}, query.wait);
    if (!response) return tl::unexpected(response.error());
    LogPiece piece;
    piece.next_offset = query.offset + static_cast<std::int64_t>(response->body.size());
    const std::string_view offset = response->header("berth-offset");
    std::from_chars(offset.data(), offset.data() + offset.size(), piece.next_offset);
    piece.is_end = response->header("berth-end") == "true";
    piece.bytes = std::move(response->body);
    return piece;
}

Outcome<AttachPlace> Client::attach(model::JobId id) {
    auto tree = get_tree(job_target(id, "/attach"));
    if (!tree) return tl::unexpected(tree.error());
    AttachPlace place;
    place.socket = text_of(*tree, "socket");
    const std::string attempt = text_of(*tree, "attempt");
    std::from_chars(attempt.data(), attempt.data() + attempt.size(), place.attempt);
    return place;
}

Success Client::more_events(EventList& list, model::JobId job, base::Duration wait) {
    std::string target = target_of("events?after=" + std::to_string(list.next_after));
    if (job.is_valid()) target += "&job=" + std::to_string(job.value);
    if (wait.count() > 0) target += "&wait=" + seconds_text(wait);
    const auto body = body_of({.target = target}, wait);
    if (!body) return tl::unexpected(body.error());
    auto page = codec::parse_event_list(*body, list.names);
    if (!page) return unreadable(page);
    list.has_more = !page->next.empty();
    if (!page->items.empty()) list.next_after = page->items.back().sequence;
    std::from_chars(page->next.data(), page->next.data() + page->next.size(), list.next_after);
    for (model::Event& event : page->items) list.events.push_back(std::move(event));
    return {};
}

Outcome<EventList> Client::events(model::JobId job) {
    EventList list;
    do {
        if (const Success more = more_events(list, job, base::Duration{0}); !more) {
            return tl::unexpected(more.error());
        }
    } while (list.has_more);
    return list;
}

template <typename Parse>
auto Client::get_as(const std::string& target, Parse parse)
    -> Outcome<typename decltype(parse(std::string_view()))::value_type> {
    const auto body = get(target);
    if (!body) return tl::unexpected(body.error());
    auto answer = parse(*body);
    if (!answer) return unreadable(answer);
    return std::move(*answer);
}

Outcome<NodeList> Client::nodes() {
    NodeList list;
    auto page =
        get_as("nodes", [&](auto text) { return codec::parse_node_list(text, list.names); });
    if (!page) return tl::unexpected(page.error());
    list.nodes = std::move(page->items);
    return list;
}

Outcome<std::vector<codec::ProjectView>> Client::projects() {
    return get_as("projects", codec::parse_project_list).map([](auto page) { return page.items; });
}

Outcome<std::vector<codec::PoolView>> Client::pools() {
    return get_as("pools", codec::parse_pool_list).map([](auto page) { return page.items; });
}

Outcome<codec::PolicyView> Client::policy() { return get_as("policy", codec::parse_policy); }

Outcome<codec::PoolView> Client::pool(const std::string& name) {
    const auto known = pools();
    if (!known) return tl::unexpected(known.error());
    std::vector<std::string_view> names;
    for (const codec::PoolView& pool : *known) {
        if (pool.name == name) return pool;
        names.push_back(pool.name);
    }
    return refuse(kNoSuchThing, "no pool \"" + name + "\"" + codec::did_you_mean(name, names),
                  "berth pool ls");
}

Success Client::remove(std::string_view kind, const std::string& name) {
    auto response =
        send({.method = "DELETE",
              .target = target_of(std::string(kind) + "/" + base::percent_encoded(name))});
    if (!response) return tl::unexpected(response.error());
    return {};
}

Outcome<std::vector<std::string>> Client::change(std::string_view kind, const std::string& name,
                                                 const std::string& body) {
    if (kind != "nodes" && name.find('/') != std::string::npos) {
        return bad_usage("wanted a name without a slash, found \"" + name + "\"");
    }
    const std::string path = name.empty() ? "" : "/" + base::percent_encoded(name);
    auto response =
        send({.method = "PUT", .target = target_of(std::string(kind) + path), .body = body});
    if (!response) return tl::unexpected(response.error());
    std::vector<std::string> warnings;
    const auto tree = codec::parse_json(response->body, "answer");
    const codec::Value* list = tree ? tree->find("warnings") : nullptr;
    if (list == nullptr) return warnings;
    for (const codec::Value& warning : list->items) warnings.push_back(warning.text);
    return warnings;
}

Outcome<codec::ServerView> Client::status() { return get_as("status", codec::parse_server); }

Success Client::shut_down(const std::string& jobs) {
    auto response = send(
        {.method = "POST", .target = target_of("shutdown"), .body = R"({"jobs":")" + jobs + "\"}"});
    if (!response) return tl::unexpected(response.error());
    return {};
}

Outcome<model::JobId> Client::resolve(const std::string& text) {
    model::JobId id;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), id.value);
    if (error == std::errc() && end == text.data() + text.size() && id.value > 0) return id;

    const auto list = jobs({.finished = 100});
    if (!list) return tl::unexpected(list.error());
    const auto rank = [](const model::JobRecord& record) {
        return std::pair(!model::is_final(record.state), record.id);
    };
    const model::JobRecord* found = nullptr;
    std::vector<std::string_view> names;
    for (const model::JobRecord& record : list->jobs) {
        names.push_back(record.spec.name);
        const bool is_named =
            text == record.spec.name || text == record.spec.project + "/" + record.spec.name;
        if (is_named && (!found || rank(record) > rank(*found))) found = &record;
    }
    if (found) return found->id;
    return refuse(kNoSuchThing, "no job \"" + text + "\"" + codec::did_you_mean(text, names),
                  "berth ls -a");
}

}  // namespace berth::cli
