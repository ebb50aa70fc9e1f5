// SPDX-License-Identifier: Apache-2.0
//
// An API server in memory, for the client's tests: lists in pages, watches with bookmarks,
// bindings, patches, deletions, `Eviction` and Leases with preconditions, as Kubernetes 1.36
// answers. What goes wrong is drawn by seed. It answers in HTTP/1.1, through the client's real
// parser and state machine.
#pragma once

#include <functional>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "doubles/kube_api/session.h"
#include "doubles/kube_api/store.h"
#include "doubles/virtual_time.h"

namespace berth::tests::kube_api {

// How often something goes wrong, in a thousand requests.
struct Faults {
    int refused = 0;        // no connection
    int lost_before = 0;    // the connection breaks, nothing is done
    int lost_after = 0;     // it is done, and the connection breaks
    int cut = 0;            // it is done, and half of the answer arrives
    int stalled = 0;        // answered 30 s later; a write is done by then, and not answered
    int too_many = 0;       // 429 with Retry-After
    int conflicts = 0;      // 409, of writes
    int broken = 0;         // 500, 503, 504: done or not
    int unauthorized = 0;   // 401
    int expired = 0;        // 410, of watches and of a list's further pages
    int watch_expired = 0;  // an ERROR event with 410, some time later
    int watch_dropped = 0;  // the connection breaks, perhaps in the middle of an event
    int watch_silent = 0;   // nothing comes any more, not even its end
    int watch_held = 0;     // nothing comes for 30 s
    int watch_short = 0;    // ends as soon as it has begun
};

class Server final : public kube::client::Dialer {
  public:
    Server(VirtualTime& time, std::uint64_t seed);

    Store store;
    Faults faults;
    bool is_down = false;       // no connection is taken
    std::size_t page_most = 500;
    std::int64_t latency_ms = 5;
    std::int64_t piece_bytes = 0;
    std::string token;          // empty: everybody may
    bool is_eviction_allowed = true;
    bool is_bind_allowed = true;

    struct Counts {
        std::uint64_t connections = 0;
        std::uint64_t requests = 0;
        std::uint64_t bound = 0;
        std::size_t most_at_once = 0;
    };
    const Counts& counts() const { return counts_; }
    // Breaks every connection.
    void break_all();

    std::unique_ptr<kube::client::Channel> dial() override;

  private:
    struct Request {
        std::string method;
        std::string path;
        std::map<std::string, std::string> query;
        std::map<std::string, std::string> headers;  // names in lower case
        std::string body;
    };
    struct Answer {
        int code = 200;
        std::string body;
        std::string headers = {};
    };
    struct Watcher {
        std::shared_ptr<Session> session;
        std::string resource;
        std::uint64_t version = 0;
        base::TimePoint silent_until{};
        bool will_tell = false;
        bool is_over = false;
    };
    using Watching = std::shared_ptr<Watcher>;

    bool draw(int of_a_thousand) { return of_a_thousand > 0 && dice_.chance(of_a_thousand, 1000); }
    void hear(Session& session, std::string_view bytes);
    static bool take_request(std::string& inbox, Request& request);
    void act(const std::shared_ptr<Session>& session, const Request& request);
    bool fail_first(const std::shared_ptr<Session>& session, const Request& request);
    void answer(const std::shared_ptr<Session>& session, const Request& request);
    void say(const std::shared_ptr<Session>& session, const Answer& answer);
    Answer route(const Request& request);
    Answer list(const std::string& resource, const Request& request);
    Answer write_pod(const Request& request, const std::string& part, const Held& pod);
    Answer bind(const Request& request, const Held& pod);
    Answer write_job(const Request& request, const Held& job);
    Answer lease(const Request& request, const std::string& name_space, const std::string& name);
    // watches (watches.cc)
    void watch(const std::shared_ptr<Session>& session, const std::string& resource,
               const Request& request);
    void spoil(const Watching& watcher);
    void tell(const Watching& watcher);
    void tell_soon(const Watching& watcher);
    void chunk(const Watching& watcher, const std::string& text);
    void bookmark(const Watching& watcher);
    void end(const Watching& watcher);

    VirtualTime& time_;
    base::Rng dice_;
    std::map<std::string, Snapshot> snapshots_;  // of lists that go on, by token
    std::uint64_t snapshots_made_ = 0;
    std::list<Watching> watchers_;
    std::list<std::weak_ptr<Session>> sessions_;
    std::size_t at_once_ = 0;
    Counts counts_;
};

// A Status object of the API.
std::string status_of(int code, std::string_view reason, std::string_view message,
                      std::string_view details = "{}");

}  // namespace berth::tests::kube_api
