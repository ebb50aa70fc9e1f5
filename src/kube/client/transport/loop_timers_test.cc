// SPDX-License-Identifier: Apache-2.0
#include "kube/client/transport/loop_timers.h"

#include <doctest/doctest.h>

#include <string>

using namespace berth;
using kube::client::LoopTimers;
using std::chrono::milliseconds;

namespace {

struct StoppedClock final : ports::Clock {
    base::TimePoint now() const override { return {}; }
};

struct Rig {
    boost::asio::io_context loop;
    StoppedClock clock;
    std::unique_ptr<LoopTimers> timers = std::make_unique<LoopTimers>(loop, clock);
    std::string called;

    LoopTimers::Id note(char what, base::Duration wait) {
        return timers->start(wait, [this, what] { called += what; });
    }
};

}  // namespace

TEST_CASE("what is due is called in its order, and never before start returns") {
    Rig rig;
    rig.note('c', milliseconds(1));
    rig.note('a', milliseconds(0));
    rig.note('b', milliseconds(-5));
    CHECK(rig.called.empty());
    rig.loop.run();
    CHECK(rig.called == "abc");
}

TEST_CASE("what is called may start more, also what is due at once") {
    Rig rig;
    rig.timers->start(milliseconds(0), [&] {
        rig.called += 'a';
        rig.note('b', milliseconds(0));
    });
    rig.loop.run();
    CHECK(rig.called == "ab");
}

TEST_CASE("what was stopped is not called, whether it was due or not") {
    Rig rig;
    rig.timers->stop(rig.note('!', milliseconds(0)));
    rig.timers->stop(rig.note('!', milliseconds(1)));
    rig.loop.run();
    CHECK(rig.called.empty());
}

TEST_CASE("nothing is called once the timers are gone") {
    Rig rig;
    rig.note('!', milliseconds(0));
    rig.note('!', milliseconds(1));
    rig.timers.reset();
    rig.loop.run();
    CHECK(rig.called.empty());
}
