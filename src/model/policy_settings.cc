// SPDX-License-Identifier: Apache-2.0
#include "model/policy_settings.h"

#include <array>
#include <charconv>

#include "base/quantity.h"
#include "model/limits.h"

namespace berth::model {
namespace {

using base::Result;
using base::Status;

tl::unexpected<base::Error> refused(std::string_view wanted, std::string_view found) {
    return base::invalid("wanted " + std::string(wanted) + ", found \"" + std::string(found) +
                         "\"");
}

// The member itself, be it one of the order's.
template <auto Member>
auto& in(auto& policy) {
    if constexpr (requires { policy.*Member; }) {
        return policy.*Member;
    } else {
        return policy.order.*Member;
    }
}

// Without loss: format() leaves out what is small beside the rest.
std::string written(Duration time) {
    std::string text = base::format(time);
    if (base::parse_duration(text) == time) return text;
    const bool is_whole = time.count() % 1000 == 0;
    return is_whole ? std::to_string(time.count() / 1000) + "s"
                    : std::to_string(time.count()) + "ms";
}

Result<Duration> read_time(std::string_view text, Duration least, Duration most) {
    BERTH_TRY(time, base::parse_duration(text));
    if (time >= least && time <= most) return time;
    return refused("a time from " + written(least) + " to " + written(most), text);
}

// What the text of a value is, and both directions of it.
struct Form {
    std::string_view takes;
    Status (*read)(Policy& policy, std::string_view text);
    std::string (*write)(const Policy& policy);
};

template <auto Member, int Least = 0, Duration::rep Most = kTimeMax.count()>
constexpr Form time() {
    return {"time",
            [](Policy& policy, std::string_view text) -> Status {
                BERTH_TRY(read, read_time(text, Duration{Least}, Duration{Most}));
                in<Member>(policy) = read;
                return {};
            },
            [](const Policy& policy) { return written(in<Member>(policy)); }};
}

constexpr std::string_view kNever = "never";
constexpr Duration kNeverStale{-1};

constexpr Form stale_grace() {
    return {"time|never",
            [](Policy& policy, std::string_view text) -> Status {
                BERTH_TRY(read,
                          text == kNever ? kNeverStale : read_time(text, Duration{0}, kTimeMax));
                policy.stale_grace = read;
                return {};
            },
            [](const Policy& policy) {
                return policy.stale_grace == kNeverStale ? std::string(kNever)
                                                         : written(policy.stale_grace);
            }};
}

constexpr Form park_after() {
    return {"time|never",
            [](Policy& policy, std::string_view text) -> Status {
                if (text == kNever) {
                    policy.park_after.reset();
                    return Status{};
                }
                BERTH_TRY(read, read_time(text, Duration{1}, kTimeMax));
                policy.park_after = read;
                return {};
            },
            [](const Policy& policy) {
                return policy.park_after ? written(*policy.park_after) : std::string(kNever);
            }};
}

// `Takes` says the range.
template <auto Member, int Least, int Most>
constexpr Form number(std::string_view takes) {
    return {takes,
            [](Policy& policy, std::string_view text) -> Status {
                int value = 0;
                const char* const last = text.data() + text.size();
                const auto [end, error] = std::from_chars(text.data(), last, value);
                if (error == std::errc{} && end == last && value >= Least && value <= Most) {
                    in<Member>(policy) = value;
                    return {};
                }
                return refused(
                    "a whole number from " + std::to_string(Least) + " to " + std::to_string(Most),
                    text);
            },
            [](const Policy& policy) { return std::to_string(in<Member>(policy)); }};
}

Result<std::int64_t> read_part(std::string_view text, std::int64_t most) {
    const auto read = base::parse_thousandths(text);
    if (read && *read <= most) return *read;
    return refused(
        "a number from 0 to " + base::format_thousandths(most) + " with at most three decimals",
        text);
}

// One thousandth counts `Scale`.
template <auto Member, std::int64_t Most, std::int64_t Scale = 1>
constexpr Form part(std::string_view takes) {
    return {
        takes,
        [](Policy& policy, std::string_view text) -> Status {
            BERTH_TRY(read, read_part(text, Most));
            in<Member>(policy) = read * Scale;
            return {};
        },
        [](const Policy& policy) { return base::format_thousandths(in<Member>(policy) / Scale); }};
}

constexpr Form waste_budget() {
    return {"0-1|none",
            [](Policy& policy, std::string_view text) -> Status {
                if (text == "none") {
                    policy.waste_budget.reset();
                    return Status{};
                }
                BERTH_TRY(read, read_part(text, 1000));
                policy.waste_budget = read;
                return {};
            },
            [](const Policy& policy) {
                return policy.waste_budget ? base::format_thousandths(*policy.waste_budget)
                                           : std::string("none");
            }};
}

constexpr std::array<std::string_view, 2> kNoYes{"no", "yes"};
constexpr std::array<std::string_view, 2> kSpreading{"binpack", "spread"};  // by the enumerator
constexpr std::array<std::string_view, 2> kEscaped{"warn", "end"};  // likewise
constexpr std::array<std::string_view, 3> kOrders{"learned", "levels", "age"};  // likewise

// Any of them, such as "yes or no".
template <std::size_t kCount>
std::string one_of(const std::array<std::string_view, kCount>& words) {
    std::string text;
    for (const std::string_view word : words)
        text += (text.empty() ? "" : " or ") + std::string(word);
    return text;
}

// One of some words: its position is the value.
template <auto Member, const auto& Words>
constexpr Form word(std::string_view takes) {
    return {takes,
            [](Policy& policy, std::string_view text) -> Status {
                using Value = std::remove_reference_t<decltype(in<Member>(policy))>;
                for (std::size_t i = 0; i < Words.size(); ++i) {
                    if (text != Words[i]) continue;
                    in<Member>(policy) = static_cast<Value>(i);
                    return {};
                }
                return refused(one_of(Words), text);
            },
            [](const Policy& policy) {
                return std::string(Words[static_cast<std::size_t>(in<Member>(policy))]);
            }};
}

template <auto Member>
constexpr Form yes_no() {
    return word<Member, kNoYes>("yes|no");
}
template <auto Member>
constexpr Form spreading() {
    return word<Member, kSpreading>("binpack|spread");
}

constexpr PolicySetting setting(std::string_view name, Form form, std::string_view meaning) {
    return {name, form.takes, meaning, form.read, form.write};
}

using P = Policy;

constexpr PolicySetting kSettings[] = {
    setting("order", word<&OrderRules::by, kOrders>("learned|levels|age"),
            "which job of a project goes first"),
    setting("order.tail", number<&OrderRules::tail, 0, kOrderTailMax>("0-50"),
            "costliest percent of GPU time go by age"),
    setting("order.patience", number<&OrderRules::patience, 0, 1'000'000>("0-1000000"),
            "a wait so many runs long makes a job due"),
    setting("order.fair", number<&OrderRules::fair, 0, 1'000'000>("0-1000000"),
            "so, an end so many times as late as fair"),
    setting("order.hysteresis", number<&OrderRules::hysteresis, 0, 16>("0-16"),
            "stages of cost that who runs is ahead"),
    setting("min_run", time<&P::min_run>(), "a started job is left alone so long"),
    setting("min_run_restarts", number<&P::min_run_restarts, 0, 1000>("0-1000"),
            "at least so many of its restart costs"),
    setting("min_run_binds_all", yes_no<&P::min_run_binds_all>(),
            "owners and sessions wait for it as well"),
    setting("grace", time<&P::pause_grace, 0, kPauseGraceMax.count()>(),
            "a paused job may take so long to save"),
    setting("hold", time<&P::hold>(), "freed GPUs are kept so long after grace"),
    setting("sticky_plans", yes_no<&P::sticky_plans>(), "what is freed for a job is kept for it"),
    setting("cheapest_victims", yes_no<&P::cheapest_victims>(), "who loses least work is paused"),
    setting("waste_budget", waste_budget(), "unsaved GPU time a day that may be lost"),
    setting("park_after", park_after(), "new sessions idle so long are parked"),
    setting("stale_grace", stale_grace(), "a gang may run so long below its minimum"),
    setting("scale_overcommitted", yes_no<&P::scale_overcommitted>(),
            "quotas above what is there are scaled"),
    setting("gang_reclaim", yes_no<&P::gang_reclaim>(), "a gang may cross its fair share in part"),
    setting("reclaim_cpu_only", yes_no<&P::reclaim_cpu_only>(),
            "owners reclaim from CPU-only jobs too"),
    setting("usage_weight", part<&P::usage_weight, 1'000'000>("0-1000"),
            "how much past use counts for what idles"),
    setting("measured_usage", yes_no<&P::measured_usage>(), "past use is what projects really had"),
    setting("usage_half_life", time<&P::usage_half_life, 1>(), "use so long ago counts half"),
    setting("actions_apart", yes_no<&P::actions_apart>(), "moves, reclaims, preemptions in turn"),
    setting("moves", number<&P::moves_max, 0, 1000>("0-1000"),
            "most jobs that move so that one fits"),
    setting("priced_moves", yes_no<&P::priced_moves>(), "moves cost no more than the wait has"),
    setting("bookings", number<&P::bookings_max, 0, 1000>("0-1000"),
            "most gangs that idle GPUs are kept for"),
    setting("booking_after", time<&P::booking_after>(), "each once it has waited so long"),
    setting("consolidate_above", part<&P::consolidate_above_ppm, 1000, 1000>("0-1"),
            "tensor part that keeps a gang together"),
    setting("escaped", word<&P::escaped, kEscaped>("warn|end"),
            "a job that uses GPUs beside its share"),
    setting("train", spreading<&P::train>(), "train jobs fill nodes, or spread"),
    setting("build", spreading<&P::build>(), "the same of build and inference jobs"),
};

}  // namespace

std::span<const PolicySetting> policy_settings() { return kSettings; }

const PolicySetting* find_policy_setting(std::string_view name) {
    for (const PolicySetting& known : kSettings) {
        if (known.name == name) return &known;
    }
    return nullptr;
}

Result<Policy> changed_policy(Policy policy, const PolicyChanges& changes) {
    for (const auto& [name, text] : changes) {
        const PolicySetting* known = find_policy_setting(name);
        if (known == nullptr) {
            std::string names;
            for (const PolicySetting& one : kSettings) names += " " + std::string(one.name);
            return base::fail(base::ErrorCode::NotFound,
                              "unknown setting \"" + name + "\"; known are" + names);
        }
        if (!text) continue;
        if (const Status read = known->read(policy, *text); !read) {
            return base::invalid(name + ": " + read.error().message);
        }
    }
    return policy;
}

PolicyChanges merged(PolicyChanges known, const PolicyChanges& later) {
    for (const auto& [name, text] : later) {
        text ? void(known.insert_or_assign(name, text)) : void(known.erase(name));
    }
    return known;
}

PolicyChanges changes_between(const Policy& from, const Policy& to) {
    PolicyChanges changes;
    for (const PolicySetting& one : kSettings) {
        std::string text = one.write(to);
        if (text != one.write(from)) changes.emplace(one.name, std::move(text));
    }
    return changes;
}

}  // namespace berth::model
