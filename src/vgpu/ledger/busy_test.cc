// SPDX-License-Identifier: Apache-2.0
#include "vgpu/ledger/busy.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <vector>

using namespace berth::vgpu::ledger;

namespace {

// The processes of one tenant on one GPU.
class Processes {
  public:
    explicit Processes(std::uint32_t count) {
        terms_.slots_end = count;
        for (std::uint32_t slot = 0; slot < count; ++slot)
            places_.push_back({line_.get(), &terms_, slot});
    }
    const Place& operator[](std::size_t process) const { return places_[process]; }
    std::size_t count() const { return places_.size(); }
    std::uint64_t busy() const {
        std::uint64_t sum = 0;
        for (const Place& place : places_) sum += line_->slots[place.slot].busy_ns;
        return sum;
    }
    Line& line() { return *line_; }

  private:
    std::unique_ptr<Line> line_ = std::make_unique<Line>();
    GpuTerms terms_{};
    std::vector<Place> places_;
};

}  // namespace

TEST_CASE("time with work of several processes is counted once") {
    const Processes of(2);
    begin_busy(of[0], 100);
    begin_busy(of[1], 110);
    end_busy(of[1], 130);
    begin_busy(of[1], 140);
    end_busy(of[0], 160);
    end_busy(of[1], 200);
    CHECK(of.busy() == 100);
}

TEST_CASE("time without work is not counted, and a second piece begins with the first") {
    const Processes of(1);
    begin_busy(of[0], 100);
    begin_busy(of[0], 120);
    end_busy(of[0], 150);
    begin_busy(of[0], 250);
    end_busy(of[0], 300);
    CHECK(of.busy() == 100);
}

TEST_CASE("where one piece has ended and another goes on, no time is lost") {
    const Processes of(2);
    begin_busy(of[0], 100);
    end_busy(of[0], 150, 120);
    CHECK(of.busy() == 50);
    end_busy(of[0], 180);
    CHECK(of.busy() == 80);
}

TEST_CASE("a long piece is counted while it goes on, short ones beside it are not") {
    const Processes of(2);
    begin_busy(of[0], 100);
    for (std::int64_t at = 110; at < 1000; at += 10) {
        begin_busy(of[1], at);
        end_busy(of[1], at + 5);
        count_busy(of[0], at + 5);
        CHECK(of.busy() == static_cast<std::uint64_t>(at + 5 - 100));
    }
    end_busy(of[0], 2000);
    CHECK(of.busy() == 1900);
}

TEST_CASE("what is counted ahead is not counted again when its end is seen") {
    const Processes of(1);
    count_ahead(of[0], 100, 20);
    count_ahead(of[0], 105, 20);  // behind the first
    CHECK(of.busy() == 40);
    begin_busy(of[0], 110);
    end_busy(of[0], 160);
    CHECK(of.busy() == 60);
    end_busy(of[0], 200);  // it had nothing
    CHECK(of.busy() == 60);
}

TEST_CASE("a line of garbage is counted without harm") {
    Processes of(2);
    for (const std::int64_t garbage : {INT64_MIN, std::int64_t{-1}, INT64_MAX}) {
        of.line().counted_until = garbage;
        of.line().slots[0].busy_since = garbage;
        count_busy(of[1], 1000);
        end_busy(of[0], 2000);
    }
    CHECK(of.line().slots[0].busy_since == 0);
}

TEST_CASE("whatever the processes do, what is counted is the time in which any has work") {
    for (std::uint32_t seed = 1; seed <= 200; ++seed) {
        std::mt19937 dice(seed);
        const Processes of(1 + seed % 8);
        std::vector<bool> works(of.count());
        std::uint64_t wanted = 0;
        std::int64_t now = 1000;
        for (int step = 0; step < 500; ++step) {
            const std::int64_t passed = dice() % 100;
            if (std::ranges::count(works, true) > 0) wanted += static_cast<std::uint64_t>(passed);
            now += passed;
            const std::size_t process = dice() % of.count();
            if (dice() % 3 == 0) {
                count_busy(of[process], now);
            } else if (works[process]) {
                end_busy(of[process], now);
                works[process] = false;
            } else {
                begin_busy(of[process], now);
                works[process] = true;
            }
        }
        count_busy(of[0], now);
        CHECK(of.busy() == wanted);
    }
}
