// SPDX-License-Identifier: Apache-2.0
#include "model/policy/policy_settings.h"

#include <algorithm>
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
struct SettingType {
    std::string_view takes;
    Status (*read)(Policy& policy, std::string_view text);
    std::string (*write)(const Policy& policy);
};

template <auto Member, int Least = 0, Duration::rep Most = kTimeMax.count()>
constexpr SettingType time() {
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

constexpr SettingType stale_grace() {
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

template <std::optional<Duration> Policy::* Member>
constexpr SettingType time_or_never() {
    return {"time|never",
            [](Policy& policy, std::string_view text) -> Status {
                if (text == kNever) {
                    (policy.*Member).reset();
                    return Status{};
                }
                BERTH_TRY(read, read_time(text, Duration{1}, kTimeMax));
                policy.*Member = read;
                return {};
            },
            [](const Policy& policy) {
                return policy.*Member ? written(*(policy.*Member)) : std::string(kNever);
            }};
}

constexpr std::string_view kNoPrices = "none";
constexpr std::size_t kPricesMax = 100;

// The last colon parts a model from its price: names of models may have some too.
Result<GpuPrices> read_prices(std::string_view text) {
    GpuPrices prices;
    if (text == kNoPrices) return prices;
    constexpr std::string_view kWanted = "MODEL:PRICE,... or none, such as H100:2.5,A100:1.2";
    for (std::string_view rest = text; true;) {
        const std::size_t end = std::min(rest.find(','), rest.size());
        const std::string_view each = rest.substr(0, end);
        const std::size_t colon = each.rfind(':');
        if (colon == std::string_view::npos || colon == 0) return refused(kWanted, text);
        const auto price = base::parse_thousandths(each.substr(colon + 1));
        constexpr std::int64_t kPriceMax = INT64_C(1'000'000'000);
        if (!price || *price > kPriceMax) return refused(kWanted, text);
        const bool is_new = prices.emplace(each.substr(0, colon), *price).second;
        if (!is_new || prices.size() > kPricesMax) {
            return refused("at most 100 models, each once", text);
        }
        if (end == rest.size()) return prices;
        rest.remove_prefix(end + 1);
    }
}

constexpr SettingType gpu_prices() {
    return {"prices|none",
            [](Policy& policy, std::string_view text) -> Status {
                BERTH_TRY(prices, read_prices(text));
                policy.gpu_prices = std::move(prices);
                return {};
            },
            [](const Policy& policy) {
                std::string text;
                for (const auto& [gpu, price] : policy.gpu_prices) {
                    text += (text.empty() ? "" : ",") + gpu + ":" + base::format_thousandths(price);
                }
                return text.empty() ? std::string(kNoPrices) : text;
            }};
}

// `Takes` says the range.
template <auto Member, int Least, int Most>
constexpr SettingType number(std::string_view takes) {
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
constexpr SettingType part(std::string_view takes) {
    return {
        takes,
        [](Policy& policy, std::string_view text) -> Status {
            BERTH_TRY(read, read_part(text, Most));
            in<Member>(policy) = read * Scale;
            return {};
        },
        [](const Policy& policy) { return base::format_thousandths(in<Member>(policy) / Scale); }};
}

constexpr SettingType waste_budget() {
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
constexpr std::array<std::string_view, 3> kIdleActs{"warn", "park", "end"};  // likewise
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
constexpr SettingType word(std::string_view takes) {
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
constexpr SettingType yes_no() {
    return word<Member, kNoYes>("yes|no");
}
template <auto Member>
constexpr SettingType spreading() {
    return word<Member, kSpreading>("binpack|spread");
}

constexpr PolicySetting setting(std::string_view name, SettingType form, std::string_view meaning,
                                std::string_view formerly = {}) {
    return {name, formerly, form.takes, meaning, form.read, form.write};
}

using P = Policy;

constexpr PolicySetting kSettings[] = {
    setting("order", word<&OrderRules::by, kOrders>("learned|levels|age"),
            "which job of a project goes first"),
    setting("order.tail", number<&OrderRules::tail, 0, kOrderTailMax>("0-50"),
            "costliest % of GPU time ordered by age"),
    setting("order.patience", number<&OrderRules::patience, 0, 1'000'000>("0-1000000"),
            "a job is due after a wait of N runs"),
    setting("order.fair", number<&OrderRules::fair, 0, 1'000'000>("0-1000000"),
            "or when it ends N times later than fair"),
    setting("order.hysteresis", number<&OrderRules::hysteresis, 0, 16>("0-16"),
            "cost stages a running job is ahead"),
    setting("min_runtime", time<&P::min_run>(), "no preemption before this run time", "min_run"),
    setting("min_runtime_restarts", number<&P::min_run_restarts, 0, 1000>("0-1000"),
            "nor before this many restart costs", "min_run_restarts"),
    setting("min_runtime_binds_all", yes_no<&P::min_run_binds_all>(),
            "also protects from owners and sessions", "min_run_binds_all"),
    setting("grace", time<&P::pause_grace, 0, kPauseGraceMax.count()>(),
            "time a job has to save before a pause"),
    setting("reservation_hold", time<&P::reservation_hold>(),
            "reservations last this long after grace", "hold"),
    setting("cheapest_victims", yes_no<&P::cheapest_victims>(),
            "preempt the jobs that lose least work"),
    setting("waste_budget", waste_budget(), "unsaved GPU time that may be lost a day"),
    setting("park_after", time_or_never<&P::park_after>(), "park a new session idle for this time"),
    setting("idle_after", time_or_never<&P::idle_after>(),
            "warn a job whose GPUs idle for this time"),
    setting("idle_warning", time<&P::idle_warning>(), "time from that warning to idle_act"),
    setting("idle_act", word<&P::idle_act, kIdleActs>("warn|park|end"),
            "what follows while the job idles on"),
    setting("stale_grace", stale_grace(), "time a gang may run below its minimum"),
    setting("scale_overcommitted", yes_no<&P::scale_overcommitted>(),
            "scale quotas down to the GPUs there are"),
    setting("gang_reclaim", yes_no<&P::gang_reclaim>(), "a gang may exceed its fair share in part"),
    setting("reclaim_cpu_only", yes_no<&P::reclaim_cpu_only>(),
            "owners reclaim from CPU-only jobs too"),
    setting("usage_weight", part<&P::usage_weight, 1'000'000>("0-1000"),
            "weight of past use in the fair share"),
    setting("measured_usage", yes_no<&P::measured_usage>(), "past use is measured, not declared"),
    setting("usage_half_life", time<&P::usage_half_life, 1>(), "past use of this age counts half"),
    setting("actions_apart", yes_no<&P::actions_apart>(), "moves, reclaims, preemptions in turn"),
    setting("consolidation_max_jobs", number<&P::moves_max, 0, 1000>("0-1000"),
            "most jobs moved so that another fits", "moves"),
    setting("consolidation_priced", yes_no<&P::priced_moves>(),
            "moves cost at most what the wait has", "priced_moves"),
    setting("backfill_reservations", number<&P::backfill_max, 0, 1000>("0-1000"),
            "most gangs with a reserved start", "bookings"),
    setting("backfill_after", time<&P::backfill_after>(), "reserve a start after this wait",
            "booking_after"),
    setting("consolidate_above", part<&P::consolidate_above_ppm, 1000, 1000>("0-1"),
            "tensor share that keeps a gang together"),
    setting("escaped", word<&P::escaped, kEscaped>("warn|end"),
            "for a job that uses GPUs past its share"),
    setting("strict_shares", yes_no<&P::strict_shares>(), "a share of a GPU is also its cap"),
    setting("gpu_prices", gpu_prices(), "money for a GPU hour, in reports"),
    setting("train", spreading<&P::train>(), "placement of train jobs"),
    setting("build", spreading<&P::build>(), "placement of build and inference jobs"),
};

// Settings of former releases, and what holds today.
struct Retired {
    std::string_view name;
    std::string_view instead;
};
constexpr Retired kRetired[] = {
    {"sticky_plans", "GPUs that are freed for a job are always reserved for it"},
    {"tiers",
     "order=levels goes by used GPU time, in steps; order=age goes by age, as tiers=1 did"},
    {"first_tier", "the first step of order=levels ends at 10 GPU-minutes"},
    {"tier_factor", "each step of order=levels ends at eight times the GPU time of the one before"},
    {"tier_patience", "order.patience says after a wait of how many run times a job is due"},
};

const Retired* find_retired(std::string_view name) {
    const auto found = std::ranges::find(kRetired, name, &Retired::name);
    return found == std::end(kRetired) ? nullptr : &*found;
}

}  // namespace

std::span<const PolicySetting> policy_settings() { return kSettings; }

const PolicySetting* find_policy_setting(std::string_view name) {
    for (const PolicySetting& known : kSettings) {
        const bool is_former = !known.formerly.empty() && known.formerly == name;
        if (known.name == name || is_former) return &known;
    }
    return nullptr;
}

std::optional<std::string> gone_setting(std::string_view name) {
    const Retired* const retired = find_retired(name);
    if (retired == nullptr) return std::nullopt;
    return "setting \"" + std::string(name) + "\" is gone: " + std::string(retired->instead);
}

PolicyChanges under_new_names(const PolicyChanges& changes) {
    PolicyChanges renamed;
    for (const auto& [name, text] : changes) {
        if (find_retired(name) != nullptr) continue;
        const PolicySetting* const known = find_policy_setting(name);
        if (known == nullptr || known->name == name) {
            renamed.insert_or_assign(name, text);
        } else {
            renamed.try_emplace(std::string(known->name), text);
        }
    }
    return renamed;
}

Result<Policy> changed_policy(Policy policy, const PolicyChanges& changes) {
    for (const auto& [name, text] : changes) {
        if (auto gone = gone_setting(name)) {
            return base::fail(base::ErrorCode::NotFound, std::move(*gone));
        }
        const PolicySetting* known = find_policy_setting(name);
        if (known == nullptr) {
            std::string names;
            for (const PolicySetting& one : kSettings) names += " " + std::string(one.name);
            return base::fail(base::ErrorCode::NotFound,
                              "unknown setting \"" + name + "\"; known are" + names);
        }
        const bool is_former = known->name != name;
        const bool is_superseded = is_former && changes.contains(std::string(known->name));
        if (!text || is_superseded) continue;
        if (const Status read = known->read(policy, *text); !read) {
            return base::invalid(name + ": " + read.error().message);
        }
    }
    return policy;
}

PolicyChanges merged(const PolicyChanges& known, const PolicyChanges& later) {
    PolicyChanges both = under_new_names(known);
    for (const auto& [name, text] : under_new_names(later)) {
        if (text) {
            both.insert_or_assign(name, text);
        } else {
            both.erase(name);
        }
    }
    return both;
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
