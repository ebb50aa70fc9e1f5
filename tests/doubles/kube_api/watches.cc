// SPDX-License-Identifier: Apache-2.0
//
// How the API server of the tests watches.
#include <algorithm>
#include <charconv>
#include <chrono>

#include "doubles/kube_api/server.h"

namespace berth::tests::kube_api {
namespace {

using base::Duration;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::uint64_t kBookmarkEveryMs = 6000;

std::string chunk_of(std::string_view text) {
    char size[20];
    const auto end = std::to_chars(size, size + sizeof size, text.size(), 16).ptr;
    return std::string(size, end) + "\r\n" + std::string(text) + "\r\n";
}

}  // namespace

void Server::watch(const std::shared_ptr<Session>& session, const std::string& resource,
                   const Request& request) {
    const std::string& from = request.query.at("resourceVersion");
    auto watcher = std::make_shared<Watcher>();
    watcher->session = session;
    watcher->resource = resource;
    std::from_chars(from.data(), from.data() + from.size(), watcher->version);
    const bool is_old = watcher->version < store.compacted();
    if (is_old && dice_.chance(1, 2)) {
        return say(session, {410, status_of(410, "Expired", "too old resource version")});
    }
    session->say(
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
        "Transfer-Encoding: chunked\r\n\r\n");
    // Of a version to come, as after a backup was put back, 1.36.3 says nothing until it is
    // reached.
    if (is_old) {
        const std::string status = status_of(410, "Expired", "too old resource version");
        chunk(watcher, R"({"type":"ERROR","object":)" + status + "}\n");
        return session->say(chunk_of(""));
    }
    watchers_.push_back(watcher);
    std::int64_t length_s = 1800;
    if (const auto asked = request.query.find("timeoutSeconds"); asked != request.query.end()) {
        length_s = std::stoll(asked->second);
    }
    if (draw(faults.watch_short)) length_s = 0;
    time_.start(seconds(length_s), [this, watcher] { end(watcher); });
    time_.start(milliseconds(kBookmarkEveryMs), [this, watcher] { bookmark(watcher); });
    spoil(watcher);
    tell_soon(watcher);
}

// What goes wrong with it later.
void Server::spoil(const Watching& watcher) {
    const Duration later{dice_.between(0, 20'000)};
    if (draw(faults.watch_silent)) watcher->silent_until = time_.now() + std::chrono::hours(1);
    if (draw(faults.watch_held)) watcher->silent_until = time_.now() + seconds(30);
    if (draw(faults.watch_expired)) {
        time_.start(later, [this, watcher] {
            if (watcher->is_over || watcher->silent_until > time_.now()) return;
            const std::string status = status_of(410, "Expired", "compacted");
            chunk(watcher, R"({"type":"ERROR","object":)" + status + "}\n");
            end(watcher);
        });
    }
    if (draw(faults.watch_dropped)) {
        time_.start(later, [this, watcher] {
            if (watcher->is_over) return;
            if (dice_.chance(1, 2)) {
                watcher->session->say(R"(200
{"type":"MODIFIED","object":{"kind":"Pod","metadata":{"name":"ha)");
            }
            watcher->is_over = true;
            watcher->session->hang_up();
        });
    }
}

void Server::tell_soon(const Watching& watcher) {
    if (std::exchange(watcher->will_tell, true)) return;
    const Duration wait = std::max(Duration{0}, watcher->silent_until - time_.now());
    time_.start(wait + Duration{dice_.between(0, latency_ms)}, [this, watcher] {
        watcher->will_tell = false;
        if (!watcher->is_over) tell(watcher);
    });
}

void Server::tell(const Watching& watcher) {
    if (watcher->version < store.compacted()) {
        // The watch cache has let go of changes that this watcher has not had.
        chunk(watcher, R"({"type":"ERROR","object":)" +
                           status_of(410, "Expired", "too old resource version") + "}\n");
        return end(watcher);
    }
    std::string text;
    for (const Event& event : store.events_since(watcher->resource, watcher->version)) {
        text += R"({"type":")" + event.type + R"(","object":)" + event.object->json + "}\n";
        watcher->version = event.version;
    }
    if (!text.empty()) chunk(watcher, text);
}

// In chunks that do not end where events do.
void Server::chunk(const Watching& watcher, const std::string& text) {
    const std::size_t cut = piece_bytes > 0 ? dice_.index(text.size()) : 0;
    std::string bytes;
    if (cut > 0) bytes = chunk_of(std::string_view(text).substr(0, cut));
    watcher->session->say(bytes + chunk_of(std::string_view(text).substr(cut)));
}

void Server::bookmark(const Watching& watcher) {
    if (watcher->is_over || watcher->session->is_left()) {
        watcher->is_over = true;
        return;
    }
    if (watcher->silent_until <= time_.now() && !watcher->will_tell) {
        tell(watcher);
        if (watcher->is_over) return;
        watcher->version = std::max(watcher->version, store.version());
        chunk(watcher, R"({"type":"BOOKMARK","object":{"kind":"Pod","apiVersion":"v1","metadata":)"
                       R"({"resourceVersion":")" +
                           std::to_string(watcher->version) + R"(","creationTimestamp":null}}})" +
                           "\n");
    }
    time_.start(milliseconds(kBookmarkEveryMs), [this, watcher] { bookmark(watcher); });
}

void Server::end(const Watching& watcher) {
    if (watcher->is_over) return;
    if (watcher->silent_until > time_.now()) {
        time_.start(watcher->silent_until - time_.now(), [this, watcher] { end(watcher); });
        return;
    }
    const bool is_behind = watcher->version >= store.compacted();
    if (is_behind && watcher->version < store.version()) tell(watcher);
    watcher->is_over = true;
    watcher->session->say(chunk_of(""));
}

}  // namespace berth::tests::kube_api
