// SPDX-License-Identifier: Apache-2.0
#include "codec/api/json_api.h"

#include <doctest/doctest.h>

#include "codec/api/api_fields.h"
#include "codec/api/timeline_json.h"
#include "codec/fields/random_model.h"
#include "codec/text/json.h"

using namespace berth;
using codec::Amounts;
using codec::NameTable;
using codec::RandomModel;

namespace {

constexpr std::uint64_t kApiSeeds = 2000;

codec::NameSource server_names() {
    return {[](model::NodeId node) { return "n" + std::to_string(node.value); },
            [](model::JobId job) { return "p/j" + std::to_string(job.value); }};
}

codec::JobView job_view(std::uint64_t seed) {
    RandomModel dice(seed, Amounts::Sensible);
    codec::JobView view{dice.any<model::JobRecord>(), std::nullopt, dice.text()};
    if (seed % 3 == 0) return view;
    model::Verdict& verdict = view.verdict.emplace();
    verdict.job = view.id;
    verdict.because(static_cast<model::Cause>(seed % model::kCauseCount));
    verdict.asks = {static_cast<std::int64_t>(seed)};
    verdict.scope = dice.text();
    verdict.blockers = {{static_cast<std::int64_t>(seed % 7)}, {3}};
    if (seed % 2 == 0) {
        verdict.suggestion = model::Suggestion{.kind = static_cast<model::SuggestionKind>(seed % 9),
                                               .name = dice.text(),
                                               .gpus = base::gpus(3),
                                               .tasks = 2,
                                               .jobs = {{static_cast<std::int64_t>(seed % 5)}}};
    }
    return view;
}

// Written by a server, read and written again by a client that learned the names while reading.
template <typename Write, typename Read>
void check_round_trip(Write&& write, Read&& read) {
    const std::string text = write(server_names());
    CAPTURE(text);
    const auto tree = codec::parse_json(text, "text");
    REQUIRE(tree.has_value());
    REQUIRE(tree->find("apiVersion")->text == "berth/v1");
    NameTable table;
    const auto value = read(text, table);
    if (!value) FAIL(value.error().message);
    const std::string again = write(table.source(), *value);
    REQUIRE(again == text);
}

}  // namespace

TEST_CASE("jobs and lists of jobs are read by the client as the server wrote them") {
    for (std::uint64_t seed = 1; seed <= kApiSeeds; ++seed) {
        const codec::JobView view = job_view(seed);
        check_round_trip(
            [&](const codec::NameSource& names, const codec::JobView& job = {}) {
                return codec::job_json(job.id.value == -1 && job.why.empty() ? view : job, names);
            },
            [](const std::string& text, NameTable& names) {
                return codec::parse_job(text, names);
            });
        NameTable table;
        const codec::Page<codec::JobView> page{{view, job_view(seed + 1)}, "cursor"};
        const auto read = codec::parse_job_list(codec::job_list_json(page, server_names()), table);
        REQUIRE(read.has_value());
        REQUIRE(read->items.size() == 2);
        REQUIRE(read->next == "cursor");
        REQUIRE(read->items[0].spec == view.spec);
        REQUIRE(read->items[0].created == view.created);
        REQUIRE(read->items[0].tasks.size() == view.tasks.size());
        for (std::size_t i = 0; i < view.tasks.size(); ++i) {
            REQUIRE(read->items[0].tasks[i].gpu_mask == view.tasks[i].gpu_mask);
            REQUIRE(table.nodes[read->items[0].tasks[i].node.index()] ==
                    server_names().node(view.tasks[i].node));
        }
    }
}

