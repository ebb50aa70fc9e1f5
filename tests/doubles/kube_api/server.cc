// SPDX-License-Identifier: Apache-2.0
#include "doubles/kube_api/server.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <utility>

#include "codec/text/json.h"
#include "codec/words/timestamp.h"

namespace berth::tests::kube_api {
namespace {

using base::Duration;
using std::chrono::seconds;

constexpr std::size_t kEventsKept = 10'000;

std::string decoded(std::string_view text) {
    std::string out;
    for (std::size_t at = 0; at < text.size(); ++at) {
        unsigned byte = 0;
        if (text[at] == '%' && at + 2 < text.size()) {
            std::from_chars(text.data() + at + 1, text.data() + at + 3, byte, 16);
            out += static_cast<char>(byte);
            at += 2;
        } else {
            out += text[at];
        }
    }
    return out;
}

std::map<std::string, std::string> query_of(std::string_view text) {
    std::map<std::string, std::string> query;
    while (!text.empty()) {
        const std::string_view part = text.substr(0, text.find('&'));
        text.remove_prefix(std::min(text.size(), part.size() + 1));
        const std::size_t equals = part.find('=');
        query[std::string(part.substr(0, equals))] =
            equals == std::string_view::npos ? "" : decoded(part.substr(equals + 1));
    }
    return query;
}

std::vector<std::string> parts_of(std::string_view path) {
    std::vector<std::string> parts;
    while (!path.empty()) {
        path.remove_prefix(1);
        const std::string_view part = path.substr(0, path.find('/'));
        parts.emplace_back(part);
        path.remove_prefix(part.size());
    }
    return parts;
}

// A scalar at a path of members; empty when it is not there.
std::string text_at(const codec::Value& root, std::initializer_list<std::string_view> path) {
    const codec::Value* value = &root;
    for (const std::string_view name : path) {
        value = value->find(name);
        if (value == nullptr) return {};
    }
    return value->text;
}

codec::Value parsed(const std::string& body) {
    auto value = codec::parse_json(body, "body");
    return value ? std::move(*value) : codec::Value{};
}

std::string conflict(const std::string& why) { return status_of(409, "Conflict", why); }

bool does_not_match(const std::string& wanted, const std::string& is) {
    return !wanted.empty() && wanted != is;
}

void take_annotations(const codec::Value& body, Object& object) {
    const codec::Value* meta = body.find("metadata");
    const codec::Value* annotations = meta != nullptr ? meta->find("annotations") : nullptr;
    if (annotations == nullptr) return;
    for (const codec::Member& member : annotations->members) {
        object.annotations[member.name] = member.value.text;
    }
}

}  // namespace

std::string status_of(int code, std::string_view reason, std::string_view message,
                      std::string_view details) {
    return R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":")" +
           std::string(message) + R"(","reason":")" + std::string(reason) + R"(","details":)" +
           std::string(details) + R"(,"code":)" + std::to_string(code) + "}";
}

Server::Server(VirtualTime& time, std::uint64_t seed) : store(seed + 1), time_(time), dice_(seed) {
    store.on_event = [this](const Event& event) {
        std::erase_if(watchers_, [](const Watching& watcher) { return watcher->is_over; });
        for (const Watching& watcher : watchers_) {
            if (watcher->resource == event.object->resource) tell_soon(watcher);
        }
        store.compact(kEventsKept);
    };
}

std::unique_ptr<kube::client::Channel> Server::dial() {
    ++counts_.connections;
    auto session = std::make_shared<Session>(time_, dice_);
    session->latency_ms = latency_ms;
    session->piece_bytes = piece_bytes;
    std::erase_if(sessions_, [](const auto& old) { return old.expired(); });
    sessions_.push_back(session);
    const bool is_refused = is_down || draw(faults.refused);
    return std::make_unique<MemoryChannel>(
        std::move(session), is_refused,
        [this](Session& from, std::string_view bytes) { hear(from, bytes); });
}

void Server::break_all() {
    for (const Watching& watcher : watchers_) watcher->is_over = true;
    for (const auto& weak : sessions_) {
        if (const auto session = weak.lock()) session->hang_up();
    }
}

