// SPDX-License-Identifier: Apache-2.0
//
// What viewers know of all jobs is what a fresh look would say, however rarely they look.
#include "api/live/job_rows.h"

#include <doctest/doctest.h>

#include <map>
#include <set>

#include "base/rng.h"

using namespace berth;
using api::JobRows;
using model::JobId;
using namespace std::chrono_literals;

namespace {

// Jobs of no cluster: rows say what the test wants.
struct World {
    void set(std::int64_t id, const std::string& text, bool has_tasks = false) {
        model::JobRecord* record = state.jobs.get({id});
        if (record == nullptr) record = &state.jobs.emplace({id}, {});
        record->id = {id};
        record->detail = text;
        if (has_tasks) record->tasks.emplace_back();
        happen(id);
    }
    void end(std::int64_t id, const std::string& text) {
        state.jobs.erase({id});
        ended[{id}] = text;
        happen(id);
    }
    void happen(std::int64_t id) {
        ++state.sequence;
        rows.touch({id});
    }
    void look(base::Duration later = base::Duration{100}) {
        now += later;
        rows.look(
            state, now,
            [](const model::JobRecord& record) { return row(record.id, record.detail); },
            [&](JobId id) { rows.put_ended(id, row(id, ended.at(id))); });
    }
    static std::string row(JobId id, const std::string& text) {
        return std::to_string(id.value) + text;
    }

    lifecycle::State state;
    std::map<JobId, std::string> ended;
    model::TimePoint now{};
    JobRows rows;
};

std::string said(bool is_whole, const std::string& rows, const std::string& gone = "",
                 int more = 0) {
    return std::string(R"({"whole":)") + (is_whole ? "true" : "false") + R"(,"rows":[)" + rows +
           R"(],"gone":[)" + gone + R"(],"more":)" + std::to_string(more) + "}";
}

// What a viewer makes of all that it hears.
struct Viewer {
    void hear(const std::string& text) {
        if (text.starts_with(R"({"whole":true)")) rows.clear();
        const std::size_t begin = text.find('[') + 1;
        read(text.substr(begin, text.find(']') - begin), true);
        const std::size_t gone = text.find('[', begin) + 1;
        read(text.substr(gone, text.find(']', gone) - gone), false);
    }
    void read(const std::string& list, bool is_there) {
        std::size_t at = 0;
        while (at < list.size()) {
            const std::size_t end = std::min(list.find(',', at), list.size());
            const std::string one = list.substr(at, end - at);
            if (is_there) rows[std::stoll(one)] = one;
            if (!is_there) rows.erase(std::stoll(one));
            at = end + 1;
        }
    }
    void see(const JobRows& known) {
        if (known.revision() == seen) return;
        hear(known.since(seen));
        seen = known.revision();
    }

    std::map<std::int64_t, std::string> rows;
    JobRows::Revision seen = 0;
};

}  // namespace

TEST_CASE("a viewer hears all jobs, then what is new") {
    World world;
    world.set(1, "waits");
    world.set(2, "runs");
    CHECK(world.rows.revision() == 0);
    world.look();
    const JobRows::Revision first = world.rows.revision();
    CHECK(world.rows.since(0) == said(true, "1waits,2runs"));
    world.set(1, "runs");
    world.look();
    CHECK(world.rows.since(first) == said(false, "1runs"));
    const JobRows::Revision second = world.rows.revision();
    world.look();
    CHECK(world.rows.revision() == second);
}

TEST_CASE("what is said of a job changes with other jobs too, and is seen within a round") {
    World world;
    world.set(1, "second");
    world.look();
    const JobRows::Revision first = world.rows.revision();
    world.state.jobs.at({1}).detail = "later";  // no event is about it
    ++world.state.sequence;
    world.look(1s);
    CHECK(world.rows.since(first) == said(false, "1later"));
}

