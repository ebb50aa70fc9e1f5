// SPDX-License-Identifier: Apache-2.0
#include "adapters/system_clock/system_clock.h"

#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include <fstream>
#include <iterator>

namespace berth::system_clock {
namespace {

// One length for all marks, so that a new one covers the old one whole.
constexpr std::size_t kMarkSize = 160;

std::int64_t read_ms(clockid_t clock) {
    timespec now{};
    ::clock_gettime(clock, &now);
    return now.tv_sec * 1000LL + now.tv_nsec / 1'000'000;
}

Reading read_clocks() {
    Reading reading{read_ms(CLOCK_REALTIME), read_ms(CLOCK_BOOTTIME), {}};
    std::ifstream("/proc/sys/kernel/random/boot_id") >> reading.boot;
    return reading;
}

}  // namespace

SystemClock::SystemClock() : rule_({}, read_clocks()) {}

void SystemClock::go_on_from(const std::string& file) {
    std::ifstream stream(file);
    const std::string text(std::istreambuf_iterator<char>(stream), {});
    const std::lock_guard lock(mutex_);
    rule_ = GoingOn(parse_mark(text), read_clocks());
}

void SystemClock::not_before(base::TimePoint time) {
    const std::lock_guard lock(mutex_);
    rule_.not_before(base::to_ms(time), read_ms(CLOCK_BOOTTIME));
}

void SystemClock::keep(const std::string& file) const {
    const Reading now = read_clocks();
    std::string text;
    {
        const std::lock_guard lock(mutex_);
        text = text_of({rule_.time_ms(now.boot_ms), now});
    }
    text.resize(kMarkSize, ' ');
    const int made = ::open(file.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (made < 0) return;
    [[maybe_unused]] const ssize_t size = ::pwrite(made, text.data(), text.size(), 0);
    ::close(made);
}

base::TimePoint SystemClock::now() const {
    const std::lock_guard lock(mutex_);
    return base::at_ms(rule_.time_ms(read_ms(CLOCK_BOOTTIME)));
}

base::Duration SystemClock::date_shift() const {
    const std::lock_guard lock(mutex_);
    return base::Duration{rule_.date_shift_ms(read_ms(CLOCK_REALTIME), read_ms(CLOCK_BOOTTIME))};
}

}  // namespace berth::system_clock
