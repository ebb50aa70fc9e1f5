// SPDX-License-Identifier: Apache-2.0
#include "kube/client/caches/watch.h"

#include <algorithm>
#include <array>

namespace berth::kube::client {
namespace {

EventType type_of(std::string_view name) {
    static constexpr std::array<std::string_view, 5> kNames{"ADDED", "MODIFIED", "DELETED",
                                                            "BOOKMARK", "ERROR"};
    return static_cast<EventType>(std::ranges::find(kNames, name) - kNames.begin());
}

// The server writes the type first. Where it does not, the line is read twice.
EventType find_type(std::string_view line) {
    codec::JsonReader reader(line, codec::JsonReader::Zero::Replaced);
    std::string_view key;
    for (reader.begin_object(); reader.next_key(key);) {
        if (key == "type") return type_of(reader.read_text());
        reader.skip();
    }
    return EventType::Unknown;
}

}  // namespace

base::Status read_event(std::string_view line, const TakeEvent& take) {
    codec::JsonReader reader(line, codec::JsonReader::Zero::Replaced);
    EventType type = EventType::Unknown;
    bool has_object = false;
    std::string_view key;
    for (reader.begin_object(); reader.next_key(key);) {
        if (key == "type") {
            type = type_of(reader.read_text());
        } else if (key == "object" && !has_object) {
            has_object = true;
            if (type == EventType::Unknown) type = find_type(line);
            take(type, reader);
        } else {
            reader.skip();
        }
    }
    reader.finish();
    if (!has_object) reader.fail("wanted an event with an object");
    if (reader.is_failed()) return base::invalid("an event cannot be read: " + reader.error());
    return {};
}

base::Result<bool> Lines::add(std::string_view piece, const Take& take) {
    while (!piece.empty()) {
        const std::size_t end = piece.find('\n');
        if (begun_.size() + std::min(end, piece.size()) > kEventBytesMax) {
            return base::fail(base::ErrorCode::Exhausted, "an event is larger than 8 MiB");
        }
        if (end == std::string_view::npos) {
            begun_ += piece;
            return true;
        }
        const bool is_whole = begun_.empty();
        if (!is_whole) begun_ += piece.substr(0, end);
        const std::string_view line = is_whole ? piece.substr(0, end) : std::string_view(begun_);
        const bool goes_on = line.empty() || take(line);
        begun_.clear();
        piece.remove_prefix(end + 1);
        if (!goes_on) return false;
    }
    return true;
}

}  // namespace berth::kube::client
