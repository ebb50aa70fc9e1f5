// SPDX-License-Identifier: Apache-2.0
#include "kube/client/transport/outcome.h"

#include <algorithm>
#include <charconv>
#include <utility>

namespace berth::kube::client {
namespace {

// A day: what is longer is a mistake.
constexpr std::int64_t kRetryAfterMaxS = 86'400;
constexpr std::size_t kMessageMax = 1024;

std::optional<base::Duration> seconds_of(std::int64_t seconds) {
    if (seconds <= 0) return std::nullopt;
    return base::Duration{1000 * std::min(seconds, kRetryAfterMaxS)};
}

void read_causes(codec::JsonReader& reader, ApiStatus& status) {
    for (reader.begin_array(); reader.next_element();) {
        std::string_view key;
        for (reader.begin_object(); reader.next_key(key);) {
            if (key == "reason") {
                if (reader.read_text() == "ResourceVersionTooLarge") {
                    status.is_version_too_large = true;
                }
            } else {
                reader.skip();
            }
        }
    }
}

void read_details(codec::JsonReader& reader, ApiStatus& status) {
    std::string_view key;
    for (reader.begin_object(); reader.next_key(key);) {
        if (key == "retryAfterSeconds") {
            status.retry_after = seconds_of(reader.read_int());
        } else if (key == "causes" && reader.peek() == codec::JsonReader::Type::Array) {
            read_causes(reader, status);
        } else {
            reader.skip();
        }
    }
}

}  // namespace

ApiStatus read_status(codec::JsonReader& reader) {
    ApiStatus status;
    std::string_view key;
    for (reader.begin_object(); reader.next_key(key);) {
        if (key == "code") {
            status.code = static_cast<int>(reader.read_int());
        } else if (key == "reason") {
            status.reason = reader.read_text();
        } else if (key == "message") {
            status.message = reader.read_text().substr(0, kMessageMax);
        } else if (key == "details" && reader.peek() == codec::JsonReader::Type::Object) {
            read_details(reader, status);
        } else {
            reader.skip();
        }
    }
    return status;
}

std::optional<base::Duration> parse_retry_after(std::string_view text) {
    std::int64_t seconds = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
    if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return seconds_of(seconds);
}

Outcome outcome_of(Effect effect, const Head& head, std::string body) {
    Outcome outcome;
    outcome.code = head.code;
    outcome.retry_after = head.retry_after;
    if (head.code >= 200 && head.code < 300) {
        outcome.kind = Outcome::Kind::Done;
        outcome.body = std::move(body);
        return outcome;
    }
    const bool may_be_done = effect == Effect::Write && head.code >= 500;
    outcome.kind = may_be_done ? Outcome::Kind::Unknown : Outcome::Kind::Refused;
    codec::JsonReader reader(body);
    ApiStatus status = read_status(reader);
    if (reader.is_failed()) {
        // A proxy between us and the server, or a server that is going down.
        outcome.message =
            "status " + std::to_string(head.code) + ": " + body.substr(0, kMessageMax);
        return outcome;
    }
    outcome.reason = std::move(status.reason);
    outcome.message = std::move(status.message);
    if (status.is_version_too_large) outcome.reason = "ResourceVersionTooLarge";
    if (!outcome.retry_after) outcome.retry_after = status.retry_after;
    return outcome;
}

}  // namespace berth::kube::client
