// SPDX-License-Identifier: Apache-2.0
//
// What viewers know of all jobs is what a fresh look would say, however rarely they look.
#include "api/live/job_rows.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <vector>

#include "base/rng.h"
#include "codec/text/json.h"

using namespace berth;
using api::JobRows;
using model::JobId;
using namespace std::chrono_literals;

namespace {

// Jobs of no cluster: lines say what the test wants, and why they wait.
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
        std::erase(order, JobId{id});
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
            state, now, [this](const model::JobRecord& record) { return look_of(record); },
            [&](JobId id) { rows.put_ended(id, line(id, ended.at(id))); });
    }
    api::JobLook look_of(const model::JobRecord& record) const {
        api::JobLook look{.line = line(record.id, record.detail)};
        if (const auto why = whys.find(record.id); why != whys.end())
            look.explanation = "\"" + why->second + "\"";
        const auto at = std::ranges::find(order, record.id);
        if (at == order.end()) return look;
        look.positions = {{1, static_cast<int>(at - order.begin()) + 1}};
        return look;
    }
    static std::string line(JobId id, const std::string& text) {
        return R"({"id":)" + std::to_string(id.value) + R"(,"is":")" + text + R"("})";
    }

    lifecycle::State state;
    std::map<JobId, std::string> ended;
    std::map<JobId, std::string> whys;
    std::vector<JobId> order;
    model::TimePoint now{};
    JobRows rows;
};

std::string text_of(const codec::Value& map, std::string_view name) {
    const codec::Value* found = map.find(name);
    return found == nullptr ? "" : found->text;
}

// What a viewer makes of all that it hears.
struct Viewer {
    struct Seen {
        std::string is;
        std::string why;
        std::int64_t place = 0;
        bool operator==(const Seen&) const = default;
    };

    void see(const JobRows& known) {
        if (known.revision() == seen) return;
        hear(known.since(seen));
        seen = known.revision();
    }
    void hear(const std::string& text) {
        const auto news = codec::parse_json(text, "news");
        REQUIRE(news);
        bytes = text.size();
        if (text_of(*news, "whole") == "true") {
            rows.clear();
            explanations.clear();
        }
        for (const auto& [number, why] : news->find("explanations")->members)
            explanations[number] = why.text;
        lines = news->find("rows")->items.size();
        for (const codec::Value& row : news->find("rows")->items)
            rows[std::stoll(text_of(row, "id"))] = row;
        for (const codec::Value& job : news->find("gone")->items) rows.erase(std::stoll(job.text));
        more = std::stoi(text_of(*news, "more"));
    }
    std::map<std::int64_t, Seen> all() const {
        std::map<std::int64_t, Seen> all;
        for (const auto& [id, row] : rows) {
            const auto why = explanations.find(text_of(row, "explanation"));
            const codec::Value* places = row.find("places");
            const bool waits = places != nullptr && !places->items.empty();
            all[id] = {text_of(row, "is"), why == explanations.end() ? "" : why->second,
                       waits ? std::stoll(places->items.front().items.at(1).text) : 0};
        }
        return all;
    }
    std::vector<JobId> order() const {
        std::vector<std::pair<std::int64_t, JobId>> places;
        for (const auto& [id, seen_of] : all())
            if (seen_of.place > 0) places.emplace_back(seen_of.place, JobId{id});
        std::ranges::sort(places);
        std::vector<JobId> jobs;
        for (const auto& [place, job] : places) jobs.push_back(job);
        return jobs;
    }

    std::map<std::int64_t, codec::Value> rows;
    std::map<std::string, std::string> explanations;
    JobRows::Revision seen = 0;
    std::size_t lines = 0;  // of the news heard last
    std::size_t bytes = 0;
    int more = 0;
};