TEST_CASE("a timeline is read as it was written, and what is not known stays so") {
    model::JobTimeline timeline;
    timeline.sentence = "ft has run for 5 s.";
    timeline.now = base::at_ms(9'000);
    model::Span paused;
    paused.state = model::JobState::Paused;
    paused.from = base::at_ms(1'000);
    paused.to = base::at_ms(4'500);
    paused.rule = model::Rule::Reclaim;
    paused.beneficiary = {7};
    paused.actor = "scheduler";
    paused.is_saved = true;
    paused.lost_gpu_ms = 12;
    paused.nodes = {{0}, {1}};
    paused.gpus = {1'500};
    model::Span now;
    now.from = base::at_ms(4'500);
    now.is_on_hold = now.is_parked = true;
    timeline.spans = {paused, now};
    timeline.left_out = 3;
    timeline.ran = base::Duration{1'500};
    timeline.expected = {{model::JobState::Running, {base::at_ms(1), {}, base::at_ms(3)}, {}}};
    timeline.evidence = model::Evidence::Learned;
    check_round_trip(
        [&](const codec::NameSource& names, const model::JobTimeline& read = {}) {
            return codec::timeline_json(read.sentence.empty() ? timeline : read, names);
        },
        [](const std::string& text, NameTable& names) {
            return codec::parse_timeline(text, names);
        });
    NameTable names;
    const auto read = codec::parse_timeline(codec::timeline_json(timeline, server_names()), names);
    REQUIRE(read.has_value());
    CHECK(read->spans[0].rule == model::Rule::Reclaim);
    CHECK(read->spans[0].beneficiary == model::JobId{7});
    CHECK(read->spans[0].to == paused.to);
    CHECK_FALSE(read->spans[1].to);
    CHECK_FALSE(read->spans[1].rule);
    CHECK(read->expected == timeline.expected);
    CHECK(read->ran == timeline.ran);
}

TEST_CASE("events, plans, nodes and projects are read as they were written") {
    for (std::uint64_t seed = 1; seed <= kApiSeeds; ++seed) {
        codec::RandomModel dice(seed, Amounts::Sensible);
        const model::Event event = dice.event(static_cast<std::int64_t>(seed));
        check_round_trip(
            [&](const codec::NameSource& names, const model::Event& read = {}) {
                return codec::event_json(read.sequence == 0 ? event : read, names);
            },
            [](const std::string& text, NameTable& names) {
                return codec::parse_event_json(text, names);
            });
        const auto places = [&] { return dice.any<std::vector<model::TaskPlacement>>(); };
        codec::PlanView plan;
        plan.plan.starts = {{{1}, model::Rule::Reclaim, places()}};
        plan.plan.pauses = {{{2}, {0, 1}, false, model::Rule::Preempt, {1}, {5, 6}}};
        plan.plan.moves = {{{4}, places(), model::Rule::Consolidate, {1}, {7, 8}}};
        plan.plan.backfill = {{{5}, berth::base::at_ms(7000), 2, places(), places()}};
        plan.plan.reservations = {{{3}, model::Rule::Hold, places()}};
        plan.plan.dropped = {{4}};
        plan.plan.next_wakeup = base::at_ms(1'234'567);
        plan.verdicts = {*job_view(1).verdict};
        check_round_trip(
            [&](const codec::NameSource& names, const codec::PlanView& read = {}) {
                return codec::plan_json(read.plan.starts.empty() ? plan : read, names);
            },
            [](const std::string& text, NameTable& names) {
                return codec::parse_plan(text, names);
            });
        const auto node = dice.any<model::Node>();
        const codec::Page<codec::NodeView> nodes{{{node,
                                                   "h100",
                                                   "default",
                                                   "cells",
                                                   "interposer: no other way here",
                                                   {{3,
                                                     "uuid",
                                                     false,
                                                     {500},
                                                     {500},
                                                     {9},
                                                     {{7}},
                                                     {{{7}, {4}, {}, {{450}}}},
                                                     {{{{7}}, "n", 3, 77, {5}}},
                                                     30,
                                                     {},
                                                     {}}}}},
                                                 ""};
        check_round_trip(
            [&](const codec::NameSource& names, const codec::Page<codec::NodeView>& read = {}) {
                return codec::node_list_json(read.items.empty() ? nodes : read, names);
            },
            [](const std::string& text, NameTable& names) {
                return codec::parse_node_list(text, names);
            });
        const codec::PoolView pool{
            "cells", {{"cells", "a"}}, "default", true,  {{"H100", {1500}}}, 3,
            2,       {8000},           {500},     {4000}};
        const std::string text = codec::pool_list_json({{pool}, ""});
        const auto pools = codec::parse_pool_list(text);
        REQUIRE(pools.has_value());
        REQUIRE(codec::pool_list_json(*pools) == text);
        REQUIRE(pools->items[0].exchange == pool.exchange);
        const codec::ProjectView project{dice.any<model::Project>(),
                                         {{"h100", {1}, {2}, {3}, {4}, {5}, {6}}}};
        const auto projects = codec::parse_project_list(codec::project_list_json({{project}, ""}));
        REQUIRE(projects.has_value());
        REQUIRE(static_cast<const model::Project&>(projects->items[0]) == project);
        REQUIRE(projects->items[0].use[0].waiting == base::MilliGpu{6});
    }
}

TEST_CASE("what a client sends is read as it was written") {
    for (std::uint64_t seed = 1; seed <= kApiSeeds; ++seed) {
        RandomModel dice(seed, Amounts::Sensible);
        const model::Submission submission{dice.any<model::JobSpec>(),
                                           dice.any<model::LaunchSpec>(), dice.text()};
        const auto read = codec::parse_submission(codec::submission_json(submission));
        REQUIRE(read.has_value());
        REQUIRE(read->spec == submission.spec);
        REQUIRE(read->launch.environment == submission.launch.environment);
        REQUIRE(read->key == submission.key);
        REQUIRE(codec::submission_json(*read) == codec::submission_json(submission));
        const model::Project project = dice.any<model::Project>();
        REQUIRE(codec::parse_project(codec::project_json(project)) == project);
    }
}

TEST_CASE("the JSON of the API is the documented one") {
    model::Project project;
    project.name = "nlp";
    project.rights.quota = base::MilliGpu{2500};
    project.rights.weight = 500;
    project.rights.usage_ppm = 125'000;
    CHECK(codec::project_json(project) ==
          R"({"apiVersion":"berth/v1","kind":"Project","name":"nlp","parent":"","order":0,)"
          R"("rights":{"quota":2.5,"limit":-1,"cpu_quota":null,"memory_quota":null,)"
          R"("cpu_limit":null,"memory_limit":null,)"
          R"("weight":0.5,"priority":100,"kind":"guaranteed",)"
          R"("usage":0.125},"pools":{},"preemption_delay":null,"preempt_min_run":null,)"
          R"("reclaim_min_run":null,"job_order":null,"job_tail":null,"idle_after":null,)"
          R"("idle_act":null,"strict_shares":false})");
    const model::Event event{7, base::at_ms(1'700'000'000'250), "scheduler",
                             model::JobStarting{{3}, 1, {}, {{0, {4}, 6, {1000}, {8500}, {64}}}}};
    CHECK(codec::event_json(event, server_names()) ==
          R"({"apiVersion":"berth/v1","kind":"Event","sequence":7,)"
          R"("time":"2023-11-14T22:13:20.250Z","actor":"scheduler","type":"job_starting","job":3,)"
          R"("attempt":1,"rule":"allocate","tasks":[{"task":0,"node":"n4","gpus":[1,2],"share":1,)"
          R"("cpu":8.5,"memory":64,"gpu_memory":0,"memory_share":0}],"job_names":{"3":"p/j3"}})");
}

TEST_CASE("a client's mistakes are named, a newer server's additions are passed over") {
    const auto error_of = [](std::string_view text) {
        const auto read = codec::parse_submission(text);
        return read ? "none" : read.error().message;
    };
    CHECK(error_of(R"({"spec":{"name":"a"}})") == "none");
    CHECK(error_of("{\n\"spec\":{\"nmae\":\"a\"}}") ==
          "line 2: unknown field \"nmae\", did you mean \"name\"?");
    CHECK(error_of(R"({"apiVersion":"berth/v9"})") ==
          "line 1: wanted \"berth/v1\", found \"berth/v9\"");
    CHECK(error_of(R"({"kind":"Job"})") == "line 1: wanted \"Submission\", found \"Job\"");
    CHECK(error_of(R"({"spec":{"kind":"trian"}})") ==
          "line 1: wanted build, train or inference, found \"trian\"");
    CHECK(error_of(R"({"spec":{"request":{"share":0.12345}}})") ==
          "line 1: wanted a number with at most 3 decimals, found \"0.12345\"");
    CHECK(error_of(R"({"spec":{"tasks_min":"2"}})") == "line 1: wanted a number");
    CHECK(error_of("") == "line 1: wanted an object");
    NameTable names;
    const auto job = codec::parse_job(
        R"({"apiVersion":"berth/v1","kind":"Job","id":3,"later":{"x":[1]},"verdict":)"
        R"({"reason":"FullMoon"},"job_names":{"9":"a/b"}})",
        names);
    REQUIRE(job.has_value());
    CHECK(job->id == model::JobId{3});
    CHECK(names.jobs.at({9}) == "a/b");
}

TEST_CASE("errors travel through a problem document") {
    const base::Error error{base::ErrorCode::Conflict, "job \"a\" is running"};
    const std::string text = codec::problem_json(error, 409, "berth cancel 3");
    CHECK(codec::parse_problem(text).code == error.code);
    CHECK(codec::parse_problem(text).message == error.message);
    CHECK(codec::parse_problem("<html>").code == base::ErrorCode::Internal);
    const base::Error full{base::ErrorCode::Exhausted, "the disk is full"};
    CHECK(codec::problem_json(full, 429).find("\"exhausted\"") != std::string::npos);
    const std::string refusal = codec::problem_json(full, 503);
    CHECK(refusal.find("\"storage-full\"") != std::string::npos);
    CHECK(codec::parse_problem(refusal).code == base::ErrorCode::Exhausted);
}
