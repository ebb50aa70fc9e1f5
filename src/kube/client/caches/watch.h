// SPDX-License-Identifier: Apache-2.0
//
// How do the pieces of a watch become events? One a line, each {"type": ..., "object": ...}.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "codec/text/json_reader.h"

namespace berth::kube::client {

// The store of the API server holds objects of 1.5 MB at most.
inline constexpr std::size_t kEventBytesMax = std::size_t{8} << 20;

enum class EventType { Added, Modified, Deleted, Bookmark, Error, Unknown };

// Reads a line. `take` gets the reader at the object and reads it, to its end.
// Errors: Invalid, when the line is no event, or `take` fails the reader.
using TakeEvent = std::function<void(EventType, codec::JsonReader&)>;
base::Status read_event(std::string_view line, const TakeEvent& take);

// Cuts a stream into lines. A line that comes in one piece is not copied.
class Lines {
  public:
    // False: stop. Errors: Exhausted, for a line longer than kEventBytesMax.
    using Take = std::function<bool(std::string_view)>;
    base::Result<bool> add(std::string_view piece, const Take& take);

  private:
    std::string begun_;
};

}  // namespace berth::kube::client
