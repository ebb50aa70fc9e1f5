// SPDX-License-Identifier: Apache-2.0
//
// How does a cache stay as the server is? It lists in pages, then watches from there. A watch that
// ends goes on from the last resourceVersion; one that is too old (410, as an answer or as an
// event) begins with a list again, behind a back-off.
//
// A watch is asked for half a minute at most. So a connection that is dead, or a server that says
// nothing more, is noticed by a watch that does not end, and each end proves that nothing was
// missed until then: a cache is never taken for fresh longer than is_stale() says. Victims are not
// chosen from a stale cache.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "kube/client/caches/backoff.h"
#include "kube/client/caches/shelf.h"
#include "kube/client/caches/watch.h"
#include "kube/client/transport/requests.h"
#include "kube/client/transport/timers.h"

namespace berth::kube::client {

inline constexpr int kPageObjects = 500;
// A watch's time is drawn between these, so that those of several resources do not end together.
inline constexpr std::int64_t kWatchLeastS = 15;
inline constexpr std::int64_t kWatchMostS = 22;
// How much later than asked a watch may end.
inline constexpr base::Duration kWatchGrace = std::chrono::seconds(5);
inline constexpr base::Duration kStaleAfter = std::chrono::seconds(30);
// The time after which a kind that is not known is asked for again.
inline constexpr base::Duration kMissingLook = std::chrono::seconds(30);

struct Resource {
    std::string path;           // /api/v1/pods
    std::string selection = {};  // fieldSelector=..., encoded for an address
    bool may_be_missing = false;  // the server may not know the kind: then there are none of it
};

class Reflector {
  public:
    // What it has done so far, for metrics.
    struct Counts {
        std::uint64_t lists = 0;      // whole ones
        std::uint64_t watches = 0;    // begun
        std::uint64_t events = 0;     // added, modified, deleted
        std::uint64_t gone = 0;       // 410 and the like
        std::uint64_t silent = 0;     // watches that did not end in time
        std::uint64_t failures = 0;   // everything else that did not go well

        void add(const Counts& other);
    };

    // `seed` for the back-off and for the length of watches.
    Reflector(Requests& requests, Timers& timers, Resource resource, Shelf& shelf,
              std::uint64_t seed);
    ~Reflector();
    Reflector(const Reflector&) = delete;
    Reflector& operator=(const Reflector&) = delete;

    void start() { list(); }

    // A whole list has been read since the start, or there is no such kind.
    bool is_synced() const { return fresh_.has_value(); }
    // How long ago the cache was known to be as the server was.
    std::optional<base::Duration> age() const;
    bool is_stale() const { return !fresh_ || (!is_missing_ && *age() > kStaleAfter); }
    // What goes wrong at the moment, empty when nothing does.
    const std::string& trouble() const { return trouble_; }
    const Counts& counts() const { return counts_; }

  private:
    void list();
    void ask_page();
    void take_page(Outcome outcome);
    void take_missing();
    bool read_page(std::string_view body);
    void watch();
    bool take_line(std::string_view line);
    void take_event(EventType type, codec::JsonReader& reader);
    void take_watch_end(const Outcome& outcome);
    void take_silence();
    // Begins with a list again, or tries again what failed.
    void list_later(std::string why);
    void again_later(std::string why, std::optional<base::Duration> asked);
    void ask_version();
    void take_version(const Outcome& outcome);
    void heard();

    Requests& requests_;
    Timers& timers_;
    Resource resource_;
    Shelf& shelf_;
    base::Rng dice_;
    Backoff relist_;
    Backoff retry_;
    Timer next_;
    Timer silence_;
    std::unique_ptr<LongAnswer> watch_;
    Lines lines_;

    bool is_listing_ = true;
    bool is_missing_ = false;
    std::string continue_;  // of the list that is being read
    std::string room_;      // for its next page
    base::TimePoint list_since_;
    base::TimePoint watch_since_;
    std::string version_;  // where the watch goes on
    std::optional<base::TimePoint> fresh_;
    std::string trouble_;
    // Set by an event that ends a watch.
    std::optional<ApiStatus> ended_by_;
    std::string broken_by_;
    Counts counts_;
    std::shared_ptr<bool> is_here_ = std::make_shared<bool>(true);
};

}  // namespace berth::kube::client
