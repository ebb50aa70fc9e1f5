// SPDX-License-Identifier: Apache-2.0
//
// What waits for the next turn of the loop, and what becomes of it where there is no room?
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "control/transaction.h"

namespace berth::control {

enum class Kind {
    Fact,         // waits until the log can be written
    WhileLogged,  // a command that is refused when the log cannot be written
    Command,      // is refused as soon as there is no room for more
};

// What can be written down.
enum class Writable { All, Ends, Nothing };

class Inbox {
  public:
    using Turn = std::function<void(Transaction&)>;
    using Refuse = std::function<void(const base::Error&)>;

    void add(Turn turn, Kind kind, Refuse refuse) {
        items_.push_back({std::move(turn), kind, std::move(refuse)});
    }
    // Those whose time has come, in the order of arrival. The others wait, or are refused with
    // `refusal`.
    std::vector<Turn> take(Writable writable, const base::Error& refusal);

  private:
    struct Item {
        Turn turn;
        Kind kind = Kind::Fact;
        Refuse refuse;
    };
    std::vector<Item> items_;
};

}  // namespace berth::control
