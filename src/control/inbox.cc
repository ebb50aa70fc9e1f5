// SPDX-License-Identifier: Apache-2.0
#include "control/inbox.h"

#include <iterator>

namespace berth::control {
namespace {

bool may_be_taken(Kind kind, Writable writable) {
    if (writable == Writable::Ends) return kind != Kind::Command;
    return writable == Writable::All;
}

}  // namespace

std::vector<Inbox::Turn> Inbox::take(Writable writable, const base::Error& refusal) {
    std::vector<Turn> turns;
    std::vector<Item> waiting;
    for (Item& item : std::exchange(items_, {})) {
        if (may_be_taken(item.kind, writable)) {
            turns.push_back(std::move(item.turn));
        } else if (item.kind == Kind::Fact) {
            waiting.push_back(std::move(item));
        } else {
            item.refuse(refusal);
        }
    }
    // What a refusal led to came later.
    items_.insert(items_.begin(), std::make_move_iterator(waiting.begin()),
                  std::make_move_iterator(waiting.end()));
    return turns;
}

}  // namespace berth::control
