// SPDX-License-Identifier: Apache-2.0
#include "codec/log/event_log.h"

#include <doctest/doctest.h>

#include <set>
#include <string>

#include "codec/fields/random_model.h"
#include "codec/text/json.h"

using namespace berth;

namespace {

constexpr std::uint64_t kSeeds = 4000;

std::string written(const model::Event& event) {
    std::string text;
    codec::append_event(text, event);
    return text;
}

}  // namespace

TEST_CASE("events of every type are read back as they were written") {
    std::set<std::size_t> types;
    for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
        codec::RandomModel dice(seed);
        const model::Event event = dice.event(static_cast<std::int64_t>(seed));
        const std::string text = written(event);
        const auto read = codec::parse_event(text);
        CAPTURE(text);
        REQUIRE(read.has_value());
        REQUIRE(read->sequence == event.sequence);
        REQUIRE(read->time == event.time);
        REQUIRE(read->actor == event.actor);
        REQUIRE(read->body.index() == event.body.index());
        REQUIRE(codec::job_of(read->body) == codec::job_of(event.body));
        REQUIRE(written(*read) == text);
        REQUIRE(codec::parse_json(text, "event").has_value());
        if (const auto* submitted = std::get_if<model::JobSubmitted>(&event.body)) {
            REQUIRE(std::get<model::JobSubmitted>(read->body).spec == submitted->spec);
        }
        if (const auto* starting = std::get_if<model::JobStarting>(&event.body)) {
            REQUIRE(std::get<model::JobStarting>(read->body).tasks == starting->tasks);
        }
        if (const auto* set = std::get_if<model::NodeSet>(&event.body)) {
            REQUIRE(std::get<model::NodeSet>(read->body).node == set->node);
        }
        if (const auto* set = std::get_if<model::ProjectSet>(&event.body)) {
            REQUIRE(std::get<model::ProjectSet>(read->body).project == set->project);
        }
        types.insert(event.body.index());
    }
    CHECK(types.size() == std::variant_size_v<model::EventBody>);
}

TEST_CASE("commands keep every byte of their environment") {
    for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
        codec::RandomModel dice(seed);
        const model::LaunchSpec launch = dice.any<model::LaunchSpec>();
        std::string text;
        codec::append_launch(text, launch);
        const auto read = codec::parse_launch(text);
        REQUIRE(read.has_value());
        REQUIRE(read->command == launch.command);
        REQUIRE(read->environment == launch.environment);
        REQUIRE(read->workdir == launch.workdir);
        REQUIRE(read->checkpoint_dir == launch.checkpoint_dir);
        REQUIRE(read->pause.signal == launch.pause.signal);
        REQUIRE(read->pause.grace == launch.pause.grace);
        REQUIRE(read->terminal == launch.terminal);
        REQUIRE(read->attached == launch.attached);
        REQUIRE(read->user == launch.user);
    }
}

TEST_CASE("records and snapshots are read back as they were written") {
    for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
        codec::RandomModel dice(seed);
        const model::JobRecord record = dice.any<model::JobRecord>();
        std::string text;
        codec::append_finished(text, record);
        const auto read = codec::parse_finished(text);
        CAPTURE(text);
        REQUIRE(read.has_value());
        REQUIRE(read->record.id == record.id);
        REQUIRE(read->record.spec == record.spec);
        REQUIRE(read->record.tasks == record.tasks);
        REQUIRE_FALSE(read->launch.has_value());
        std::string again;
        codec::append_finished(again, read->record);
        REQUIRE(again == text);

        std::string snapshot_text;
        codec::append_snapshot(snapshot_text, dice.any<model::Snapshot>());
        const auto snapshot = codec::parse_snapshot(snapshot_text);
        REQUIRE(snapshot.has_value());
        std::string snapshot_again;
        codec::append_snapshot(snapshot_again, *snapshot);
        REQUIRE(snapshot_again == snapshot_text);
    }
}

TEST_CASE("the text of an event is the documented one") {
    model::Event event{7, base::at_ms(1'700'000'000'000), "scheduler", model::JobRunning{{3}}};
    CHECK(
        written(event) ==
        R"({"v":1,"seq":7,"time":1700000000000,"actor":"scheduler","type":"job_running","job":3})");
    event.body = model::JobPaused{{3}, true};
    event.actor = "\xff\"\n";
    CHECK(written(event) ==
          R"({"v":1,"seq":7,"time":1700000000000,"actor":"\udcff\"\n","type":"job_paused","job":3,)"
          R"("saved":true})");
}

TEST_CASE("a newer version, another type and a broken text are refused") {
    const auto error_of = [](std::string_view text) {
        const auto event = codec::parse_event(text);
        return event ? "none" : event.error().message;
    };
    CHECK(error_of(R"({"v":2,"seq":1})") ==
          "cannot read a stored event: line 1: written by a newer version of Berth (format 2, "
          "this program knows up to 1)");
    CHECK(error_of(R"({"v":1,"type":"job_eaten"})") ==
          "cannot read a stored event: line 1: unknown type of event \"job_eaten\"");
    CHECK(error_of("") == "cannot read a stored event: line 1: wanted an object");
    CHECK(error_of(R"({"seq":1})") ==
          "cannot read a stored event: line 1: wanted the format version \"v\" in front");
    CHECK(error_of(R"({"v":1,"seq":1})") ==
          "cannot read a stored event: line 1: wanted the type of the event");
    CHECK(error_of(R"({"v":1,"type":"job_starting","job":1,"attempt":3000000000})") ==
          "cannot read a stored event: line 1: this number is too large");
    CHECK(error_of(R"({"v":1,"new":[{}],"type":"job_held","later":{"a":[1,"x"]},"job":4})") ==
          "none");
}

TEST_CASE("a mutilated text is refused or read, never more") {
    base::Rng rng(11);
    for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
        std::string text = written(codec::RandomModel(seed).event(1));
        for (std::int64_t i = rng.between(1, 3); i > 0; --i) {
            const std::size_t place = rng.index(text.size());
            if (rng.chance(1, 2)) {
                text[place] = static_cast<char>(rng.between(0, 255));
            } else {
                text.erase(place, rng.index(5));
            }
            if (text.empty()) text = "{";
        }
        const auto read = codec::parse_event(text);
        if (read) CHECK(codec::parse_event(written(*read)).has_value());
    }
}
