// SPDX-License-Identifier: Apache-2.0
//
// What has one job had? In all, and in its attempt by day and line: that may still turn out to be
// something else, until it is saved or the next attempt begins.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "ledger/places.h"

namespace berth::ledger {

// Whose, and by which attempt: what one has had counts as decided once another one begins.
struct Holder {
    std::string project;
    std::string user;
    int attempt = 0;
};

// `many` of every `of`.
struct Part {
    std::int64_t many = 0;
    std::int64_t of = 1;
};

class Account {
  public:
    explicit Account(TimePoint begins) : settled_(begins) {}

    void settle(const Moment& now, const Places& places);
    void hold(const Holder& holder);
    void forget_until(TimePoint time);
    void forget_before(std::int64_t day);

    // These trust that it is settled.
    void save();
    // Of work that is not saved at most so much, the latest first.
    void lose(GpuUse to, std::int64_t milli_gpu_ms, Rows& rows);
    // Of what is not measured at most so much, the latest first, saved or not.
    void measure(Part busy, std::int64_t milli_gpu_ms, Rows& rows);

    GpuTimes times(TimePoint until) const;
    std::int64_t gpus() const;  // that it has now, in thousandths
    model::JobTime written(JobId id, const Rows& rows) const;
    void restore(const model::JobTime& time, Rows& rows);

    Charges used;
    Charges promised;

  private:
    struct Recent {
        std::int64_t day = 0;
        LineId line = 0;
        bool is_saved = false;
        GpuTimes times;
    };
    struct Change {
        GpuUse from;
        GpuUse to;
    };

    LineId line_at(NodeId node, const Places& places, Rows& rows);
    Recent& recent(std::int64_t day, LineId line);
    std::int64_t move(Recent& recent, Change change, std::int64_t most, Rows& rows);

    Holder holder_;
    TimePoint settled_;
    GpuTimes times_;
    std::vector<Recent> recent_;  // by day
    std::vector<std::pair<std::size_t, LineId>> lines_;  // by place
};

}  // namespace berth::ledger
