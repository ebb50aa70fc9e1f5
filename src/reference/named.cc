// SPDX-License-Identifier: Apache-2.0
#include "reference/named.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>
#include <string>

#include "reference/arrival.h"
#include "reference/finish_fair.h"
#include "reference/gittins.h"
#include "reference/levels.h"
#include "reference/shortest.h"
#include "reference/tiresias_released.h"

namespace berth::reference {
namespace {

constexpr std::int64_t kSecond = 1000;

// "key=value" behind the colons, each taken once.
class Settings {
  public:
    static base::Result<Settings> parse(std::string_view text) {
        Settings settings;
        while (!text.empty()) {
            text.remove_prefix(1);  // the colon
            const std::string_view part = text.substr(0, text.find(':'));
            text.remove_prefix(part.size());
            const std::size_t equals = part.find('=');
            if (equals == std::string_view::npos) {
                return base::invalid("wanted a setting such as sticky=50, found \"" +
                                     std::string(part) + "\"");
            }
            settings.given_.push_back({part.substr(0, equals), part.substr(equals + 1)});
        }
        return settings;
    }

    std::int64_t number(std::string_view name, std::int64_t fallback, std::int64_t low,
                        std::int64_t high) {
        const std::string_view text = take(name);
        if (text.empty()) return fallback;
        std::int64_t value = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        if (error == std::errc() && end == text.data() + text.size() && value >= low &&
            value <= high) {
            return value;
        }
        refuse(name, std::to_string(low) + " to " + std::to_string(high), text);
        return fallback;
    }

    Duration duration(std::string_view name, Duration fallback) {
        const std::string_view text = take(name);
        if (text.empty()) return fallback;
        const auto value = base::parse_duration(text);
        if (value && value->count() > 0) return *value;
        refuse(name, "a time such as 10m", text);
        return fallback;
    }

    // What is wrong with the settings taken, or with those that were not.
    base::Status verdict() const {
        if (!fault_.empty()) return base::invalid(fault_);
        if (given_.empty()) return {};
        return base::invalid("it has no setting \"" + std::string(given_.front().first) + "\"");
    }

  private:
    std::string_view take(std::string_view name) {
        const auto found = std::ranges::find(given_, name, &Setting::first);
        if (found == given_.end()) return {};
        const std::string_view value = found->second;
        given_.erase(found);
        return value;
    }

    void refuse(std::string_view name, const std::string& wanted, std::string_view text) {
        if (!fault_.empty()) return;
        fault_ = std::string(name) + ": wanted " + wanted + ", found \"" + std::string(text) + "\"";
    }

    using Setting = std::pair<std::string_view, std::string_view>;
    std::vector<Setting> given_;
    std::string fault_;
};

using Made = std::unique_ptr<Order>;

Made published_tiresias(Settings&, const Surroundings&) {
    return std::make_unique<Levels>(std::vector<GpuMs>{3250 * kSecond, 7200 * kSecond});
}

Made gittins(Settings& settings, const Surroundings& surroundings) {
    constexpr std::int64_t kOneOverE = 37;  // percent
    const auto sticky = settings.number("sticky", kOneOverE, 1, 100);
    return std::make_unique<Gittins>(surroundings.sizes, sticky);
}

Made finish_fair(Settings& settings, const Surroundings& surroundings) {
    const FinishFair::Terms usual;
    return std::make_unique<FinishFair>(FinishFair::Terms{
        .gpus = std::max(surroundings.gpus, 1),
        .worst_percent = settings.number("worst", usual.worst_percent, 100, 10'000),
        .long_percent = settings.number("long", usual.long_percent, 1, 10'000),
        .soon = settings.duration("soon", usual.soon),
        .round = settings.duration("round", usual.round)});
}

struct Maker {
    NamedOrder about;
    Made (*make)(Settings&, const Surroundings&);
};

template <Overtaking kOvertaking>
Made arrival(Settings&, const Surroundings&) {
    return std::make_unique<Arrival>(kOvertaking);
}

template <Size kSize>
Made shortest(Settings&, const Surroundings&) {
    return std::make_unique<Shortest>(kSize);
}

constexpr Maker kMakers[] = {
    {{"fifo", "by submission; the first that does not fit blocks all behind it"},
     arrival<Overtaking::None>},
    {{"fjf", "by submission; what fits may overtake"}, arrival<Overtaking::WhatFits>},
    {{"sjf", "the fewest GPUs first"}, shortest<Size::Gpus>},
    {{"srtf", "the shortest time left first; knows durations"}, shortest<Size::TimeLeft>},
    {{"srsf", "the least GPU time left first; knows durations"}, shortest<Size::ServiceLeft>},
    {{"finish-fair", "who would soon end unfairly late first, else as srsf; knows durations"},
     finish_fair},
    {{"tiresias", "three queues by GPU time used, FIFO by start, as published"},
     published_tiresias},
    {{"tiresias-released", "the same as the released simulator does it"},
     [](Settings&, const Surroundings&) -> Made { return std::make_unique<TiresiasReleased>(); }},
    {{"gittins", "the cheapest next completion first; knows how sizes are distributed"}, gittins},
};

constexpr auto kNames = [] {
    std::array<NamedOrder, std::size(kMakers)> names;
    std::ranges::transform(kMakers, names.begin(), &Maker::about);
    return names;
}();

}  // namespace

std::span<const NamedOrder> order_names() { return kNames; }

bool is_order_name(std::string_view name) {
    return std::ranges::find(kNames, name, &NamedOrder::name) != kNames.end();
}

base::Result<std::unique_ptr<Order>> order_named(std::string_view text,
                                                 const Surroundings& surroundings) {
    const std::string_view name = text.substr(0, text.find(':'));
    const auto maker =
        std::ranges::find(kMakers, name, [](const Maker& one) { return one.about.name; });
    if (maker == std::end(kMakers)) {
        std::string known;
        for (const NamedOrder& one : kNames) known += " " + std::string(one.name);
        return base::invalid("reference \"" + std::string(name) + "\" is none of:" + known);
    }
    const auto wrong = [&](const base::Error& error) {
        return base::invalid("reference \"" + std::string(text) + "\": " + error.message);
    };
    auto settings = Settings::parse(text.substr(name.size()));
    if (!settings) return wrong(settings.error());
    Made order = maker->make(*settings, surroundings);
    if (const base::Status verdict = settings->verdict(); !verdict) return wrong(verdict.error());
    return order;
}

}  // namespace berth::reference
