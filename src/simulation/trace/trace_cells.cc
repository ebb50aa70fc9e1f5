// SPDX-License-Identifier: Apache-2.0
#include "simulation/trace/trace_cells.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>

namespace berth::simulation {
namespace {

constexpr double kMomentMax = 1e11;  // seconds: those of the year 5138; beyond it is milliseconds
constexpr double kDurationMax = 1e9;  // seconds
constexpr double kTraceGpusMax = 1e6;
constexpr std::int64_t kMsPerSecond = 1000;
constexpr int kZoneMaxMinutes = 14 * 60;  // no clock on Earth is further from UTC

std::optional<double> number(std::string_view text) {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    if (!(value >= 0)) return std::nullopt;
    return value;
}

// Takes a number of exactly `digits` digits off the front; of at least one when that is 0.
std::optional<int> take_digits(std::string_view& text, std::size_t digits) {
    constexpr std::size_t kDigitsMax = 9;
    std::size_t count = 0;
    while (count < text.size() && text[count] >= '0' && text[count] <= '9') ++count;
    if (digits > 0) count = count < digits ? 0 : digits;
    if (count == 0 || count > kDigitsMax) return std::nullopt;
    int value = 0;
    std::from_chars(text.data(), text.data() + count, value);
    text.remove_prefix(count);
    return value;
}

bool take(std::string_view& text, char letter) {
    if (!text.starts_with(letter)) return false;
    text.remove_prefix(1);
    return true;
}

// ".25" and nothing more, in milliseconds; 0 when there is none.
std::optional<std::int64_t> take_fraction(std::string_view& text) {
    if (!take(text, '.')) return 0;
    std::int64_t value = 0;
    std::int64_t worth = kMsPerSecond;
    std::size_t count = 0;
    for (; count < text.size() && text[count] >= '0' && text[count] <= '9'; ++count) {
        worth /= 10;
        value += (text[count] - '0') * worth;
    }
    if (count == 0) return std::nullopt;
    text.remove_prefix(count);
    return value;
}

// "12:30", "12:30:05", "12:30:05.250"
std::optional<std::int64_t> take_time_of_day(std::string_view& text) {
    const auto hours = take_digits(text, 2);
    if (!hours || *hours > 24 || !take(text, ':')) return std::nullopt;
    const auto minutes = take_digits(text, 2);
    if (!minutes || *minutes > 59) return std::nullopt;
    std::int64_t ms = (*hours * 60 + *minutes) * 60 * kMsPerSecond;
    if (!take(text, ':')) return ms;
    const auto seconds = take_digits(text, 2);
    if (!seconds || *seconds > 60) return std::nullopt;
    const auto fraction = take_fraction(text);
    if (!fraction) return std::nullopt;
    return ms + *seconds * kMsPerSecond + *fraction;
}

// "Z", "+02:00", "-0530", "+02": how far ahead of UTC it is; 0 where nothing is said.
std::optional<std::int64_t> take_zone(std::string_view& text) {
    if (text.empty() || take(text, 'Z') || take(text, 'z')) return 0;
    const int sign = text.front() == '-' ? -1 : 1;
    if (!take(text, '+') && !take(text, '-')) return std::nullopt;
    const auto hours = take_digits(text, 2);
    if (!hours) return std::nullopt;
    take(text, ':');
    const auto minutes = text.empty() ? std::optional(0) : take_digits(text, 2);
    if (!minutes || *minutes > 59) return std::nullopt;
    if (*hours * 60 + *minutes > kZoneMaxMinutes) return std::nullopt;
    return sign * (*hours * 60 + *minutes) * 60 * kMsPerSecond;
}

std::optional<std::int64_t> date_ms(std::string_view text) {
    const auto year = take_digits(text, 4);
    if (!year || !take(text, '-')) return std::nullopt;
    const auto month = take_digits(text, 2);
    if (!month || !take(text, '-')) return std::nullopt;
    const auto day = take_digits(text, 2);
    if (!day) return std::nullopt;
    using namespace std::chrono;
    const year_month_day date{std::chrono::year{*year},
                              std::chrono::month{static_cast<unsigned>(*month)},
                              std::chrono::day{static_cast<unsigned>(*day)}};
    if (!date.ok()) return std::nullopt;
    const std::int64_t midnight =
        duration_cast<milliseconds>(sys_days(date).time_since_epoch()).count();
    if (text.empty()) return midnight;
    if (!take(text, 'T') && !take(text, 't') && !take(text, ' ')) return std::nullopt;
    const auto time = take_time_of_day(text);
    if (!time) return std::nullopt;
    take(text, ' ');
    const auto zone = take_zone(text);
    if (!zone || !text.empty()) return std::nullopt;
    return midnight + *time - *zone;
}

// "1-02:03:04", "02:03:04", "03:04"; hours may be more than a day.
std::optional<std::int64_t> clock_ms(std::string_view text) {
    std::int64_t days = 0;
    if (const std::size_t dash = text.find('-'); dash != std::string_view::npos) {
        const auto count = take_digits(text, 0);
        if (!count || !take(text, '-')) return std::nullopt;
        days = *count;
    }
    std::int64_t minutes = 0;
    int colons = 0;
    for (;; ++colons) {
        const auto part = take_digits(text, 0);
        if (!part || colons > 2 || (colons > 0 && *part > 59)) return std::nullopt;
        if (take(text, ':')) {
            minutes = minutes * 60 + *part;
            continue;
        }
        const auto fraction = take_fraction(text);
        if (colons == 0 || !fraction || !text.empty()) return std::nullopt;
        return ((days * 24 * 60 + minutes) * 60 + *part) * kMsPerSecond + *fraction;
    }
}

bool is_letter(char byte) { return byte >= 'a' && byte <= 'z'; }  // in lower case

// "a100", "nvidia_a100_3g.20gb", "2080"
bool is_model(std::string_view text) {
    return !text.empty() && std::ranges::all_of(text, [](char byte) {
        return is_letter(byte) || (byte >= '0' && byte <= '9') ||
               std::string_view("-_.").find(byte) != std::string_view::npos;
    });
}

// Of Slurm's resources those that are no GPUs; "license/name" and the like by their class.
bool is_other_resource(std::string_view name) {
    constexpr std::string_view kOthers[] = {"cpu",     "mem",         "node", "billing", "energy",
                                            "vmem",    "pages",       "fs",   "bb",      "ic",
                                            "license", "craynetwork", "mic",  "shard"};
    return std::ranges::count(kOthers, name.substr(0, name.find('/'))) > 0;
}

// One of a list of resources; 0 GPUs where it is none.
struct Resource {
    double gpus = 0;
    bool has_model = false;
};

std::optional<Resource> resource_of(std::string_view text) {
    const bool is_gres = text.starts_with("gres/") || text.starts_with("gres:");
    if (is_gres) text.remove_prefix(std::string_view("gres/").size());
    text = text.substr(0, text.find('('));  // "(S:0-1)": which sockets
    const std::size_t end = std::min(text.find_first_of("=:"), text.size());
    const std::string_view name = text.substr(0, end);
    const bool is_gpu = name == "gpu" || name == "gpus";
    if (!is_gpu) {
        return is_gres || is_other_resource(name) ? std::optional(Resource{0, true}) : std::nullopt;
    }
    const std::string_view rest = text.substr(end);
    if (rest.empty()) return Resource{1, false};
    const std::size_t last = rest.find_last_of("=:");
    const std::string_view behind = rest.substr(last + 1);
    const auto count = number(behind);
    if (last == 0 && count) return Resource{*count, false};
    if (rest.front() != ':') return std::nullopt;
    if (last == 0 && is_model(behind) && is_letter(behind.front())) return Resource{1, true};
    if (!count || !is_model(rest.substr(1, last - 1))) return std::nullopt;
    return Resource{*count, true};
}

// "gres/gpu" counts all, where it is said; else the sum over the models.
std::optional<double> gpus_of_resources(std::string_view text) {
    if (text.empty()) return std::nullopt;
    std::optional<double> all;
    double by_model = 0;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find(','), text.size());
        const auto found = resource_of(text.substr(0, end));
        if (!found) return std::nullopt;
        if (found->has_model) by_model += found->gpus;
        if (!found->has_model) all = found->gpus;
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return all ? *all : by_model;
}

// "h100:2", as `berth submit -g` takes it; "02:03" is a time.
std::optional<double> gpus_of_model(std::string_view text) {
    const std::size_t colon = std::min(text.find(':'), text.size());
    const std::string_view model = text.substr(0, colon);
    if (!is_model(model) || std::ranges::none_of(model, is_letter)) return std::nullopt;
    if (model == "gpu" || model == "gpus" || is_other_resource(model)) return std::nullopt;
    return number(text.substr(std::min(colon + 1, text.size())));
}

// "seconds (at most 1000000000)"
std::string unit_text(TraceUnit unit, const char* bound, double seconds_max) {
    const bool is_ms = unit == TraceUnit::Milliseconds;
    return std::string(is_ms ? "milliseconds (" : "seconds (") + bound + " " +
           std::to_string(std::llround(seconds_max * (is_ms ? kMsPerSecond : 1))) + ")";
}

}  // namespace