void Server::hear(Session& session, std::string_view bytes) {
    session.inbox += bytes;
    for (Request request; take_request(session.inbox, request); request = {}) {
        ++counts_.requests;
        act(session.shared_from_this(), request);
    }
}

bool Server::take_request(std::string& inbox, Request& request) {
    const std::size_t end = inbox.find("\r\n\r\n");
    if (end == std::string::npos) return false;
    std::string_view head = std::string_view(inbox).substr(0, end + 2);
    const std::string_view first = head.substr(0, head.find("\r\n"));
    head.remove_prefix(first.size() + 2);
    const std::size_t space = first.find(' ');
    const std::string_view target = first.substr(space + 1, first.rfind(' ') - space - 1);
    request.method = first.substr(0, space);
    request.path = decoded(target.substr(0, target.find('?')));
    if (const auto mark = target.find('?'); mark != std::string_view::npos) {
        request.query = query_of(target.substr(mark + 1));
    }
    while (!head.empty()) {
        const std::string_view line = head.substr(0, head.find("\r\n"));
        head.remove_prefix(line.size() + 2);
        const std::size_t colon = line.find(':');
        std::string name(line.substr(0, colon));
        std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::tolower(c); });
        request.headers[name] = line.substr(colon + 2);
    }
    const std::size_t length = request.headers.contains("content-length")
                                   ? std::stoul(request.headers["content-length"])
                                   : 0;
    if (inbox.size() < end + 4 + length) return false;
    request.body = inbox.substr(end + 4, length);
    inbox.erase(0, end + 4 + length);
    return true;
}

void Server::act(const std::shared_ptr<Session>& session, const Request& request) {
    counts_.most_at_once = std::max(counts_.most_at_once, ++at_once_);
    Duration work{dice_.between(0, latency_ms)};
    if (draw(faults.stalled)) {
        work = seconds(30);
        if (request.method != "GET") {
            // No write is carried out later than the time that it was given.
            time_.start(Duration{dice_.between(0, 4000)}, [this, request] { route(request); });
            time_.start(work, [this, session] { --at_once_, session->hang_up(); });
            return;
        }
    }
    time_.start(work, [this, session, request] {
        --at_once_;
        answer(session, request);
    });
}

// True when nothing was done, and that has been said or not.
bool Server::fail_first(const std::shared_ptr<Session>& session, const Request& request) {
    if (draw(faults.lost_before)) return session->hang_up(), true;
    const bool is_known =
        token.empty() || (request.headers.contains("authorization") &&
                          request.headers.at("authorization") == "Bearer " + token);
    if (!is_known || draw(faults.unauthorized)) {
        return say(session, {401, status_of(401, "Unauthorized", "Unauthorized")}), true;
    }
    if (draw(faults.too_many)) {
        const std::string after = std::to_string(dice_.between(1, 4));
        say(session, {429, status_of(429, "TooManyRequests", "too many requests"),
                      "Retry-After: " + after + "\r\n"});
        return true;
    }
    if (request.method != "GET" && draw(faults.conflicts)) {
        return say(session, {409, conflict("the object has been modified")}), true;
    }
    if (draw(faults.broken)) {
        static constexpr std::array kCodes{500, 503, 504};
        const int code = kCodes[dice_.index(kCodes.size())];
        if (request.method != "GET" && dice_.chance(1, 2)) route(request);
        const bool is_status = dice_.chance(1, 2);
        say(session, {code, is_status ? status_of(code, "InternalError", "etcd") : "oops"});
        return true;
    }
    return false;
}

void Server::answer(const std::shared_ptr<Session>& session, const Request& request) {
    if (fail_first(session, request)) return;
    const auto parts = parts_of(request.path);
    const bool is_more = request.query.contains("watch") || request.query.contains("continue");
    if (is_more && draw(faults.expired)) {
        return say(session, {410, status_of(410, "Expired", "too old resource version")});
    }
    if (request.query.contains("watch")) return watch(session, parts.back(), request);
    const Answer made = route(request);
    if (made.code == 0) {
        // Gives up on what it has tried for as long as it was given.
        time_.start(seconds(4), [session] { session->hang_up(); });
        return;
    }
    if (draw(faults.lost_after)) return session->hang_up();
    if (draw(faults.cut)) {
        session->say("HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(made.body.size()) +
                     "\r\n\r\n" + made.body.substr(0, made.body.size() / 2));
        return session->hang_up();
    }
    say(session, made);
}

