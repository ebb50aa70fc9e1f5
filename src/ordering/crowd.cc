// SPDX-License-Identifier: Apache-2.0
#include "ordering/crowd.h"

#include <algorithm>

namespace berth::ordering {

Crowd::Sums Crowd::sums_at(TimePoint now) const {
    const auto time =
        static_cast<std::uint64_t>(std::max((now - sums_.until).count(), Duration::rep{0}));
    return {sums_.asked + static_cast<std::uint64_t>(asked_) * time,
            sums_.may_have + static_cast<std::uint64_t>(may_have_) * time,
            std::max(now, sums_.until)};
}

void Crowd::ask(std::int64_t more, TimePoint now) {
    sums_ = sums_at(now);
    asked_ += more;
}

void Crowd::have(std::int64_t may_have, TimePoint now) {
    if (may_have == may_have_) return;
    sums_ = sums_at(now);
    may_have_ = may_have;
}

Crowd::Life Crowd::life(const Sums& before, TimePoint now) const {
    const Sums sums = sums_at(now);
    // One that was submitted this moment has seen what is asked now.
    return {std::max(sums.asked - before.asked, static_cast<std::uint64_t>(asked_)),
            std::max(sums.may_have - before.may_have, static_cast<std::uint64_t>(may_have_))};
}

Duration Crowd::Life::stretch(Duration alone) const {
    __extension__ using Wide = __int128;
    const Wide crowded = Wide{alone.count()} * asked / std::max<std::uint64_t>(may_have, 1);
    constexpr Duration kCentury{std::int64_t{100} * 365 * 24 * 3600 * 1000};
    return std::clamp(
        Duration{static_cast<Duration::rep>(std::min(crowded, Wide{kCentury.count()}))}, alone,
        std::max(alone, kCentury));
}

}  // namespace berth::ordering
