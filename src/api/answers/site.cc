// SPDX-License-Identifier: Apache-2.0
#include "api/answers/site.h"

#include <algorithm>
#include <charconv>

#include "api/answers/routes.h"

namespace berth::api {

base::Result<std::int64_t> parse_number(std::string_view name, std::string_view text) {
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error == std::errc() && end == text.data() + text.size() && number >= 0) return number;
    return base::invalid(std::string(name) + ": wanted a whole number, found \"" +
                         std::string(text) + "\"");
}

void on_events(Site& site, std::span<const model::Event> events) {
    site.waiting.on_events(events);
    site.live.on_events(events);
    site.map.on_events(events);
}

void on_tick(Site& site) {
    site.waiting.on_tick(site.clock.now());
    if (!site.live.is_empty()) show_news(site);
}

bool has_listeners(const Site& site) { return !site.waiting.is_empty() || !site.live.is_empty(); }

void end_listening(Site& site) {
    site.waiting.answer_all();
    site.live.end();
}

base::Result<base::Duration> Call::wait() const {
    const std::string* text = request.find("wait");
    if (text == nullptr) return base::Duration{0};
    BERTH_TRY(seconds, parse_number("wait", *text));
    return std::min(base::Duration{std::min<std::int64_t>(seconds, 3600) * 1000}, kWaitMax);
}

base::Result<std::int64_t> Call::number(std::string_view name, std::int64_t fallback) const {
    const std::string* text = request.find(name);
    if (text == nullptr) return fallback;
    return parse_number(name, *text);
}

std::string Call::text(std::string_view name) const {
    const std::string* text = request.find(name);
    return text == nullptr ? std::string() : *text;
}

base::Result<model::JobId> Call::job() const {
    BERTH_TRY(number, parse_number("job", words.front()));
    return model::JobId{number};
}

}  // namespace berth::api
