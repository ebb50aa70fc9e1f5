// SPDX-License-Identifier: Apache-2.0
#include "control/shortage.h"

#include <utility>

namespace berth::control {

void RoomWatch::look(const ports::Store& store, model::TimePoint now, bool may_end) {
    next_look_ = now + kRoomLook;
    ports::Room room = store.room();
    if (!shortage_) {
        if (room.is_short()) shortage_ = Shortage{std::move(room), now};
        return;
    }
    shortage_->room = std::move(room);
    if (may_end && shortage_->room.is_ample()) shortage_.reset();
}

void RoomWatch::begin_shortage(const ports::Store& store, model::TimePoint now) {
    shortage_ = Shortage{store.room(), shortage_ ? shortage_->since : now};
    next_look_ = now + kRoomLook;
}

base::Error RoomWatch::refusal() const {
    return {base::ErrorCode::Exhausted, shortage_text(shortage_ ? shortage_->room : ports::Room())};
}

std::string shortage_text(const ports::Room& room) {
    const std::string place = "\"" + room.path + "\"";
    std::string found = place + " has " + base::format(room.free) + " free";
    if (room.files < ports::kFilesWanted) {
        found = place + " has room for " + std::to_string(room.files) + " more files, " +
                std::to_string(ports::kFilesWanted) + " are wanted (inodes)";
    } else if (room.is_short()) {
        found += ", " + base::format(room.wanted) + " are wanted";
    } else {
        found += " and takes no more (a quota?)";
    }
    return "the disk is full: " + found +
           "; nothing new is taken up until there is room; free some (logs of jobs lie in \"" +
           room.path + "/jobs\") and it goes on by itself";
}

base::Error outcome_unknown(const base::Error& cause) {
    return {base::ErrorCode::Unavailable,
            "the event log cannot be written: " + cause.message +
                "; unknown whether this was done: ask again with the same key"};
}

}  // namespace berth::control
