// SPDX-License-Identifier: Apache-2.0
#include "foresight/what_if_sentence.h"

#include <doctest/doctest.h>

using namespace berth;
using model::Fate;

namespace {

model::WhatIf of(std::vector<std::pair<Fate, Fate>> fates, int waiting_now, int waiting_then) {
    model::WhatIf what_if;
    for (const auto& [now, then] : fates) {
        const model::JobId job{static_cast<model::JobId::Rep>(what_if.jobs.size() + 1)};
        what_if.jobs.push_back({job, {.fate = now}, {.fate = then}});
    }
    what_if.waiting_now = waiting_now;
    what_if.waiting_then = waiting_then;
    return what_if;
}

}  // namespace

TEST_CASE("what would happen to jobs is said first, then how many wait") {
    CHECK(foresight::sentence_of(of({}, 0, 0)) == "No job would start or pause; no job waits.");
    CHECK(foresight::sentence_of(of({}, 1, 1)) ==
          "No job would start or pause; 1 job waits as before.");
    CHECK(foresight::sentence_of(of({{Fate::Runs, Fate::Pauses},
                                     {Fate::Waits, Fate::Promised},
                                     {Fate::Waits, Fate::Starts}},
                                    2, 1)) ==
          "1 job would pause, and 2 would start; 1 job would wait, now 2 do.");
    CHECK(foresight::sentence_of(of(
              {{Fate::Runs, Fate::Shrinks}, {Fate::Runs, Fate::Moves}, {Fate::Runs, Fate::Grows}},
              1, 0)) ==
          "1 job would shrink, 1 would move, and 1 would grow; no job would wait, now 1 does.");
}

TEST_CASE("what is about to happen and would not is said too") {
    CHECK(foresight::sentence_of(
              of({{Fate::Starts, Fate::Waits}, {Fate::Pauses, Fate::Runs}}, 0, 1)) ==
          "1 job would not pause, and 1 would not start; 1 job would wait, now 0 do.");
}

TEST_CASE(
    "a job that waits for another reason, or starts elsewhere, makes no difference in words") {
    CHECK(foresight::sentence_of(of({{Fate::Waits, Fate::Waits}, {Fate::Starts, Fate::Promised}}, 1,
                                    1)) == "No job would start or pause; 1 job waits as before.");
}
