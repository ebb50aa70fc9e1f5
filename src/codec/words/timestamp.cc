// SPDX-License-Identifier: Apache-2.0
#include "codec/words/timestamp.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <optional>

namespace berth::codec {
namespace {

constexpr std::int64_t kDayMs = 86'400'000;
// Years 0000 to 9999, the range RFC 3339 can write.
constexpr std::int64_t kEarliest = -62'167'219'200'000;
constexpr std::int64_t kLatest = 253'402'300'799'999;

using std::chrono::day;
using std::chrono::days;
using std::chrono::month;
using std::chrono::sys_days;
using std::chrono::year;
using std::chrono::year_month_day;

void append_digits(std::string& out, std::int64_t number, int width) {
    std::array<char, 8> digits;
    for (int i = width - 1; i >= 0; --i) {
        digits[static_cast<std::size_t>(i)] = static_cast<char>('0' + number % 10);
        number /= 10;
    }
    out.append(digits.data(), static_cast<std::size_t>(width));
}

// Takes the text apart from the front; the first thing that does not fit ends it.
class Scanner {
  public:
    explicit Scanner(std::string_view text) : text_(text) {}

    std::int64_t digits(std::size_t count) {
        std::int64_t number = 0;
        for (std::size_t i = 0; i < count; ++i) {
            if (i >= text_.size() || text_[i] < '0' || text_[i] > '9') {
                is_good_ = false;
                return 0;
            }
            number = number * 10 + (text_[i] - '0');
        }
        text_.remove_prefix(count);
        return number;
    }
    // The character, when it is one of `wanted`; otherwise 0.
    char one_of(std::string_view wanted) {
        if (text_.empty() || wanted.find(text_[0]) == std::string_view::npos) return 0;
        const char found = text_[0];
        text_.remove_prefix(1);
        return found;
    }
    void need(std::string_view wanted) {
        if (one_of(wanted) == 0) is_good_ = false;
    }
    std::int64_t milliseconds() {
        if (one_of(".") == 0) return 0;
        std::int64_t number = 0;
        int places = 0;
        for (; !text_.empty() && text_[0] >= '0' && text_[0] <= '9'; text_.remove_prefix(1)) {
            if (places++ < 3) number = number * 10 + (text_[0] - '0');
        }
        if (places == 0) is_good_ = false;
        for (; places < 3; ++places) number *= 10;
        return number;
    }
    bool is_good_to_end() const { return is_good_ && text_.empty(); }

  private:
    std::string_view text_;
    bool is_good_ = true;
};

std::optional<base::TimePoint> scan(std::string_view text) {
    Scanner scanner(text);
    const std::int64_t year_number = scanner.digits(4);
    scanner.need("-");
    const std::int64_t month_number = scanner.digits(2);
    scanner.need("-");
    const std::int64_t day_number = scanner.digits(2);
    scanner.need("Tt ");
    const std::int64_t hours = scanner.digits(2);
    scanner.need(":");
    const std::int64_t minutes = scanner.digits(2);
    scanner.need(":");
    const std::int64_t seconds = scanner.digits(2);
    const std::int64_t milliseconds = scanner.milliseconds();
    std::int64_t offset = 0;
    if (scanner.one_of("Zz") == 0) {
        const char sign = scanner.one_of("+-");
        const std::int64_t offset_hours = scanner.digits(2);
        scanner.need(":");
        const std::int64_t offset_minutes = scanner.digits(2);
        if (sign == 0 || offset_hours > 23 || offset_minutes > 59) return std::nullopt;
        offset = (offset_hours * 60 + offset_minutes) * (sign == '-' ? -1 : 1);
    }
    const year_month_day date{year{static_cast<int>(year_number)},
                              month{static_cast<unsigned>(month_number)},
                              day{static_cast<unsigned>(day_number)}};
    if (!scanner.is_good_to_end() || !date.ok()) return std::nullopt;
    if (hours > 23 || minutes > 59 || seconds > 60) return std::nullopt;
    const std::int64_t day_count = sys_days(date).time_since_epoch().count();
    const std::int64_t total = ((day_count * 24 + hours) * 60 + minutes - offset) * 60 + seconds;
    const std::int64_t all = total * 1000 + milliseconds;
    if (all < kEarliest || all > kLatest) return std::nullopt;  // by its offset from UTC
    return base::at_ms(all);
}

}  // namespace

std::string format_time(base::TimePoint time) {
    const std::int64_t total = std::clamp(base::to_ms(time), kEarliest, kLatest);
    std::int64_t day_count = total / kDayMs;
    std::int64_t rest = total % kDayMs;
    if (rest < 0) {
        rest += kDayMs;
        --day_count;
    }
    const year_month_day date{sys_days{days{day_count}}};
    std::string text;
    append_digits(text, static_cast<int>(date.year()), 4);
    text += '-';
    append_digits(text, static_cast<unsigned>(date.month()), 2);
    text += '-';
    append_digits(text, static_cast<unsigned>(date.day()), 2);
    text += 'T';
    append_digits(text, rest / 3'600'000, 2);
    text += ':';
    append_digits(text, rest / 60'000 % 60, 2);
    text += ':';
    append_digits(text, rest / 1000 % 60, 2);
    text += '.';
    append_digits(text, rest % 1000, 3);
    text += 'Z';
    return text;
}

base::Result<base::TimePoint> parse_time(std::string_view text) {
    if (const auto time = scan(text)) return *time;
    return base::invalid("wanted a time such as 2026-03-01T12:00:00Z, found \"" +
                         std::string(text) + "\"");
}

}  // namespace berth::codec