// Jobs 1 to `many` wait, alike, in that order; a viewer knows them.
World crowd(std::int64_t many, Viewer& viewer) {
    World world;
    for (std::int64_t id = 1; id <= many; ++id) {
        world.set(id, "waits");
        world.whys[{id}] = "8 GPUs idle";
        world.order.push_back({id});
    }
    while (world.rows.revision() == 0) world.look();
    viewer.see(world.rows);
    return world;
}

}  // namespace

TEST_CASE("a viewer hears all jobs, then what is new") {
    World world;
    world.set(1, "waits");
    world.set(2, "runs");
    CHECK(world.rows.revision() == 0);
    world.look();
    const JobRows::Revision first = world.rows.revision();
    CHECK(world.rows.since(0) ==
          R"({"whole":true,"rows":[{"id":1,"is":"waits"},{"id":2,"is":"runs"}],"gone":[],)"
          R"("more":0,"explanations":{}})");
    world.set(1, "runs");
    world.look();
    CHECK(world.rows.since(first) ==
          R"({"whole":false,"rows":[{"id":1,"is":"runs"}],"gone":[],"more":0,"explanations":{}})");
    const JobRows::Revision second = world.rows.revision();
    world.look();
    CHECK(world.rows.revision() == second);
}

TEST_CASE("what is said of a job changes with other jobs too, and is seen within a round") {
    World world;
    world.set(1, "second");
    world.look();
    Viewer viewer;
    viewer.see(world.rows);
    world.state.jobs.at({1}).detail = "later";  // no event is about it
    ++world.state.sequence;
    world.look(1s);
    viewer.see(world.rows);
    CHECK(viewer.all().at(1).is == "later");
}

