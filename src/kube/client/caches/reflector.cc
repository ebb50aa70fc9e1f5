// SPDX-License-Identifier: Apache-2.0
#include "kube/client/caches/reflector.h"

#include <utility>

#include "base/percent.h"

namespace berth::kube::client {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr Backoff::Bounds kRelist{milliseconds(800), seconds(30)};
constexpr Backoff::Bounds kRetry{milliseconds(100), seconds(5)};
constexpr base::Duration kAtOnce = seconds(1);

// The watch cannot go on from where it was.
bool is_gone(int code, std::string_view reason) {
    return code == 410 || reason == "Expired" || reason == "Gone" ||
           reason == "ResourceVersionTooLarge";
}

// Versions of one resource are decimal numbers that grow (documented since Kubernetes 1.35). Where
// they are something else, nothing is before anything.
bool is_before(std::string_view left, std::string_view right) {
    const auto is_number = [](std::string_view text) {
        return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
    };
    if (!is_number(left) || !is_number(right)) return false;
    return left.size() != right.size() ? left.size() < right.size() : left < right;
}

// A bookmark, or the metadata of a list.
struct ListMeta {
    std::string version;
    std::string more;  // continue
};

ListMeta read_list_meta(codec::JsonReader& reader) {
    ListMeta meta;
    std::string_view key;
    for (reader.begin_object(); reader.next_key(key);) {
        if (key == "resourceVersion") {
            meta.version = reader.read_text();
        } else if (key == "continue") {
            meta.more = reader.read_text();
        } else {
            reader.skip();
        }
    }
    return meta;
}

}  // namespace

void Reflector::Counts::add(const Counts& other) {
    lists += other.lists;
    watches += other.watches;
    events += other.events;
    gone += other.gone;
    silent += other.silent;
    failures += other.failures;
}

Reflector::Reflector(Requests& requests, Timers& timers, Resource resource, Shelf& shelf,
                     std::uint64_t seed)
    : requests_(requests),
      timers_(timers),
      resource_(std::move(resource)),
      shelf_(shelf),
      dice_(seed),
      relist_(kRelist, dice_.next()),
      retry_(kRetry, dice_.next()),
      next_(timers),
      silence_(timers) {}

Reflector::~Reflector() { *is_here_ = false; }

std::optional<base::Duration> Reflector::age() const {
    if (!fresh_) return std::nullopt;
    return timers_.now() - *fresh_;
}

void Reflector::heard() {
    fresh_ = timers_.now();
    trouble_.clear();
    relist_.reset();
    retry_.reset();
}

// The list

void Reflector::list() {
    is_listing_ = true;
    continue_.clear();
    ask_page();
}

void Reflector::ask_page() {
    if (continue_.empty()) {
        shelf_.begin_list();
        list_since_ = timers_.now();
    }
    Request request;
    request.target = resource_.path + "?limit=" + std::to_string(kPageObjects);
    if (!resource_.selection.empty()) request.target += "&" + resource_.selection;
    if (!continue_.empty()) request.target += "&continue=" + base::percent_encoded(continue_);
    request.room = std::move(room_);
    requests_.send(std::move(request), [this, here = is_here_](Outcome outcome) {
        if (*here) take_page(std::move(outcome));
    });
}

void Reflector::take_page(Outcome outcome) {
    if (!outcome.is_done()) {
        if (is_gone(outcome.code, outcome.reason)) return list_later(outcome.message);
        if (outcome.code == 404 && resource_.may_be_missing) return take_missing();
        return again_later(outcome.message, outcome.retry_after);
    }
    if (!read_page(outcome.body)) return;
    room_ = std::move(outcome.body);
    retry_.reset();
    if (!continue_.empty()) return ask_page();
    shelf_.end_list();
    is_missing_ = false;
    std::string().swap(room_);  // its memory is needed for a list alone
    ++counts_.lists;
    is_listing_ = false;
    fresh_ = list_since_;
    trouble_.clear();
    watch();
}

void Reflector::take_missing() {
    shelf_.end_list();
    is_missing_ = true;
    fresh_ = list_since_;
    trouble_.clear();
    next_.start(kMissingLook, [this] { list(); });
}

bool Reflector::read_page(std::string_view body) {
    ListMeta meta;
    codec::JsonReader reader(body, codec::JsonReader::Zero::Replaced);
    std::string_view key;
    for (reader.begin_object(); reader.next_key(key);) {
        if (key == "metadata") {
            meta = read_list_meta(reader);
        } else if (key == "items" && reader.peek() == codec::JsonReader::Type::Array) {
            for (reader.begin_array(); reader.next_element();) shelf_.put(reader);
        } else {
            reader.skip();
        }
    }
    reader.finish();
    if (meta.version.empty()) reader.fail("wanted a list with a resourceVersion");
    if (reader.is_failed()) {
        again_later("a list cannot be read: " + reader.error(), std::nullopt);
        return false;
    }
    version_ = std::move(meta.version);
    continue_ = std::move(meta.more);
    return true;
}