std::string moment_forms(TraceUnit unit) {
    return unit_text(unit, "below", kMomentMax) +
           ", or a date such as 2024-05-01 or 2024-05-01T12:30:00Z";
}

std::string duration_forms(TraceUnit unit) {
    return unit_text(unit, "at most", kDurationMax) +
           ", or a time such as 02:03:04, 1-02:03:04 or 1h30m";
}

std::optional<std::int64_t> moment_of(std::string_view text, TraceUnit unit) {
    const auto value = number(text);
    if (!value) return date_ms(text);
    if (unit == TraceUnit::Milliseconds) {
        if (*value >= kMomentMax * kMsPerSecond) return std::nullopt;
        return static_cast<std::int64_t>(std::floor(*value / kMsPerSecond)) * kMsPerSecond;
    }
    if (*value >= kMomentMax) return std::nullopt;
    return static_cast<std::int64_t>(std::floor(*value * kMsPerSecond));
}

std::optional<std::int64_t> duration_of(std::string_view text, TraceUnit unit) {
    constexpr auto kMsMax = static_cast<std::int64_t>(kDurationMax) * kMsPerSecond;
    if (const auto value = number(text)) {
        const bool is_ms = unit == TraceUnit::Milliseconds;
        if (*value > (is_ms ? kDurationMax * kMsPerSecond : kDurationMax)) return std::nullopt;
        if (!is_ms) return static_cast<std::int64_t>(std::ceil(*value * kMsPerSecond));
        return static_cast<std::int64_t>(std::ceil(*value / kMsPerSecond)) * kMsPerSecond;
    }
    auto found = clock_ms(text);
    if (const auto with_units = base::parse_duration(text); !found && with_units) {
        found = with_units->count();
    }
    return found && *found <= kMsMax ? found : std::nullopt;
}

std::optional<GpusAsked> gpus_of(std::string_view text) {
    const std::string lowered = lower(text);
    auto gpus = number(lowered);
    if (!gpus) gpus = gpus_of_model(lowered);
    if (!gpus) gpus = gpus_of_resources(lowered);
    if (!gpus || *gpus > kTraceGpusMax) return std::nullopt;
    if (*gpus > 1 && *gpus != std::floor(*gpus)) return std::nullopt;
    constexpr double kNoise = 1e-6;  // of a double that was written in decimals
    const double exact = *gpus * 1000;
    const std::int64_t milli = exact > 0 ? std::max(std::llround(exact), 1LL) : 0;
    return GpusAsked{base::MilliGpu{milli}, std::abs(static_cast<double>(milli) - exact) > kNoise};
}

std::string lower(std::string_view text) {
    std::string made(text);
    for (char& letter : made) {
        if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
    }
    return made;
}

}  // namespace berth::simulation
