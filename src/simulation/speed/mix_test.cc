// SPDX-License-Identifier: Apache-2.0
//
// Who may share GPUs, and how fast are they then? Worked out by hand from the published rules.
#include "simulation/speed/mix.h"

#include <doctest/doctest.h>

#include "simulation/speed/interleave.h"

namespace berth::simulation {
namespace {

Profile stages(double iteration, double input, double gpu, double network) {
    return {.iteration_ms = iteration, .input_ms = input, .gpu_ms = gpu, .network_ms = network};
}

TraceJob job(const Profile& profile, const char* name = "") {
    TraceJob one;
    one.work = std::chrono::hours(1);
    one.profile = profile;
    one.name = name;
    return one;
}

Profile idle(std::int32_t sm_percent, std::int32_t memory_percent = 10) {
    return {.sm_percent = sm_percent, .memory_percent = memory_percent};
}

Mixes::Mix all_of(Mixes& mixes, std::size_t jobs) {
    Mixes::Mix mix = Mixes::kEmpty;
    for (std::size_t at = 0; at < jobs && mix != Mixes::kRefused; ++at) {
        mix = mixes.with(mix, mixes.kind(at));
    }
    return mix;
}

bool may_share(const Trace& trace, Packing packing, const SpeedTable* table = nullptr) {
    Mixes mixes(trace, packing, table);
    return all_of(mixes, trace.size()) != Mixes::kRefused;
}

}  // namespace

TEST_CASE("interleaved: alone a job loses 1.5 percent, as Muri measured") {
    const Profile one[] = {stages(200, 100, 80, 0)};
    CHECK(interleaved_iteration_ms(one) == doctest::Approx(203));
}

TEST_CASE("interleaved: one reads while the other computes") {
    const Profile two[] = {stages(100, 100, 0, 0), stages(90, 0, 60, 30)};
    CHECK(interleaved_iteration_ms(two) == doctest::Approx(100 * 1.33 / 1.015));
}

TEST_CASE("interleaved: four that all compute take four turns") {
    const std::vector<Profile> four(4, stages(10, 0, 10, 0));
    CHECK(interleaved_iteration_ms(four) == doctest::Approx(40 * 1.37 / 1.015));
}

TEST_CASE("interleaved: reading lasts two of the four turns, so two pairs of readers overlap") {
    const std::vector<Profile> four(4, stages(10, 10, 0, 0));
    CHECK(interleaved_iteration_ms(four) == doctest::Approx(20 * 1.37 / 1.015));
}

TEST_CASE("two half-idle jobs keep three quarters of their speed each") {
    Mixes mixes({job(idle(50)), job(idle(50))}, Packing::Pairs, nullptr);
    const Mixes::Mix mix = all_of(mixes, 2);
    REQUIRE(mix != Mixes::kRefused);
    CHECK(mixes.speed(mix, mixes.kind(0)) == 750'000);
    CHECK(mixes.total(mix) == 1'500'000);
}

TEST_CASE("pairs: memory first, then 120 percent of the SMs, and never three") {
    CHECK(may_share({job(idle(60)), job(idle(60))}, Packing::Pairs));
    CHECK_FALSE(may_share({job(idle(60)), job(idle(61))}, Packing::Pairs));
    CHECK(may_share({job(idle(10, 50)), job(idle(10, 50))}, Packing::Pairs));
    CHECK_FALSE(may_share({job(idle(10, 50)), job(idle(10, 51))}, Packing::Pairs));
    CHECK_FALSE(may_share({job(idle(10)), job(idle(10)), job(idle(10))}, Packing::Pairs));
    CHECK_FALSE(may_share({job(idle(10)), job(idle(10))}, Packing::None));
}

TEST_CASE("jobs of which nothing is known together do not share") {
    CHECK_FALSE(may_share({job(Profile{}), job(idle(10))}, Packing::Pairs));
    CHECK_FALSE(may_share({job(Profile{}), job(Profile{})}, Packing::Muri));
}

TEST_CASE("who together would be slower than one after the other does not share") {
    const Profile computes = stages(10, 0, 10, 0);
    CHECK_FALSE(may_share({job(computes), job(computes)}, Packing::Muri));
    CHECK(may_share({job(computes), job(stages(10, 10, 0, 0))}, Packing::Muri));
}

TEST_CASE("a pair's measured speeds count before any model") {
    SpeedTable table;
    table.beside[{{"a", 1}, {"b", 1}}] = 0.9;
    table.beside[{{"b", 1}, {"a", 1}}] = 0.6;
    Mixes mixes({job(idle(50), "a"), job(idle(50), "b")}, Packing::Pairs, &table);
    const Mixes::Mix mix = all_of(mixes, 2);
    REQUIRE(mix != Mixes::kRefused);
    CHECK(mixes.speed(mix, mixes.kind(0)) == 900'000);
    CHECK(mixes.speed(mix, mixes.kind(1)) == 600'000);
    // It did not fit the memory: measured as 0.
    table.beside[{{"a", 1}, {"b", 1}}] = 0;
    CHECK_FALSE(may_share({job(idle(50), "a"), job(idle(50), "b")}, Packing::Pairs, &table));
}

TEST_CASE("a speed table in Gavel's form is read, and what is wrong has its line") {
    const std::vector<std::string> models{"v100"};
    const auto read = [&](std::string_view text) {
        return parse_speed_table(text, "t.json", models);
    };
    const auto table = read(R"json({"v100": {"('LM (batch size 10)', 2)": {"null": 200,
        "('LM (batch size 10)', 2)": [100, 100]}},
        "v100_unconsolidated": {"('LM (batch size 10)', 2)": {"null": 50}}})json");
    REQUIRE_MESSAGE(table, table.error().message);
    const SpeedTable::Job job{"LM (batch size 10)", 2};
    CHECK(table->alone(job, 0).spread == 0.25);
    CHECK(table->beside.at({job, job}) == 0.5);
    CHECK(read("{}").error().message ==
          "t.json:1: wanted \"v100\" and \"v100_unconsolidated\", found no model of GPU");
    CHECK(read(R"json({"v100": {"LM": {}}, "v100_unconsolidated": {}})json").error().message ==
          "t.json:1: wanted a job such as ('LM', 4), found \"LM\"");
    CHECK(read("{\"v100\": {\n\"('LM', 1)\": {\"null\": \"x\"}}, \"v100_unconsolidated\": {}}")
              .error()
              .message == "t.json:2: wanted steps a second behind \"null\"");
}

TEST_CASE("a speed table tells how fast jobs are on other models, as parts of the first") {
    const std::vector<std::string> models{"v100", "k80"};
    const auto read = [&](std::string_view text) { return parse_speed_table(text, "t", models); };
    const auto table = read(R"json({
        "v100": {"('LM', 2)": {"null": 200}, "('GAN', 1)": {"null": 8}},
        "v100_unconsolidated": {"('LM', 2)": {"null": 50}, "('GAN', 1)": {"null": 8}},
        "k80": {"('LM', 2)": {"null": 20}, "('GAN', 1)": {"null": 0}},
        "k80_unconsolidated": {"('LM', 2)": {"null": 0}}})json");
    REQUIRE_MESSAGE(table, table.error().message);
    CHECK(table->alone({"LM", 2}, 1).together == doctest::Approx(0.1));
    // Not measured when spread: as much is lost as on the first model.
    CHECK(table->alone({"LM", 2}, 1).spread == doctest::Approx(0.025));
    // A wider one is as the widest that was measured; a narrower one, and an unknown one, lose
    // nothing.
    CHECK(table->alone({"LM", 8}, 1).together == doctest::Approx(0.1));
    CHECK(table->alone({"LM", 1}, 1).together == 1);
    CHECK(table->alone({"?", 1}, 1).together == 1);
    // It did not run there.
    CHECK(table->alone({"GAN", 1}, 1).together == 0);
    CHECK(read(R"json({"v100": {}, "v100_unconsolidated": {}, "p100": {}})json").error().message ==
          "t:1: wanted \"k80\" and \"k80_unconsolidated\", found v100");
}

}  // namespace berth::simulation