// The watch

void Reflector::watch() {
    const std::int64_t length_s = dice_.between(kWatchLeastS, kWatchMostS);
    Request request;
    request.target = resource_.path + "?watch=1&allowWatchBookmarks=true&resourceVersion=" +
                     base::percent_encoded(version_) +
                     "&timeoutSeconds=" + std::to_string(length_s);
    if (!resource_.selection.empty()) request.target += "&" + resource_.selection;
    ++counts_.watches;
    watch_since_ = timers_.now();
    ended_by_.reset();
    broken_by_.clear();
    lines_ = {};
    silence_.start(seconds(length_s) + kWatchGrace, [this] { take_silence(); });
    watch_ = requests_.open(
        std::move(request),
        [this](std::string_view piece) {
            const auto goes_on =
                lines_.add(piece, [this](std::string_view line) { return take_line(line); });
            if (!goes_on) broken_by_ = goes_on.error().message;
            return goes_on && *goes_on;
        },
        [this](const Outcome& outcome) { take_watch_end(outcome); });
}

bool Reflector::take_line(std::string_view line) {
    const auto read = read_event(
        line, [this](EventType type, codec::JsonReader& reader) { take_event(type, reader); });
    if (!read) broken_by_ = read.error().message;
    return read && !ended_by_;
}

void Reflector::take_event(EventType type, codec::JsonReader& reader) {
    std::string version;
    switch (type) {
        case EventType::Added:
        case EventType::Modified: version = shelf_.put(reader); break;
        case EventType::Deleted: version = shelf_.remove(reader); break;
        case EventType::Bookmark: {
            std::string_view key;
            for (reader.begin_object(); reader.next_key(key);) {
                if (key == "metadata") {
                    version = read_list_meta(reader).version;
                } else {
                    reader.skip();
                }
            }
            break;
        }
        case EventType::Error: ended_by_ = read_status(reader); return;
        case EventType::Unknown: reader.skip(); return;
    }
    if (version.empty()) return reader.fail("wanted an object with a resourceVersion");
    if (reader.is_failed()) return;
    if (type != EventType::Bookmark) ++counts_.events;
    version_ = std::move(version);
    heard();
}

void Reflector::take_watch_end(const Outcome& outcome) {
    watch_.reset();
    silence_.stop();
    if (ended_by_) {
        const ApiStatus status = *std::exchange(ended_by_, std::nullopt);
        const bool is_new = status.is_version_too_large || is_gone(status.code, status.reason);
        if (is_new) return list_later(status.message);
        return again_later(status.message, status.retry_after);
    }
    if (outcome.is_done()) {
        const bool is_at_once = timers_.now() - watch_since_ < kAtOnce;
        if (is_at_once) return again_later("a watch ended as soon as it began", std::nullopt);
        heard();
        return watch();
    }
    // What could not be read once cannot be read again: it is listed anew.
    if (!broken_by_.empty()) return list_later(std::exchange(broken_by_, {}));
    if (is_gone(outcome.code, outcome.reason)) return list_later(outcome.message);
    again_later(outcome.message, outcome.retry_after);
}

// Nothing more comes on this connection, not even its end.
void Reflector::take_silence() {
    ++counts_.silent;
    watch_.reset();
    trouble_ = "a watch did not end in time";
    watch();
}

void Reflector::list_later(std::string why) {
    ++counts_.gone;
    trouble_ = std::move(why);
    is_listing_ = true;
    next_.start(relist_.next(), [this] { list(); });
}

void Reflector::again_later(std::string why, std::optional<base::Duration> asked) {
    ++counts_.failures;
    trouble_ = std::move(why);
    next_.start(retry_.next(asked), [this] {
        if (is_listing_) {
            ask_page();
        } else {
            ask_version();
        }
    });
}

// A server whose store was put back from a backup takes a version that it has not reached, and then
// says nothing of what happens. So it is asked first, wherever it may be another one since.
void Reflector::ask_version() {
    Request request;
    request.target = resource_.path + "?limit=1";
    if (!resource_.selection.empty()) request.target += "&" + resource_.selection;
    requests_.send(std::move(request), [this, here = is_here_](const Outcome& outcome) {
        if (*here) take_version(outcome);
    });
}

void Reflector::take_version(const Outcome& outcome) {
    if (outcome.code == 404 && resource_.may_be_missing) return list_later(outcome.message);
    if (!outcome.is_done()) return again_later(outcome.message, outcome.retry_after);
    std::string version;
    std::string_view key;
    codec::JsonReader reader(outcome.body, codec::JsonReader::Zero::Replaced);
    for (reader.begin_object(); reader.next_key(key);) {
        if (key == "metadata") {
            version = read_list_meta(reader).version;
        } else {
            reader.pass_over();
        }
    }
    if (is_before(version, version_)) return list_later("the server has gone back in time");
    watch();
}

}  // namespace berth::kube::client