TEST_CASE("why jobs wait is said once for all that wait alike") {
    Viewer viewer;
    World world = crowd(3'000, viewer);
    CHECK(viewer.explanations.size() == 1);
    for (auto& [job, why] : world.whys) why = "7 GPUs idle";
    ++world.state.sequence;
    for (int i = 0; i < 3; ++i) world.look(i == 0 ? 4s : 100ms);
    viewer.see(world.rows);
    CHECK(viewer.lines == 0);
    CHECK(viewer.all().at(3'000).why == "7 GPUs idle");

    world.whys[{5}] = "on hold";
    world.happen(5);
    world.look();
    viewer.see(world.rows);
    CHECK(viewer.lines == 1);
    CHECK(viewer.all().at(5).why == "on hold");
    CHECK(viewer.all().at(6).why == "7 GPUs idle");
}

TEST_CASE("a job that comes or goes changes the place of no other") {
    Viewer viewer;
    World world = crowd(3'000, viewer);
    CHECK(viewer.order() == world.order);
    world.set(3'001, "is urgent");
    world.order.insert(world.order.begin(), {3'001});
    world.end(7, "ended");
    for (int i = 0; i < 4; ++i) world.look(i == 0 ? 4s : 100ms);
    viewer.see(world.rows);
    CHECK(viewer.lines == 2);
    CHECK(viewer.order() == world.order);
}

TEST_CASE("who waits in two queues has a place in both, and keeps the one in which it stays") {
    World world;
    world.set(1, "waits");
    JobRows rows;
    std::vector<api::JobLook::Position> positions{{7, 2}, {8, 1}};
    const auto look = [&](base::Duration later) {
        ++world.state.sequence;
        rows.look(
            world.state, world.now += later,
            [&](const model::JobRecord& record) {
                return api::JobLook{.line = World::line(record.id, "waits"),
                                    .positions = positions};
            },
            [](JobId) {});
        return rows.since(0);
    };
    CHECK(look(100ms).find(R"("places":[[7,1048576],[8,1048576]])") != std::string::npos);
    positions = {{8, 1}};
    CHECK(look(2s).find(R"("places":[[8,1048576]])") != std::string::npos);
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
    CHECK(world.rows.revision() > before);
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
    Viewer viewer;
    viewer.hear(world.rows.since(world.rows.revision_at(known)));
    CHECK(viewer.lines == 1);
    CHECK(viewer.rows.contains(2));
    CHECK(world.rows.revision_at(known + 100) == 0);
    CHECK(world.rows.revision_at(-1) == 0);
}

TEST_CASE("rows that were forgotten are said again, under new revisions") {
    Viewer viewer;
    World world = crowd(1, viewer);
    const JobRows::Revision before = world.rows.revision();
    world.rows.begin_anew();
    CHECK(world.rows.revision() == 0);
    world.look();
    CHECK(world.rows.revision() > before);
    viewer.see(world.rows);
    CHECK(viewer.lines == 1);
    CHECK(viewer.all().at(1).why == "8 GPUs idle");
}

TEST_CASE("of jobs that have ended the newest stay") {
    World world;
    const auto many = static_cast<std::int64_t>(api::kEndedRowsMax);
    for (std::int64_t id = 1; id <= many + 1; ++id) world.set(id, "runs");
    world.look();
    Viewer viewer;
    viewer.see(world.rows);
    for (std::int64_t id = 1; id <= many + 1; ++id) world.end(id, "ended");
    world.look();
    viewer.see(world.rows);
    CHECK(viewer.rows.size() == api::kEndedRowsMax);
    CHECK_FALSE(viewer.rows.contains(1));
    CHECK(viewer.all().at(101).is == "ended");
}

TEST_CASE("of very many jobs those that run are shown, and what is left out is counted") {
    World world;
    const auto many = static_cast<std::int64_t>(api::kRowsMax);
    for (std::int64_t id = 1; id <= many + 3; ++id) world.set(id, "waits", id == many + 2);
    for (int i = 0; i < 12; ++i) {
        CHECK((world.rows.revision() == 0) == (i < 11));  // until all were looked at
        world.look();
    }
    Viewer viewer;
    viewer.see(world.rows);
    CHECK(viewer.more == 2);
    CHECK(viewer.rows.contains(10'002));
    CHECK_FALSE(viewer.rows.contains(10'003));
}

TEST_CASE("whenever viewers look, they know what a fresh look says") {
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
        CAPTURE(seed);
        base::Rng dice(seed);
        World world;
        std::vector<Viewer> viewers(4);
        const auto some_why = [&] {
            return std::string(1, static_cast<char>(dice.between('a', 'd')));
        };
        for (int step = 0; step < 60; ++step) {
            const JobId id{dice.between(1, 150)};
            const bool is_known = world.state.jobs.find(id) != world.state.jobs.end();
            if (is_known && dice.chance(1, 3)) {
                world.end(id.value, "e" + std::to_string(step));
            } else if (is_known || !world.ended.contains(id)) {
                world.set(id.value, "s" + std::to_string(step));
                if (!is_known) {
                    const auto at = dice.between(0, std::ssize(world.order));
                    world.order.insert(world.order.begin() + at, id);
                }
                world.whys[id] = some_why();
            }
            if (dice.chance(1, 5)) {  // all that wait for one thing wait for another
                const std::string from = some_why();
                const std::string to = some_why();
                for (auto& [job, why] : world.whys) why = why == from ? to : why;
            }
            if (dice.chance(1, 2)) world.look(base::Duration{dice.between(100, 1300)});
            for (Viewer& viewer : viewers) {
                if (world.rows.revision() > 0 && dice.chance(1, 4)) viewer.see(world.rows);
            }
        }
        ++world.state.sequence;
        world.look(2s);
        Viewer fresh;
        fresh.see(world.rows);
        for (Viewer& viewer : viewers) {
            viewer.see(world.rows);
            CHECK(viewer.all() == fresh.all());
        }
        CHECK(fresh.order() == world.order);
        for (const auto& [id, record] : world.state.jobs) {
            CHECK(fresh.all().at(id.value).is == record.detail);
            CHECK(fresh.all().at(id.value).why == world.whys.at(id));
        }
    }
}