TEST_CASE("the more jobs there are, the rarer is a round") {
    World world;
    for (std::int64_t id = 1; id <= 4'000; ++id) world.set(id, "waits");
    for (int i = 0; i < 6; ++i) world.look();
    const JobRows::Revision before = world.rows.revision();
    world.state.jobs.at({7}).detail = "later";  // no event is about it
    ++world.state.sequence;
    world.look(1s);
    CHECK(world.rows.revision() == before);
    world.look(3s);
    CHECK(world.rows.since(before) == said(false, "7later"));
}

TEST_CASE("who was away goes on by the last sequence, or hears all") {
    World world;
    world.look();
    CHECK(world.rows.revision_at(world.state.sequence) == 0);  // said by a server before, perhaps
    world.set(1, "waits");
    world.look();
    const std::int64_t known = world.rows.sequence();
    CHECK(known == world.state.sequence);
    world.set(2, "waits");
    world.look();
    CHECK(world.rows.since(world.rows.revision_at(known)) == said(false, "2waits"));
    CHECK(world.rows.revision_at(known + 100) == 0);
    CHECK(world.rows.revision_at(-1) == 0);
}

TEST_CASE("rows that were forgotten are said again, under new revisions") {
    World world;
    world.set(1, "waits");
    world.look();
    const JobRows::Revision before = world.rows.revision();
    world.rows.begin_anew();
    CHECK(world.rows.revision() == 0);
    world.look();
    CHECK(world.rows.revision() > before);
    CHECK(world.rows.since(before) == said(false, "1waits"));
}

TEST_CASE("of jobs that have ended the newest stay") {
    World world;
    const auto many = static_cast<std::int64_t>(api::kEndedRowsMax);
    for (std::int64_t id = 1; id <= many + 1; ++id) world.set(id, "runs");
    world.look();
    const JobRows::Revision before = world.rows.revision();
    for (std::int64_t id = 1; id <= many + 1; ++id) world.end(id, "ended");
    world.look();
    const std::string now = world.rows.since(before);
    CHECK(now.ends_with(R"("gone":[1],"more":0})"));
    CHECK(now.find("101ended") != std::string::npos);
}

TEST_CASE("of very many jobs those that run are shown, and what is left out is counted") {
    World world;
    const auto many = static_cast<std::int64_t>(api::kRowsMax);
    for (std::int64_t id = 1; id <= many + 3; ++id) world.set(id, "waits", id == many + 2);
    for (int i = 0; i < 12; ++i) {
        CHECK((world.rows.revision() == 0) == (i < 11));  // until all were looked at
        world.look();
    }
    const std::string now = world.rows.since(0);
    CHECK(now.ends_with(R"("gone":[],"more":2})"));
    CHECK(now.find("10002waits") != std::string::npos);
    CHECK(now.find("10003waits") == std::string::npos);
}

TEST_CASE("whenever viewers look, they know what a fresh look says") {
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
        CAPTURE(seed);
        base::Rng dice(seed);
        World world;
        std::vector<Viewer> viewers(4);
        for (int step = 0; step < 60; ++step) {
            const auto id = dice.between(1, 150);
            const bool is_known = world.state.jobs.find({id}) != world.state.jobs.end();
            if (is_known && dice.chance(1, 3)) {
                world.end(id, "e" + std::to_string(step));
            } else if (is_known || !world.ended.contains({id})) {
                world.set(id, "s" + std::to_string(step));
            }
            if (dice.chance(1, 2)) world.look(base::Duration{dice.between(100, 1300)});
            for (Viewer& viewer : viewers) {
                if (world.rows.revision() > 0 && dice.chance(1, 4)) viewer.see(world.rows);
            }
        }
        world.look(2s);
        Viewer fresh;
        fresh.see(world.rows);
        for (Viewer& viewer : viewers) {
            viewer.see(world.rows);
            CHECK(viewer.rows == fresh.rows);
        }
        for (const auto& [id, record] : world.state.jobs) {
            CHECK(fresh.rows.at(id.value) == World::row(id, record.detail));
        }
    }
}
