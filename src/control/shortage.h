// SPDX-License-Identifier: Apache-2.0
//
// Is there room for more, on the file system of the log and of jobs' files? Asked at each turn,
// which costs a microsecond. It is short below what is wanted, or when the log could not be
// written, and ample again at twice that.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "ports/store.h"

namespace berth::control {

// While there is a shortage, the file system is asked at least this often.
inline constexpr base::Duration kRoomLook{1000};

struct Shortage {
    ports::Room room;
    model::TimePoint since;
};

class RoomWatch {
  public:
    // A shortage ends only where it `may_end`.
    void look(const ports::Store& store, model::TimePoint now, bool may_end);
    // The log could not be written.
    void begin_shortage(const ports::Store& store, model::TimePoint now);

    const std::optional<Shortage>& shortage() const { return shortage_; }
    model::TimePoint next_look() const { return next_look_; }
    // For what asks for more, while there is a shortage.
    base::Error refusal() const;

  private:
    std::optional<Shortage> shortage_;
    model::TimePoint next_look_;
};

// Found, wanted and what to do: `the disk is full: "/data" has 12K free, 64M are wanted; ...`.
std::string shortage_text(const ports::Room& room);

// The answer for what was not written: it may be, by the next try or after a restart.
base::Error outcome_unknown(const base::Error& cause);

}  // namespace berth::control