void Server::say(const std::shared_ptr<Session>& session, const Answer& answer) {
    std::string text = "HTTP/1.1 " + std::to_string(answer.code) + " Some\r\n" + answer.headers;
    if (piece_bytes > 0 && dice_.chance(1, 3)) {
        char size[20];
        const auto end = std::to_chars(size, size + sizeof size, answer.body.size(), 16).ptr;
        text += "Transfer-Encoding: chunked\r\n\r\n";
        if (!answer.body.empty()) text += std::string(size, end) + "\r\n" + answer.body + "\r\n";
        text += "0\r\n\r\n";
    } else {
        text += "Content-Length: " + std::to_string(answer.body.size()) + "\r\n\r\n" + answer.body;
    }
    session->say(std::move(text));
}

// .../namespaces/NS/RESOURCE/NAME[/PART], or .../RESOURCE
Server::Answer Server::route(const Request& request) {
    const auto parts = parts_of(request.path);
    const auto at = std::ranges::find(parts, "namespaces");
    if (request.method == "PATCH" && at == parts.end()) {  // the status of what is in no namespace
        const Held whole = store.find(parts.end()[-3], "/" + parts.end()[-2]);
        if (!whole) return {404, status_of(404, "NotFound", "not found")};
        return {200, whole->json};
    }
    if (at == parts.end() || at + 1 == parts.end()) return list(parts.back(), request);
    if (parts.end() - at < (at[2] == "leases" ? 3 : 4)) {
        return {404, status_of(404, "NotFound", "no such path")};
    }
    const std::string& resource = at[2];
    if (resource == "leases") return lease(request, at[1], parts.end() - at > 3 ? at[3] : "");
    const Held object = store.find(resource, at[1] + "/" + at[3]);
    if (!object) return {404, status_of(404, "NotFound", "not found")};
    if (request.method == "GET") return {200, object->json};
    if (resource == "jobs") return write_job(request, object);
    return write_pod(request, parts.end() - at > 4 ? at[4] : "", object);
}

Server::Answer Server::list(const std::string& resource, const Request& request) {
    const std::size_t limit = std::min(page_most, std::stoul(request.query.at("limit")));
    std::string version = std::to_string(store.version());
    std::size_t from = 0;
    Snapshot all;
    if (const auto more = request.query.find("continue"); more != request.query.end()) {
        // VERSION:FROM:NUMBER
        version = more->second.substr(0, more->second.find(':'));
        from = std::stoul(more->second.substr(version.size() + 1));
        const auto kept = snapshots_.find(more->second);
        if (kept == snapshots_.end() || std::stoull(version) < store.compacted()) {
            return {410, status_of(410, "Expired", "the provided continue parameter is too old")};
        }
        all = std::move(kept->second);
        snapshots_.erase(kept);
    } else {
        all = store.snapshot(resource);
    }
    std::string items;
    const std::size_t to = std::min(all.size(), from + limit);
    for (std::size_t i = from; i < to; ++i) items += (i == from ? "" : ",") + all[i]->json;
    std::string more;
    if (to < all.size()) {
        more = version + ":" + std::to_string(to) + ":" + std::to_string(++snapshots_made_);
        snapshots_[more] = std::move(all);
        if (snapshots_.size() > 8) snapshots_.erase(snapshots_.begin());
    }
    return {200, R"({"kind":"List","apiVersion":"v1","metadata":{"resourceVersion":")" + version +
                     R"(","continue":")" + more + R"("},"items":[)" + items + "]}"};
}

