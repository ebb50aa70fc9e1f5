// SPDX-License-Identifier: Apache-2.0
//
// What became of a request? Done, refused by the server with its reason, not sent at all, or
// unknown: sent, and no answer that says whether it was carried out. Who gets Unknown for a write
// reads the object before it decides anything (read_bind in writes.h).
//
// A write that is answered with 5xx is unknown: the server may have given up waiting for its store,
// which carries it out all the same. 429 is sent before anything is done, and to an `Eviction` that
// a PodDisruptionBudget does not allow.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/quantity.h"
#include "codec/text/json_reader.h"

namespace berth::kube::client {

struct Outcome {
    enum class Kind { Done, Refused, Unknown, NotSent };

    Kind kind = Kind::Unknown;
    int code = 0;  // HTTP status, 0 without an answer
    std::string body;  // of what is done
    std::string reason;  // of what is refused: Conflict, NotFound, Expired ...
    std::string message;  // in words, when it is not done
    std::optional<base::Duration> retry_after;

    bool is_done() const { return kind == Kind::Done; }
};

struct Head {
    int code = 0;
    std::optional<base::Duration> retry_after;
};

enum class Effect { None, Write };

// Of an answer that has arrived whole.
Outcome outcome_of(Effect effect, const Head& head, std::string body);

// What a Status object of the API says, by itself or in an ERROR event.
struct ApiStatus {
    int code = 0;
    std::string reason;
    std::string message;
    std::optional<base::Duration> retry_after;
    bool is_version_too_large = false;  // the server has not come so far, or never will
};
ApiStatus read_status(codec::JsonReader& reader);

// The value of a Retry-After header: seconds. A date is not read.
std::optional<base::Duration> parse_retry_after(std::string_view text);

}  // namespace berth::kube::client
