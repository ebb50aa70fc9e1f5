// SPDX-License-Identifier: Apache-2.0
//
// Who is let on one GPU? Its holder, whose window it is, or who borrows it from that meanwhile;
// once the last work of the one before has ended there, and at once who has a higher priority. Who
// is alone is not gated at all, unless it has a cap.
//
// Work of a former holder that does not end for long is not waited for. Then the driver divides the
// GPU's time among all processes with work, and each tenant is charged its part of that.
#pragma once

#include <cstdint>

#include "vgpu/windows/credits.h"

namespace berth::vgpu::windows {

enum class Right {
    open,  // no other tenant is there
    granted,  // until it is closed
    turn,  // for one iteration, or what is left of it (rotation.h)
    closed,
};

inline constexpr std::int64_t kNever = INT64_MAX;

class Place {
  public:
    explicit Place(const Pace& pace) : credits(pace), pace_(pace) {}

    Right right(TenantId tenant) const;
    TenantId holder() const { return holder_; }
    bool is_alone(TenantId tenant) const { return alone_ == tenant; }
    // Whether the holder's window has not begun, for others' work, or has come to its end.
    bool is_window_over(std::int64_t now) const { return !is_begun_ || now >= until_; }

    void leave(TenantId tenant);
    // Takes what was used into account, since rights were as they are.
    void account(std::int64_t now);
    // Ends what was lent: where it is wanted back, not used, or others wait as long as a window.
    void end_loan(std::int64_t now);
    void end_window(std::int64_t now);
    void give_window(TenantId to);
    // Where its holder has no work.
    bool can_be_lent(std::int64_t now) const;
    void lend(Guest& to, std::int64_t now);
    // Whether the holder's window has begun now, for its last one's work has ended.
    bool begin(std::int64_t now);
    void set_until(std::int64_t until) { until_ = until; }
    void find_alone(std::int64_t now);
    // When to look again at the latest.
    std::int64_t look_again(std::int64_t now) const;

    Credits credits;

  private:
    void drain(TenantId stopped, std::int64_t now);

    Pace pace_;
    TenantId holder_ = 0;
    bool is_begun_ = false;  // its window
    std::int64_t until_ = 0;
    TenantId borrower_ = 0;
    std::int64_t lent_until_ = 0;
    TenantId draining_ = 0;  // whose last work still runs
    std::int64_t drain_until_ = 0;
    TenantId alone_ = 0;  // who is not gated
};

}  // namespace berth::vgpu::windows