Server::Answer Server::bind(const Request& request, const Held& pod) {
    const codec::Value body = parsed(request.body);
    if (text_at(body, {"metadata", "name"}) != pod->name) {
        return {400, status_of(400, "BadRequest", "name in URL does not match name in Binding")};
    }
    if (does_not_match(text_at(body, {"metadata", "uid"}), pod->uid)) {
        return {409, conflict("Precondition failed: UID in precondition")};
    }
    if (!pod->node.empty()) return {409, conflict("pod is already assigned to node")};
    if (!is_bind_allowed) return {403, status_of(403, "Forbidden", "a policy denies it")};
    Object now = *pod;
    now.node = text_at(body, {"target", "name"});
    now.placed = codec::format_time(std::chrono::floor<seconds>(time_.now()));
    take_annotations(body, now);
    store.change(now);
    ++counts_.bound;
    return {201,
            R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Success","code":201})"};
}

Server::Answer Server::write_pod(const Request& request, const std::string& part, const Held& pod) {
    if (part == "binding") return bind(request, pod);
    const codec::Value body = parsed(request.body);
    if (part == "status") {
        if (does_not_match(text_at(body, {"metadata", "uid"}), pod->uid)) {
            return {422, status_of(422, "Invalid", "metadata.uid: field is immutable")};
        }
        Object now = *pod;
        const codec::Value& condition = body.find("status")->find("conditions")->items.at(0);
        now.reason = condition.find("reason")->text;
        now.message = condition.find("message")->text;
        return {200, store.change(now)->json};
    }
    if (request.method == "PATCH") {  // of finalizers, which it does not keep
        if (does_not_match(text_at(body, {"metadata", "uid"}), pod->uid)) {
            return {409, conflict("the UID in the precondition")};
        }
        return {200, pod->json};
    }
    const codec::Value* options = part == "eviction" ? body.find("deleteOptions") : &body;
    if (part == "eviction" && !is_eviction_allowed) {
        return {429, status_of(429, "TooManyRequests", "would violate the disruption budget",
                               R"({"retryAfterSeconds":10})")};
    }
    const bool is_other = does_not_match(text_at(*options, {"preconditions", "uid"}), pod->uid);
    if (is_other && part == "eviction") return {0, {}};  // as 1.36.3 has it: it tries for ever
    if (is_other || does_not_match(text_at(*options, {"preconditions", "resourceVersion"}),
                                   std::to_string(pod->version))) {
        return {409, conflict("the object has been modified")};
    }
    store.remove(pod);
    return {part == "eviction" ? 201 : 200, pod->json};
}

Server::Answer Server::lease(const Request& request, const std::string& name_space,
                             const std::string& name) {
    const codec::Value body = request.method == "GET" ? codec::Value{} : parsed(request.body);
    Object now;
    now.resource = "leases";
    now.name_space = name_space;
    now.name = name.empty() ? text_at(body, {"metadata", "name"}) : name;
    const Held held = store.find("leases", now.key());
    if (request.method == "GET") {
        if (held) return {200, held->json};
        return {404, status_of(404, "NotFound", "not found")};
    }
    if (held) now = *held;
    const std::size_t spec = request.body.find("\"spec\"");
    now.content_json = request.body.substr(spec, request.body.size() - spec - 1);
    if (request.method == "POST") {
        if (held) return {409, status_of(409, "AlreadyExists", "it is there")};
        return {201, store.create(now)->json};
    }
    if (!held || does_not_match(text_at(body, {"metadata", "resourceVersion"}),
                                std::to_string(held->version))) {
        return {409, conflict("the object has been modified")};
    }
    return {200, store.change(now)->json};
}

Server::Answer Server::write_job(const Request& request, const Held& job) {
    const codec::Value body = parsed(request.body);
    if (does_not_match(text_at(body, {"metadata", "uid"}), job->uid) ||
        does_not_match(text_at(body, {"metadata", "resourceVersion"}),
                       std::to_string(job->version))) {
        return {409, conflict("the object has been modified")};
    }
    Object now = *job;
    const std::string suspend = text_at(body, {"spec", "suspend"});
    if (!suspend.empty()) now.is_suspended = suspend == "true";
    take_annotations(body, now);
    return {200, store.change(now)->json};
}

}  // namespace berth::tests::kube_api
