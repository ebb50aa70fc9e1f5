// SPDX-License-Identifier: Apache-2.0
//
// How does nobody wait for ever? Around any order: a job that has waited longer than `patience`
// times what it ever ran (ten minutes at least) is due. Due jobs get, oldest first, a run of their
// own in front of all others but those that have hardly run at all: a twentieth of what they ran,
// an hour at least. Together they hold at most a share of the GPUs, so that under overload the
// guard slows the order down by that share and no more. A job wider than the share gets its run
// when no other has one.
//
// ByFairEnd it is due when it is as old as `patience` times the end that would be fair if it were
// done now: what it ever ran (a minute at least) times the mean demand during its life, in parts of
// all GPUs (Mahajan et al., Themis, NSDI'20). Its run is then as long as what it ever ran, two
// minutes at least and an hour at most, or a twentieth if that is more. It keeps the worst
// finish-time fairness near `patience`, but promises no end of a wait while demand only grows.
//
// Without the bound on the share overload makes everybody due, and the order is lost; without the
// exception a job of seconds waits for a due one's hour (docs/simulation.md).
#pragma once

#include <deque>
#include <memory>

#include "ordering/order.h"

namespace berth::ordering {

class Guarded final : public Order {
  public:
    enum class Due : std::uint8_t { ByWait, ByFairEnd };
    struct Terms {
        Due due = Due::ByWait;
        std::int64_t patience = 5;
        std::int32_t gpus_at_once = 0;
        std::int32_t gpus = 1;  // of the cluster; ByFairEnd
    };

    // `inner` gives no negative levels, and on level 0 keys 0 and 1 to those who have hardly run.
    Guarded(std::unique_ptr<Order> inner, Terms terms) : inner_(std::move(inner)), terms_(terms) {}

    Habits habits() const override { return inner_->habits(); }
    Rank rank(const Standing& job) const override;
    TimePoint next_change(const Standing& job) const override;
    std::optional<Bounds> bounds(const Standing& job) const override;
    void notice(Happening happening, const Standing& job) override;
    void settle(std::span<const Ticket> started, std::span<const Ticket> paused) override;
    Moved moved() override;

  private:
    enum class Claim : std::uint8_t { None, Due, Granted };
    struct Watch {
        Claim claim = Claim::None;
        std::int32_t gpus = 0;
        GpuMs asked_before = 0;  // asked_ at submission
        Duration held_until{};  // its run is over when it has held GPUs for so long
        std::int64_t number = 0;  // in order of grants
    };

    const Watch& watch(Ticket job) const { return watches_[static_cast<std::size_t>(job)]; }
    Watch& watch(Ticket job) { return watches_[static_cast<std::size_t>(job)]; }
    TimePoint due_at(const Standing& job) const;
    bool is_by_fair_end() const { return terms_.due == Due::ByFairEnd; }
    Duration fair_age(const Standing& job) const;
    bool is_due(const Standing& job) const;
    Duration run(const Standing& job) const;
    void go_to(TimePoint now);
    void give_up(Ticket job);
    void grant();

    std::unique_ptr<Order> inner_;
    Terms terms_;
    std::vector<Watch> watches_;
    TimePoint now_;
    std::int64_t demand_ = 0;  // GPUs asked by all that have not ended
    GpuMs asked_ = 0;  // the same, summed over time
    std::deque<Ticket> due_;  // oldest first; some may not be due any more
    std::int32_t granted_gpus_ = 0;
    std::int64_t grants_ = 0;
    std::vector<Ticket> moved_;
};

}  // namespace berth::ordering
