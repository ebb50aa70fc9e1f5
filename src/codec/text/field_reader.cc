// SPDX-License-Identifier: Apache-2.0
#include "codec/text/field_reader.h"

#include <algorithm>
#include <charconv>

#include "codec/words/timestamp.h"

namespace berth::codec {
namespace {

constexpr std::string_view kWantedTime =
    "a time such as 2026-03-01T12:00:00Z, 90s or a number of seconds";

// "90s" or "90", with a sign in front where a moment may lie before the start.
std::optional<base::Duration> duration_from(std::string_view text) {
    if (const auto milliseconds = decimal_from(text, 3)) return base::Duration{*milliseconds};
    const auto duration = base::parse_duration(text);
    return duration ? std::optional(*duration) : std::nullopt;
}

}  // namespace

void Problems::report(int line, std::string_view path, std::string_view message) {
    if (first_) return;
    first_ = file_name_ + ":" + std::to_string(line) + ": ";
    if (!path.empty()) *first_ += std::string(path) + ": ";
    *first_ += message;
}

std::optional<std::int64_t> whole_from(std::string_view text) {
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return number;
}

std::optional<std::int64_t> decimal_from(std::string_view text, int places) {
    const auto dot = text.find('.');
    std::string digits(text.substr(0, dot));
    std::string_view decimals = dot == std::string_view::npos ? "" : text.substr(dot + 1);
    if (digits.empty() || digits[0] == '-') return std::nullopt;
    if (dot != std::string_view::npos && decimals.empty()) return std::nullopt;
    if (decimals.size() > static_cast<std::size_t>(places)) return std::nullopt;
    digits += decimals;
    digits.append(static_cast<std::size_t>(places) - decimals.size(), '0');
    const auto number = whole_from(digits);
    // Sums of such amounts must stay far inside 64 bits.
    return number && *number <= INT64_MAX / 1024 ? number : std::nullopt;
}

std::optional<base::TimePoint> time_from(const Value& value) {
    if (value.kind != Value::Kind::Number && value.kind != Value::Kind::String) return std::nullopt;
    std::string_view text = value.text;
    if (const auto time = parse_time(text)) return *time;
    const bool is_negative = text.starts_with('-');
    if (is_negative) text.remove_prefix(1);
    const auto since_start = duration_from(text);
    if (!since_start) return std::nullopt;
    return base::TimePoint{is_negative ? -*since_start : *since_start};
}

FieldReader::FieldReader(Problems& problems, const Value& map, std::string path)
    : problems_(problems), map_(map), path_(std::move(path)) {
    if (map.kind != Value::Kind::Map) {
        problems_.report(map.line, path_, "wanted a map of fields, found " + map.described());
    }
}

std::string FieldReader::path_of(std::string_view name) const {
    return path_.empty() ? std::string(name) : path_ + "." + std::string(name);
}

const Value* FieldReader::find(std::string_view name) {
    if (std::ranges::find(known_, name) == known_.end()) known_.push_back(name);
    const Value* value = map_.find(name);
    return value == nullptr || value->kind == Value::Kind::Null ? nullptr : value;
}

void FieldReader::refuse(std::string_view name, std::string_view wanted, std::string_view hint) {
    const Value* value = map_.find(name);
    const std::string found = value == nullptr ? "nothing" : value->described();
    problems_.report(value == nullptr ? map_.line : value->line, path_of(name),
                     "wanted " + std::string(wanted) + ", found " + found + std::string(hint));
}

void FieldReader::report(std::string_view name, std::string_view message) {
    const Value* value = map_.find(name);
    problems_.report(value == nullptr ? map_.line : value->line, path_of(name), message);
}

std::string FieldReader::text(std::string_view name, std::string_view fallback) {
    const Value* value = find(name);
    if (value == nullptr) return std::string(fallback);
    if (!value->is_scalar()) refuse(name, "a text");
    return value->text;
}

std::string FieldReader::needed_name(std::string_view name) {
    std::string found = text(name);
    if (!is_name(found)) refuse(name, "a name");
    return found;
}

bool FieldReader::flag(std::string_view name, bool fallback) {
    const Value* value = find(name);
    if (value == nullptr) return fallback;
    if (value->kind != Value::Kind::Bool) refuse(name, "true or false");
    return value->text == "true";
}

std::int64_t FieldReader::whole(std::string_view name, std::int64_t fallback, NumberRange range) {
    const Value* value = find(name);
    if (value == nullptr) return fallback;
    const auto number = value->is_scalar() ? whole_from(value->text) : std::nullopt;
    if (!number) {
        refuse(name, "a whole number");
    } else if (*number < range.low || *number > range.high) {
        refuse(name, "a whole number from " + std::to_string(range.low) + " to " +
                         std::to_string(range.high));
    } else {
        return *number;
    }
    return fallback;
}

std::optional<int> FieldReader::maybe_whole(std::string_view name, NumberRange range) {
    if (find(name) == nullptr) return std::nullopt;
    return static_cast<int>(whole(name, range.low, range));
}

std::optional<std::int64_t> FieldReader::decimal(std::string_view name, int places,
                                                 std::string_view wanted) {
    const Value* value = find(name);
    if (value == nullptr) return std::nullopt;
    const auto number = value->is_scalar() ? decimal_from(value->text, places) : std::nullopt;
    if (!number) refuse(name, wanted);
    return number;
}

std::optional<base::Bytes> FieldReader::bytes(std::string_view name) {
    const Value* value = find(name);
    if (value == nullptr) return std::nullopt;
    const auto amount = base::parse_bytes(value->text);
    if (amount && value->is_scalar()) return *amount;
    refuse(name, "an amount of memory such as 80G or 512M");
    return std::nullopt;
}

std::optional<base::Duration> FieldReader::duration(std::string_view name) {
    const Value* value = find(name);
    if (value == nullptr) return std::nullopt;
    const auto found = value->is_scalar() ? duration_from(value->text) : std::nullopt;
    if (!found) refuse(name, "a time such as 90s, 5m or 1h30m");
    return found;
}

std::optional<base::TimePoint> FieldReader::time(std::string_view name) {
    const Value* value = find(name);
    if (value == nullptr) return std::nullopt;
    const auto found = time_from(*value);
    if (!found) refuse(name, kWantedTime);
    return found;
}

model::Labels FieldReader::labels(std::string_view name) {
    model::Labels labels;
    const Value* value = find(name);
    if (value == nullptr) return labels;
    if (value->kind != Value::Kind::Map) refuse(name, "a map of labels such as {rack: r7}");
    for (const auto& [key, content] : value->members) {
        if (!content.is_scalar() || content.kind == Value::Kind::Null) {
            problems_.report(content.line, path_of(name) + "." + key,
                             "wanted a text, found " + content.described());
        }
        labels.emplace(key, content.text);
    }
    return labels;
}

std::vector<std::string> FieldReader::texts(std::string_view name) {
    const Value* value = find(name);
    if (value == nullptr) return {};
    if (value->kind == Value::Kind::Map) refuse(name, "a text or a list of texts");
    if (value->is_scalar()) return {value->text};
    std::vector<std::string> texts;
    for (const Value& item : value->items) {
        if (!item.is_scalar() || item.kind == Value::Kind::Null) {
            problems_.report(item.line, path_of(name), "wanted a text, found " + item.described());
        }
        texts.push_back(item.text);
    }
    return texts;
}

void FieldReader::each(
    std::string_view name,
    const std::function<void(const Value& item, const std::string& path)>& visit) {
    const Value* value = find(name);
    if (value == nullptr) return;
    if (value->kind != Value::Kind::List) return refuse(name, "a list");
    for (std::size_t i = 0; i < value->items.size() && !problems_.any(); ++i) {
        visit(value->items[i], path_of(name) + "[" + std::to_string(i) + "]");
    }
}

void FieldReader::finish(std::span<const std::string_view> unsupported) {
    for (const auto& [name, value] : map_.members) {
        if (std::ranges::find(known_, name) != known_.end()) continue;
        if (std::ranges::find(unsupported, name) != unsupported.end()) {
            if (value.kind == Value::Kind::Null) continue;
            problems_.report(value.line, path_of(name), "not supported yet");
            continue;
        }
        std::string hint = did_you_mean(name, known_);
        if (hint.empty()) hint = "; known are " + listed(known_);
        problems_.report(value.line, path_of(name), "unknown field" + hint);
    }
}

std::optional<base::Duration> read_or_never(FieldReader& fields, std::string_view name) {
    const Value* value = fields.find(name);
    if (value != nullptr && value->text == "never") return base::Duration{-1};
    return fields.duration(name);
}

}  // namespace berth::codec
