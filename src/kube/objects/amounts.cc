// SPDX-License-Identifier: Apache-2.0
#include "kube/objects/amounts.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>

namespace berth::kube::objects {
namespace {

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
// Exponents beyond this are as good as endless: 10^40 thousandths fit no number of ours.
constexpr int kExponentMax = 40;

struct Scale {
    int twos = 0;
    int tens = 0;
};

std::optional<Scale> scale_of(std::string_view suffix) {
    struct Named {
        std::string_view name;
        Scale scale;
    };
    static constexpr std::array kNamed{
        Named{"", {0, 0}},    Named{"n", {0, -9}},  Named{"u", {0, -6}},  Named{"m", {0, -3}},
        Named{"k", {0, 3}},   Named{"M", {0, 6}},   Named{"G", {0, 9}},   Named{"T", {0, 12}},
        Named{"P", {0, 15}},  Named{"E", {0, 18}},  Named{"Ki", {10, 0}}, Named{"Mi", {20, 0}},
        Named{"Gi", {30, 0}}, Named{"Ti", {40, 0}}, Named{"Pi", {50, 0}}, Named{"Ei", {60, 0}}};
    for (const Named& named : kNamed) {
        if (named.name == suffix) return named.scale;
    }
    if (suffix[0] != 'e' && suffix[0] != 'E') return std::nullopt;
    suffix.remove_prefix(suffix.size() > 1 && suffix[1] == '+' ? 2 : 1);
    int exponent = 0;
    const auto [end, error] =
        std::from_chars(suffix.data(), suffix.data() + suffix.size(), exponent);
    if (error != std::errc{} || end != suffix.data() + suffix.size()) return std::nullopt;
    return Scale{0, std::clamp(exponent, -kExponentMax, kExponentMax)};
}

// digits * 2^twos * 10^tens, up to kMost, rounded up.
std::int64_t scaled(std::int64_t digits, Scale scale) {
    __extension__ using Wide = __int128;
    Wide value = digits;
    for (; scale.twos > 0 && value <= kMost; --scale.twos) value *= 2;
    for (; scale.tens > 0 && value <= kMost; --scale.tens) value *= 10;
    bool has_rest = false;
    for (; scale.tens < 0 && value > 0; ++scale.tens) {
        has_rest = has_rest || value % 10 != 0;
        value /= 10;
    }
    if (has_rest) ++value;
    return value > kMost ? kMost : static_cast<std::int64_t>(value);
}

std::int64_t sum(std::int64_t left, std::int64_t right) {
    std::int64_t result = 0;
    return __builtin_add_overflow(left, right, &result) ? kMost : result;
}

// Thousandths of a byte end at 8 PiB; more is as good as endless on one node.
std::int64_t whole(std::int64_t thousandths) {
    if (thousandths == kMost) return thousandths;
    return thousandths / 1000 + (thousandths % 1000 > 0 ? 1 : 0);
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

std::optional<std::int64_t> parse_quantity(std::string_view text) {
    bool is_negative = false;
    if (!text.empty() && (text[0] == '-' || text[0] == '+')) {
        is_negative = text[0] == '-';
        text.remove_prefix(1);
    }
    // Seventeen digits are enough for any amount; what follows moves the point alone.
    constexpr std::int64_t kDigitsMost = 100'000'000'000'000'000;
    std::int64_t digits = 0;
    int dropped = 0;
    int places = 0;
    bool has_digit = false;
    bool is_behind_point = false;
    std::size_t at = 0;
    for (; at < text.size() && (is_digit(text[at]) || (text[at] == '.' && !is_behind_point));
         ++at) {
        if (text[at] == '.') {
            is_behind_point = true;
            continue;
        }
        has_digit = true;
        if (digits < kDigitsMost) {
            digits = digits * 10 + (text[at] - '0');
            if (is_behind_point) ++places;
        } else if (!is_behind_point && dropped < kExponentMax) {
            ++dropped;
        }
    }
    const auto scale = scale_of(text.substr(at));
    if (!has_digit || !scale) return std::nullopt;
    const std::int64_t value = scaled(digits, {scale->twos, scale->tens + dropped - places + 3});
    return is_negative ? -value : value;
}

std::int64_t Amounts::of(std::string_view resource) const {
    for (const Amount& amount : amounts_) {
        if (*amount.resource == resource) return amount.value;
    }
    return 0;
}

void Amounts::set(const Word& resource, std::int64_t value) {
    const auto place = std::ranges::lower_bound(
        amounts_, *resource, {},
        [](const Amount& amount) -> const std::string& { return *amount.resource; });
    if (place != amounts_.end() && place->resource == resource) {
        place->value = value;
    } else {
        amounts_.insert(place, {resource, value});
    }
}

void Amounts::add(const Amounts& other) {
    for (const Amount& amount : other.amounts_) {
        set(amount.resource, sum(of(*amount.resource), amount.value));
    }
}

void Amounts::raise_to(const Amounts& other) {
    for (const Amount& amount : other.amounts_) {
        set(amount.resource, std::max(of(*amount.resource), amount.value));
    }
}

Amounts in_units(Amounts thousandths) {
    const Amounts before = thousandths;
    for (const Amount& amount : before.all()) {
        if (*amount.resource != "cpu") thousandths.set(amount.resource, whole(amount.value));
    }
    return thousandths;
}

std::size_t hash_of(const Amounts& amounts) {
    std::size_t hash = amounts.all().size();
    for (const Amount& amount : amounts.all()) {
        hash = hash * 31 + std::hash<const void*>{}(amount.resource.identity());
        hash = hash * 31 + static_cast<std::size_t>(amount.value);
    }
    return hash;
}

}  // namespace berth::kube::objects
