// SPDX-License-Identifier: Apache-2.0
#include "base/quantity.h"

#include <array>
#include <charconv>
#include <utility>

namespace berth::base {
namespace {

constexpr std::int64_t kMaxWhole = 9'000'000'000'000;  // keeps thousandths inside 64 bits

tl::unexpected<Error> bad(std::string_view wanted, std::string_view found) {
    return invalid("wanted " + std::string(wanted) + ", found \"" + std::string(found) + "\"");
}

struct Unit {
    std::string_view suffix;
    std::int64_t factor;
};

constexpr std::int64_t kKiB = 1024;
constexpr std::array<Unit, 13> kByteUnits{{{"Ki", kKiB},
                                           {"Mi", kKiB* kKiB},
                                           {"Gi", kKiB* kKiB* kKiB},
                                           {"Ti", kKiB* kKiB* kKiB* kKiB},
                                           {"KB", kKiB},
                                           {"MB", kKiB* kKiB},
                                           {"GB", kKiB* kKiB* kKiB},
                                           {"TB", kKiB* kKiB* kKiB* kKiB},
                                           {"K", kKiB},
                                           {"M", kKiB* kKiB},
                                           {"G", kKiB* kKiB* kKiB},
                                           {"T", kKiB* kKiB* kKiB* kKiB},
                                           {"B", 1}}};
constexpr std::array<Unit, 5> kTimeUnits{
    {{"d", 86'400'000}, {"h", 3'600'000}, {"m", 60'000}, {"s", 1'000}, {"ms", 1}}};

}  // namespace

Result<std::int64_t> parse_thousandths(std::string_view text) {
    const std::string_view wanted = "a number such as 2 or 0.5 (at most three decimals)";
    const auto dot = text.find('.');
    const std::string_view whole_text = text.substr(0, dot);
    std::string_view decimals = dot == std::string_view::npos ? "" : text.substr(dot + 1);
    std::int64_t whole = 0;
    const auto [end, error] =
        std::from_chars(whole_text.data(), whole_text.data() + whole_text.size(), whole);
    if (whole_text.empty() || whole_text[0] == '-' || error != std::errc{} ||
        end != whole_text.data() + whole_text.size() || whole > kMaxWhole) {
        return bad(wanted, text);
    }
    if (dot != std::string_view::npos && (decimals.empty() || decimals.size() > 3)) {
        return bad(wanted, text);
    }
    std::int64_t thousandths = 0;
    for (std::size_t place = 0; place < 3; ++place) {
        const char digit = place < decimals.size() ? decimals[place] : '0';
        if (digit < '0' || digit > '9') return bad(wanted, text);
        thousandths = thousandths * 10 + (digit - '0');
    }
    return whole * 1000 + thousandths;
}

Result<Bytes> parse_bytes(std::string_view text) {
    std::string_view number = text;
    std::int64_t factor = 1;
    for (const Unit& unit : kByteUnits) {
        if (text.ends_with(unit.suffix)) {
            number = text.substr(0, text.size() - unit.suffix.size());
            factor = unit.factor;
            break;
        }
    }
    std::int64_t whole = 0;
    const char* const end = number.data() + number.size();
    const bool is_whole =
        std::from_chars(number.data(), end, whole) == std::from_chars_result{end, std::errc{}} &&
        whole >= 0;
    // A count of bytes has no need of thousandths.
    if (is_whole && whole <= INT64_MAX / factor) return Bytes{whole * factor};
    const auto thousandths = parse_thousandths(number);
    if (!thousandths || *thousandths / 1000 > INT64_MAX / factor) {
        return bad("an amount of memory such as 80G or 512M", text);
    }
    return Bytes{*thousandths / 1000 * factor + *thousandths % 1000 * factor / 1000};
}

Result<Duration> parse_duration(std::string_view text) {
    const std::string_view wanted = "a time such as 90s, 5m, 2h or 1h30m";
    if (text == "0") return Duration{0};
    std::int64_t total = 0;
    std::string_view rest = text;
    while (!rest.empty()) {
        const auto number_end = rest.find_first_not_of("0123456789.");
        if (number_end == std::string_view::npos || number_end == 0) return bad(wanted, text);
        const auto thousandths = parse_thousandths(rest.substr(0, number_end));
        rest.remove_prefix(number_end);
        const std::string_view suffix = rest.substr(0, rest.find_first_of("0123456789."));
        rest.remove_prefix(suffix.size());
        std::int64_t factor = 0;
        for (const Unit& unit : kTimeUnits) {
            if (suffix == unit.suffix) factor = unit.factor;
        }
        if (!thousandths || factor == 0 || *thousandths > kMaxWhole * 1000 / factor) {
            return bad(wanted, text);
        }
        total += *thousandths * factor / 1000;
        if (total > kMaxWhole) return bad(wanted, text);  // as each part is bounded
    }
    if (text.empty()) return bad(wanted, text);
    return Duration{total};
}

std::string format_thousandths(std::int64_t thousandths) {
    const bool negative = thousandths < 0;
    const std::int64_t magnitude = negative ? -thousandths : thousandths;
    std::string text = (negative ? "-" : "") + std::to_string(magnitude / 1000);
    std::string decimals = std::to_string(magnitude % 1000 + 1000).substr(1);
    while (!decimals.empty() && decimals.back() == '0') decimals.pop_back();
    return decimals.empty() ? text : text + "." + decimals;
}

std::string format(MilliGpu amount) { return format_thousandths(amount.value); }
std::string format_gpus(MilliGpu amount) {
    return format(amount) + (amount == kWholeGpu ? " GPU" : " GPUs");
}
std::string format(MilliCpu amount) { return format_thousandths(amount.value); }

std::string format(Bytes amount) {
    static constexpr std::array<std::string_view, 5> kNames{"", "K", "M", "G", "T"};
    if (amount.value > INT64_MAX / 10) return std::to_string(amount.value >> 40) + "T";
    std::int64_t tenths = amount.value * 10;
    std::size_t unit = 0;
    while (unit + 1 < kNames.size() && tenths >= 10 * kKiB) {
        tenths /= kKiB;
        ++unit;
    }
    return format_thousandths(tenths * 100) + std::string(kNames[unit]);
}

std::string format(Duration duration) {
    std::int64_t left = duration.count();
    if (left < 0) return "-" + format(Duration{-left});
    if (left == 0) return "0s";
    if (left < 1000) return std::to_string(left) + "ms";
    std::string text;
    int written = 0;
    for (const Unit& unit : kTimeUnits) {
        if (unit.factor < 1000 || written == 2) break;
        const std::int64_t count = left / unit.factor;
        left %= unit.factor;
        if (count == 0) {
            if (written > 0) break;
            continue;
        }
        text += std::to_string(count) + std::string(unit.suffix);
        ++written;
    }
    return text;
}

}  // namespace berth::base
