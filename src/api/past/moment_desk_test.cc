// SPDX-License-Identifier: Apache-2.0
#include "api/past/moment_desk.h"

#include <doctest/doctest.h>

#include "api/past/log_of_test.h"
#include "codec/log/event_log.h"

using namespace berth;
using api::FoldedLog;
using api::FoldLimits;
using api::LogOfTest;
using api::Moment;
using api::MomentDesk;
using model::JobId;

namespace {

constexpr FoldLimits kSmall{.part = 4, .snapshots = 4, .bytes = SIZE_MAX};

base::TimePoint in_second(std::int64_t number) { return base::at_ms(number * 1'000); }

// The event with that number happens in the second with that number.
LogOfTest log_of_jobs(std::int64_t jobs) {
    LogOfTest log;
    log.happen(model::LogBegun{"one", {0}, {}});
    model::Project project;
    project.name = "nlp";
    log.happen(model::ProjectSet{project});
    for (std::int64_t job = 1; job <= jobs; ++job) log.submit({job});
    return log;
}

std::string text_of(const lifecycle::State& state) {
    std::string text;
    codec::append_snapshot(text, lifecycle::snapshot(state));
    return text;
}

// By one fold from the beginning.
std::string state_at(const LogOfTest& log, base::TimePoint at) {
    lifecycle::State state;
    for (const model::Event& event : log.events) {
        if (event.time <= at) lifecycle::apply(state, event);
    }
    return text_of(state);
}

base::Status go_to(FoldedLog& folded, base::TimePoint at) {
    while (true) {
        BERTH_TRY(is_there, folded.fold_on(at));
        if (is_there) return {};
    }
}

struct FoundMoment {
    MomentDesk::Done done() {
        return [this](base::Result<std::shared_ptr<Moment>> found) {
            is_there = true;
            if (found) {
                moment = *found;
            } else {
                error = found.error();
            }
        };
    }
    bool is_there = false;
    std::shared_ptr<Moment> moment = {};
    std::optional<base::Error> error = {};
};

MomentDesk desk_of(LogOfTest& log, FoldLimits limits = kSmall) {
    return {FoldedLog(log.open_log(), limits), log.background(), model::berth_policy()};
}

}  // namespace

TEST_CASE("at the very moment of an event it has happened, a millisecond before it has not") {
    LogOfTest log = log_of_jobs(3);
    FoldedLog folded(log.open_log(), kSmall);
    REQUIRE(go_to(folded, in_second(4)));
    CHECK(folded.state().last_job == JobId{2});
    REQUIRE(go_to(folded, in_second(4) - base::Duration{1}));
    CHECK(folded.state().last_job == JobId{1});
    REQUIRE(go_to(folded, in_second(1'000)));
    CHECK(folded.state().last_job == JobId{3});
}

TEST_CASE("of a moment before the first event nothing is known") {
    LogOfTest log = log_of_jobs(3);
    FoldedLog folded(log.open_log(), kSmall);
    const auto before = folded.fold_on(in_second(1) - base::Duration{1});
    REQUIRE_FALSE(before);
    CHECK(before.error().code == base::ErrorCode::NotFound);
    CHECK(folded.begins() == in_second(1));
    REQUIRE(go_to(folded, in_second(1)));
    CHECK(folded.state().sequence == 1);
    REQUIRE(go_to(folded, in_second(5)));
    CHECK_FALSE(folded.fold_on(in_second(0)));
    REQUIRE(go_to(folded, in_second(5)));
}

TEST_CASE("between two starts of the server the state is that at the end of the first") {
    LogOfTest log = log_of_jobs(2);
    log.happen(model::LogBegun{"two", {2}, {}});
    log.submit({3});
    FoldedLog folded(log.open_log(), kSmall);
    REQUIRE(go_to(folded, in_second(4) + base::Duration{500}));
    CHECK(folded.state().incarnations.size() == 1);
    CHECK(folded.state().jobs.size() == 2);
    REQUIRE(go_to(folded, in_second(5)));
    CHECK(folded.state().incarnations.size() == 2);
    CHECK(folded.state().last_job == JobId{2});
}

TEST_CASE("moments in any order are those that one fold from the beginning gives") {
    LogOfTest log = log_of_jobs(60);
    FoldedLog folded(log.open_log(), kSmall);
    for (const std::int64_t at : {60, 3, 31, 32, 30, 62, 1, 17, 61, 2}) {
        REQUIRE(go_to(folded, in_second(at)));
        CHECK(text_of(folded.state()) == state_at(log, in_second(at)));
    }
}

TEST_CASE("the second question about a long log reads a small part of it") {
    LogOfTest log = log_of_jobs(998);
    FoldedLog folded(log.open_log(), {.part = 10, .snapshots = 20, .bytes = SIZE_MAX});
    REQUIRE(go_to(folded, in_second(1'000)));
    CHECK(log.read == 1'000);
    for (const std::int64_t at : {500, 111, 999}) {
        log.read = 0;
        REQUIRE(go_to(folded, in_second(at)));
        CHECK(log.read <= 1'000 / 10 + 10);
    }
}

TEST_CASE("snapshots that are too large are not kept, and answers are the same") {
    LogOfTest log = log_of_jobs(60);
    FoldedLog folded(log.open_log(), {.part = 4, .snapshots = 4, .bytes = 1});
    for (const std::int64_t at : {60, 31}) {
        REQUIRE(go_to(folded, in_second(at)));
        CHECK(text_of(folded.state()) == state_at(log, in_second(at)));
    }
}

TEST_CASE("a log in which an event is missing or impossible is an error that names it") {
    LogOfTest log = log_of_jobs(4);
    SUBCASE("missing") { log.events.erase(log.events.begin() + 3); }
    SUBCASE("impossible") { log.events[3].body = model::JobReleased{{17}}; }
    FoldedLog folded(log.open_log(), kSmall);
    const auto found = go_to(folded, in_second(100));
    REQUIRE_FALSE(found);
    CHECK(found.error().code == base::ErrorCode::Internal);
    CHECK(go_to(folded, in_second(3)));
}

TEST_CASE("a moment is found by the other thread, a part at a time, and then is there at once") {
    LogOfTest log = log_of_jobs(10);
    MomentDesk desk = desk_of(log);
    FoundMoment first;
    desk.ask(in_second(11), first.done());
    CHECK(log.read == 0);
    CHECK_FALSE(first.is_there);
    CHECK(log.work() == 3);
    REQUIRE(first.moment);
    CHECK(first.moment->now == in_second(11));
    CHECK(first.moment->state.last_job == JobId{9});
    CHECK(desk.begins() == in_second(1));
    FoundMoment again;
    desk.ask(in_second(11), again.done());
    CHECK(again.moment == first.moment);
}

TEST_CASE("who asks for the same moment meanwhile gets the same answer, others theirs") {
    LogOfTest log = log_of_jobs(10);
    MomentDesk desk = desk_of(log);
    FoundMoment answers[3];
    desk.ask(in_second(11), answers[0].done());
    desk.ask(in_second(4), answers[1].done());
    desk.ask(in_second(11), answers[2].done());
    log.work();
    CHECK(answers[0].moment == answers[2].moment);
    CHECK(answers[0].moment->state.last_job == JobId{9});
    CHECK(answers[1].moment->state.last_job == JobId{2});
}

TEST_CASE("only the moments that were asked for last are kept") {
    LogOfTest log = log_of_jobs(10);
    MomentDesk desk = desk_of(log);
    std::weak_ptr<Moment> first;
    for (std::size_t i = 0; i <= api::kMomentsKept + 1; ++i) {
        FoundMoment answer;
        desk.ask(in_second(3 + static_cast<std::int64_t>(i)), answer.done());
        log.work();
        if (i == 0) first = answer.moment;
    }
    CHECK(first.expired());
}

TEST_CASE("the policy of a moment has what people had set by then") {
    LogOfTest log = log_of_jobs(1);
    log.happen(model::PolicySet{{{"order", "age"}}, {}});
    MomentDesk desk = desk_of(log);
    FoundMoment before;
    FoundMoment after;
    desk.ask(in_second(3), before.done());
    desk.ask(in_second(4), after.done());
    log.work();
    CHECK(before.moment->policy.order.by == model::berth_policy().order.by);
    CHECK(after.moment->policy.order.by == model::JobOrder::Age);
}

TEST_CASE("of a very long log so much is read for one question, and the next one goes on") {
    LogOfTest log = log_of_jobs(58);
    MomentDesk desk = desk_of(log, {.part = 4, .question = 40});
    FoundMoment first;
    desk.ask(in_second(std::ssize(log.events)), first.done());
    log.work();
    REQUIRE(first.error);
    CHECK(first.error->code == base::ErrorCode::Exhausted);
    CHECK(first.error->message.starts_with("the log is still being read: 40 events"));
    FoundMoment next;
    desk.ask(in_second(std::ssize(log.events)), next.done());
    log.work();
    REQUIRE(next.moment);
    CHECK(next.moment->state.sequence == std::ssize(log.events));
}

TEST_CASE("where it cannot be found out the question has an error, and the next one is answered") {
    LogOfTest log = log_of_jobs(3);
    MomentDesk desk = desk_of(log);
    FoundMoment failed;
    SUBCASE("the log cannot be read") {
        log.is_broken = true;
        desk.ask(in_second(4), failed.done());
        log.work();
        log.is_broken = false;
    }
    SUBCASE("too much is asked of the other thread") {
        log.is_busy = true;
        desk.ask(in_second(4), failed.done());
        log.is_busy = false;
    }
    CHECK(failed.error);
    FoundMoment answer;
    desk.ask(in_second(4), answer.done());
    log.work();
    CHECK(answer.moment);
}
