// SPDX-License-Identifier: Apache-2.0
#include "model/job/task_groups.h"

#include <doctest/doctest.h>

namespace {

using berth::model::JobSpec;
using berth::model::TaskGroup;
using berth::model::TopologyRequest;
using Groups = std::vector<TaskGroup>;
namespace model = berth::model;

TopologyRequest request(std::string_view text) { return model::parse_task_groups(text).value(); }
Groups parsed(std::string_view text) { return request(text).groups; }

std::string problem(const TopologyRequest& topology, int tasks_min, int tasks_max) {
    JobSpec spec;
    spec.topology = topology;
    spec.tasks_min = tasks_min;
    spec.tasks_max = tasks_max;
    const auto status = model::check_task_groups(spec);
    return status ? "" : status.error().message;
}

TEST_CASE("groups are said in one word, equal ones by their number") {
    CHECK(parsed("4") == Groups{{"1", 4, 4, ""}});
    CHECK(parsed("2x8@rack") == Groups{{"1", 8, 8, "rack"}, {"2", 8, 8, "rack"}});
    CHECK(parsed("prefill:4@node,decode:8..16@rack") ==
          Groups{{"prefill", 4, 4, "node"}, {"decode", 8, 16, "rack"}});
    CHECK(parsed("a:1,2..3") == Groups{{"a", 1, 1, ""}, {"2", 2, 3, ""}});
}

TEST_CASE("the shortest text says the same groups again") {
    for (const char* text : {"4", "3x8@rack", "prefill:4@node,decode:8..16@rack",
                             "a:1,2..3,2x4@node", "2x1,2,2:5@rack", "x:2@node,x:2@node"}) {
        CHECK(model::format_task_groups(request(text)) == text);
    }
    CHECK(model::format_task_groups(request("1@rack,1@rack")) == "2x1@rack");
}

TEST_CASE("equal groups say how many of them start together") {
    CHECK(parsed("2..4x8@rack") == parsed("4x8@rack"));
    CHECK(request("2..4x8@rack").groups_min == 2);
    CHECK(request("4..4x8").groups_min == 0);
    CHECK(model::format_task_groups(request("2..4x8@rack")) == "2..4x8@rack");
    JobSpec spec;
    spec.topology = request("2..4x8@rack");
    model::count_tasks(spec);
    CHECK(spec.tasks_min == 16);
    CHECK(spec.tasks_max == 32);
}

TEST_CASE("what are no groups is refused with an example") {
    for (const char* text : {"",     "0",      "x",      "3x",       "0x4",      "4@",      ":4",
                             "4..2", "257x1",  "a:2x4",  "4,,4",     "100001",   "4..",     "-1",
                             "4 ",   "3..2x8", "0..2x8", "2..257x1", "1..2x8,4", "4,1..2x8"}) {
        const auto groups = model::parse_task_groups(text);
        REQUIRE_FALSE(groups.has_value());
        CHECK(groups.error().message.starts_with("wanted groups such as 4x8@rack"));
    }
}

TEST_CASE("ranks go through the groups in order, as many as each may have") {
    JobSpec spec;
    spec.topology.groups = parsed("a:1..2,b:3");
    model::count_tasks(spec);
    CHECK(spec.tasks_min == 4);
    CHECK(spec.tasks_max == 5);
    CHECK(model::group_of(spec, 1)->name == "a");
    CHECK(model::group_of(spec, 2)->name == "b");
    CHECK(model::group_of(spec, 5) == nullptr);
    CHECK(model::group_of(JobSpec{}, 0) == nullptr);
}

TEST_CASE("groups agree with each other and with the job") {
    const auto problem_of = [](Groups groups, int tasks_min, int tasks_max) {
        return problem({.groups = std::move(groups)}, tasks_min, tasks_max);
    };
    CHECK(problem({}, 3, 4).empty());
    CHECK(problem(request("a:1..2,b:3"), 4, 5).empty());
    CHECK(problem(request("a:1..2,b:3"), 4, 6) ==
          "they sum to 4..5 tasks, the job asks for 4..6; say the number in the groups alone");
    CHECK(problem_of({{"", 1, 1, ""}}, 1, 1) == "a group needs a name");
    CHECK(problem_of({{"a", 1, 1, ""}, {"a", 1, 1, ""}}, 2, 2) == "\"a\" is there twice");
    CHECK(problem_of({{"a", 0, 1, ""}}, 0, 1) ==
          "\"a\": wanted 1 <= min <= max, found min 0, max 1");
    CHECK(problem_of({{"a", 60'000, 60'000, ""}, {"b", 60'000, 60'000, ""}}, 120'000, 120'000) ==
          "wanted at most 100000 tasks, found 120000");
}

TEST_CASE("only groups that are alike start with some of them") {
    CHECK(problem(request("2..4x8@rack"), 16, 32).empty());
    const auto start_with = [](std::string_view text, int groups_min) {
        TopologyRequest topology = request(text);
        topology.groups_min = groups_min;
        return problem(topology, 1, 1);
    };
    CHECK(start_with("4,8", 1) ==
          "where 1 of 2 groups start first, wanted groups of one size and level, without names, "
          "such as 2..4x8@rack, found 4,8");
    CHECK(start_with("2x4..8", 1).ends_with("found 2x4..8"));
    CHECK(start_with("a:4,b:4", 1).ends_with("found a:4,b:4"));
    for (const int groups_min : {-1, 2}) {
        CHECK(start_with("2x4", groups_min) == "groups_min: wanted fewer than all 2, found " +
                                                   std::to_string(groups_min) +
                                                   "; leave it out where all start together");
    }
    CHECK(problem({.groups_min = 1}, 1, 1).starts_with("groups_min: wanted fewer than all 0"));
}

}  // namespace
