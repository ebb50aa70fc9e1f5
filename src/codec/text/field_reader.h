// SPDX-License-Identifier: Apache-2.0
//
// What do the fields of one map of a file say, and where exactly is it wrong?
//
// A FieldReader hands out fields by name with their defaults. The first thing wrong in a file is
// kept in Problems as one line naming file, line, field, what was wanted and what was found:
//   state.yaml:14: projects[2].quota: wanted a number of GPUs such as 4 or 0.5, found "many"
// Reading goes on with defaults, and the caller looks at Problems once at the end. An unread name
// is an error with the nearest known name.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/quantity.h"
#include "base/result.h"
#include "codec/text/json.h"
#include "codec/words/words.h"
#include "model/limits.h"

namespace berth::codec {

class Problems {
  public:
    explicit Problems(std::string_view file_name) : file_name_(file_name) {}

    // Keeps the first report. `path` may be empty.
    void report(int line, std::string_view path, std::string_view message);
    bool any() const { return first_.has_value(); }
    tl::unexpected<base::Error> first() const { return base::invalid(*first_); }

  private:
    std::string file_name_;
    std::optional<std::string> first_;
};

struct NumberRange {
    std::int64_t low = INT32_MIN;
    std::int64_t high = INT32_MAX;
};

class FieldReader {
  public:
    // `path` is empty for the whole file. A value that is no map is a problem.
    FieldReader(Problems& problems, const Value& map, std::string path);

    // The field's value, or null when it is missing or null. Makes the name a known one.
    const Value* find(std::string_view name);
    bool has(std::string_view name) { return find(name) != nullptr; }

    std::string text(std::string_view name, std::string_view fallback = "");
    // A name of something: needed, one line, at most 200 bytes.
    std::string needed_name(std::string_view name);
    bool flag(std::string_view name, bool fallback);
    std::int64_t whole(std::string_view name, std::int64_t fallback, NumberRange range = {});
    std::optional<int> maybe_whole(std::string_view name, NumberRange range);
    // A decimal with at most `places` places, as a whole number of its last place; not negative.
    std::optional<std::int64_t> decimal(std::string_view name, int places, std::string_view wanted);
    std::optional<base::Bytes> bytes(std::string_view name);
    // "90s" or a number of seconds.
    std::optional<base::Duration> duration(std::string_view name);
    // RFC 3339, or a time since the start as "90s", "-1h" or a number of seconds.
    std::optional<base::TimePoint> time(std::string_view name);
    model::Labels labels(std::string_view name);
    // One text or a list of texts.
    std::vector<std::string> texts(std::string_view name);

    template <typename E>
    E choice(std::string_view name, E fallback) {
        const Value* value = find(name);
        if (value == nullptr) return fallback;
        const auto found = value->is_scalar() ? from_word<E>(value->text) : std::nullopt;
        if (!found) refuse(name, listed(kWords<E>), did_you_mean(value->text, kWords<E>));
        return found.value_or(fallback);
    }

    template <typename E>
    std::optional<E> maybe_choice(std::string_view name) {
        return find(name) == nullptr ? std::nullopt : std::optional<E>(choice(name, E{}));
    }

    // Calls `visit` for each item of a list with the item's path.
    void each(std::string_view name,
              const std::function<void(const Value& item, const std::string& path)>& visit);

    // Reports `wanted X, found Y` for a field that is there.
    void refuse(std::string_view name, std::string_view wanted, std::string_view hint = "");
    void report(std::string_view name, std::string_view message);
    std::string path_of(std::string_view name) const;
    int line() const { return map_.line; }

    // To be called last. `unsupported` are names that a later version will know.
    void finish(std::span<const std::string_view> unsupported = {});

  private:
    Problems& problems_;
    const Value& map_;
    std::string path_;
    std::vector<std::string_view> known_;
};

// Reads a moment as FieldReader::time() does; none when it is not one.
std::optional<base::TimePoint> time_from(const Value& value);
// A whole number, also a negative one, as a time before 1970 is written.
std::optional<std::int64_t> whole_from(std::string_view text);
// A decimal number with at most `places` places as a whole number of its last place.
std::optional<std::int64_t> decimal_from(std::string_view text, int places);
using model::is_name;

// `stale_grace`: a duration, or never.
std::optional<base::Duration> read_or_never(FieldReader& fields, std::string_view name);

}  // namespace berth::codec
