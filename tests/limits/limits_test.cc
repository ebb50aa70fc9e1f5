// SPDX-License-Identifier: Apache-2.0
#include "model/limits.h"

#include <doctest/doctest.h>

#include "lifecycle/check.h"
#include "limits/doors.h"

using namespace berth;
using berth::tests::Answer;
using berth::tests::Notation;

namespace {

struct Case {
    Notation field;
    std::vector<std::string> taken;
    std::vector<std::string> refused;
};

const std::string kHuge = "99999999999999999999";  // beyond 64 bits
const std::string kInt64 = "9223372036854775807";
const std::string kInt32 = "2147483647";
const std::string kAbove32 = "2147483648";

void check_answers(const std::vector<Answer>& answers, std::string_view field,
                   const std::string& value, bool is_taken) {
    for (const Answer& answer : answers) {
        CAPTURE(field);
        CAPTURE(value.substr(0, 60));
        CAPTURE(answer.door);
        CAPTURE(answer.refusal.value_or("taken"));
        CHECK(answer.refusal.has_value() != is_taken);
        CHECK(answer.refusal.value_or("").size() < 1000);
    }
}

void check_jobs(const std::vector<Case>& cases) {
    for (const Case& each : cases) {
        for (const std::string& value : each.taken) {
            check_answers(tests::hand_in_job(each.field, value), each.field.name, value, true);
        }
        for (const std::string& value : each.refused) {
            check_answers(tests::hand_in_job(each.field, value), each.field.name, value, false);
        }
    }
}

Case of_time(std::string_view name, std::string_view api, std::string_view file,
             std::string_view scenario) {
    return {
        {name, api, file, file, scenario}, {"0", "31536000"}, {"31536001", "-1", kInt64, kHuge}};
}

// Cases of the lists of a state file, by their names.
void check_lists(const std::vector<std::pair<std::string_view, Case>>& cases) {
    for (const auto& [list, each] : cases) {
        for (const std::string& value : each.taken) {
            check_answers(tests::describe(list, each.field, value), each.field.name, value, true);
        }
        for (const std::string& value : each.refused) {
            check_answers(tests::describe(list, each.field, value), each.field.name, value, false);
        }
    }
}

}  // namespace

TEST_CASE("a job's fields have the same limits by API, job file, state file and scenario") {
    const std::vector<Case> cases{
        {{"tasks", R"("elastic":"restart","tasks_min":$,"tasks_max":$)", "tasks: $", "min: $",
          "tasks=$"},
         {"1", "100000"},
         {"0", "-1", "100001", kInt32, kAbove32, kInt64, kHuge}},
        {{"tasks without GPUs", R"("elastic":"restart","request":{"gpus":0},"tasks_max":$)",
          "gpus: 0\ntasks: {min: 1, max: $}", "request: {gpus: 0}, min: 1, max: $",
          "gpus=0 min=1 max=$"},
         {"1024"},
         {"1025", "100000"}},
        {{"tasks with parts of a GPU",
          R"("elastic":"restart","request":{"gpus":1,"share":0.5},"tasks_max":$)",
          "gpus: 0.5\ntasks: {min: 1, max: $}", "request: {gpus: 0.5}, min: 1, max: $",
          "gpus=0.5 min=1 max=$"},
         {"1024"},
         {"1025", "100000"}},
        {{"most tasks", R"("elastic":"restart","tasks_max":$)", "tasks: {min: 1, max: $}",
          "min: 1, max: $", "min=1 max=$"},
         {"1", "100000"},
         {"100001", kInt32, kAbove32, kHuge}},
        {{"groups", R"("topology":{"groups":[{"name":"g","tasks_min":$,"tasks_max":$}]})",
          "groups: [{name: g, tasks: $}]", "groups: [{name: g, tasks: $}]", "groups=g:$"},
         {"1", "100000"},
         {"0", "-1", "100001", kInt32, kAbove32, kHuge}},
        {{"priority", R"("priority":$)", "priority: $", "priority: $", "priority=$"},
         {"1000000", "-1000000"},
         {"1000001", "-1000001", kInt32, "-" + kAbove32, kAbove32, kHuge}},
        {{"gpus", R"("request":{"gpus":$})", "gpus: $", "request: {gpus: $}", "gpus=$"},
         {"0", "64"},
         {"65", "-1", kInt32, kAbove32, kInt64, kHuge}},
        {{"gpu_memory", R"("request":{"gpu_memory":$})", "gpus: $B",
          "request: {gpus: 1, gpu_memory: $}", "gpu_memory=$"},
         {"1048576", "1125899906842624"},
         {"1125899906842625", "-1", kInt64, kHuge}},
        {{"cpu", R"("request":{"cpu":$})", "cpus: $", "request: {gpus: 1, cpu: $}", "cpu=$"},
         {"0", "1000000"},
         {"1000000.001", "-1", kInt64, kHuge}},
        {{"memory", R"("request":{"memory":$})", "memory: $", "request: {gpus: 1, memory: $}",
          "memory=$"},
         {"0", "1125899906842624"},
         {"1125899906842625", "-1", kInt64, kHuge}},
    };
    check_jobs(cases);
}

TEST_CASE("... its times, parts and names too") {
    const std::string long_name(model::kNameBytesMax, 'x');
    const std::vector<Case> cases{
        {{"tensor_skew", "", "tensor_skew: $", "tensor_skew: $", "skew=$"},
         {"0", "1"},
         {"1.001", "-1", kInt64, kHuge}},
        {{"tensor_skew_ppm", R"("tensor_skew_ppm":$)", "", "", ""},
         {"0", "1000000"},
         {"1000001", "-1", kInt64, kHuge}},
        of_time("min_run", R"("min_run":$)", "min_run: $", "min_run=$s"),
        of_time("expected_runtime", R"("expected_runtime":$)", "expected_runtime: $",
                "expected=$s"),
        of_time("preemption_delay", R"("preemption_delay":$)", "preemption_delay: $",
                "preemption_delay=$s"),
        of_time("restart_cost", R"("restart_cost":$)", "restart_cost: $", "restart_cost=$s"),
        {{"stale_grace", R"("stale_grace":$)", "stale_grace: $", "stale_grace: $",
          "stale_grace=$s"},
         {"0", "31536000"},
         {"31536001", kInt64, kHuge}},
        {{"name", R"("name":"$")", "name: $", "name: $", "a/$"},
         {"x", long_name},
         {long_name + "x"}},
        {{"gpu_model", R"("gpu_model":"$")", "gpus: \"$:1\"", "gpu_model: $", "model=$"},
         {"H100", long_name},
         {long_name + "x"}},
        {{"node_labels", R"("node_labels":{"$":"$"})", "node_labels: {$: $}", "node_labels: {$: $}",
          "label.$=$"},
         {"zone", long_name},
         {long_name + "x"}},
        {{"node_filter", R"("node_filter":{"any_of":[[{"key":"$","values":["$"]}]]})",
          "node_filter: $=$", "node_filter: $=$", "filter=$=$"},
         {"zone", long_name},
         {long_name + "x"}},
        {{"tolerations", R"("tolerations":[{"key":"$"}])", "tolerations: $", "tolerations: $",
          "tolerations=$"},
         {"zone", long_name},
         {long_name + "x"}},
        {{"resources", R"("request":{"resources":{"$":1}})", "resources: {$: 1}",
          "request: {resources: {$: 1}}", "resources=$:1"},
         {"rdma", long_name},
         {long_name + "x", "pods"}},
    };
    check_jobs(cases);
}

TEST_CASE("nodes have the same limits by state file and scenario") {
    const std::string long_name(model::kNameBytesMax, 'x');
    const std::vector<std::pair<std::string_view, Case>> cases{
        {"nodes",
         {{"gpus", "", "", "name: n, gpus: $", "node n gpus=$"},
          {"0", "64"},
          {"65", "-1", kInt32, kAbove32, kHuge}}},
        {"nodes",
         {{"gpu_memory", "", "", "name: n, gpus: 1, gpu_memory: $", "node n gpus=1 gpu_memory=$"},
          {"1125899906842624"},
          {"1125899906842625", "-1", kInt64, kHuge}}},
        {"nodes",
         {{"cpu", "", "", "name: n, cpu: $", "node n cpu=$"},
          {"0", "1000000"},
          {"1000000.001", "-1", kInt64, kHuge}}},
        {"nodes",
         {{"memory", "", "", "name: n, memory: $", "node n memory=$"},
          {"0", "1125899906842624"},
          {"1125899906842625", "-1", kInt64, kHuge}}},
        {"nodes", {{"name", "", "", "name: $", "node $ gpus=1"}, {long_name}, {long_name + "x"}}},
        {"nodes",
         {{"labels", "", "", "name: n, labels: {$: $}", "node n label.$=$"},
          {long_name},
          {long_name + "x"}}},
    };
    check_lists(cases);
}

TEST_CASE("... and so have projects and pools") {
    const std::string long_name(model::kNameBytesMax, 'x');
    const std::vector<std::pair<std::string_view, Case>> cases{
        {"projects",
         {{"name", "", "", "name: $", "project $ quota=1"}, {long_name}, {long_name + "x"}}},
        {"projects",
         {{"quota", "", "", "name: a, quota: $", "project a quota=$"},
          {"0", "10000000000", "-1"},
          {"10000000001", "-2", kInt64, kHuge}}},
        {"projects",
         {{"limit", "", "", "name: a, limit: $", "project a limit=$"},
          {"0", "10000000000", "-1"},
          {"10000000001", "-2", kInt64, kHuge}}},
        {"projects",
         {{"weight", "", "", "name: a, weight: $", "project a weight=$"},
          {"0", "1000000"},
          {"1000000.001", "-1", kInt64, kHuge}}},
        {"projects",
         {{"priority", "", "", "name: a, priority: $", "project a priority=$"},
          {"1000000", "-1000000"},
          {"1000001", "-1000001", kInt32, "-" + kAbove32, kHuge}}},
        {"projects",
         {{"usage", "", "", "name: a, usage: $", "project a usage=$"},
          {"0", "1"},
          {"1.001", "-1", "9000000000000000", kHuge}}},
        {"projects",
         {{"preemption_delay", "", "", "name: a, preemption_delay: $s",
           "project a preemption_delay=$s"},
          {"0", "31536000"},
          {"31536001", "-1", kInt64, kHuge}}},
        {"projects",
         {{"job_tail", "", "", "name: a, job_tail: $", "project a job_tail=$"},
          {"0", "50"},
          {"51", "-1", kInt32, kAbove32, kHuge}}},
        {"pools",
         {{"name", "", "", "name: $, labels: {x: y}", "pool $ label.x=y"},
          {long_name},
          {long_name + "x"}}},
        {"pools",
         {{"exchange", "", "", "name: p, labels: {x: y}, exchange: {H100: $}",
           "pool p label.x=y exchange.H100=$"},
          {"0.001", "1000"},
          {"0", "1000.001", "-1", kInt64, kHuge}}},
    };
    check_lists(cases);
}

TEST_CASE("what a job's past says is bounded too") {
    const auto answers = [](const std::string& text) {
        return tests::hand_in_job({"past", "", "", "$", ""}, text);
    };
    check_answers(answers("attained: 1000h"), "attained", "1000h", true);
    for (const std::string& text :
         {std::string("attained: -1"), "attained: " + kInt64,
          std::string("created: 9999-12-31T00:00:00Z"), std::string("last_start: -9000000000000ms"),
          std::string("waiting_since: 9000000000000ms"), "frozen_gpu_memory: " + kInt64}) {
        check_answers(answers(text), "past", text, false);
    }
    const auto running = [](const std::string& count) {
        return tests::play(
            "node n1 gpus=8\nproject a quota=8\nrunning a/j on=n1 max=100000 running=" + count +
            "\nshares\n");
    };
    CHECK(running("8") == std::nullopt);
    CHECK(running(kInt32).value_or("").find("at most 100000") != std::string::npos);
}

TEST_CASE("long lists are refused by their length, before each entry costs anything") {
    const auto submit = [](const std::string& spec) {
        return tests::submit_json(R"({"spec":{"project":"a",)" + spec +
                                  R"(},"launch":{"command":["train"],"workdir":"/"}})")
            .value_or("taken");
    };
    const auto repeated = [](std::string_view entry, int times) {
        std::string text(entry);
        for (int i = 1; i < times; ++i) text += "," + std::string(entry);
        return text;
    };
    CHECK(submit(R"("pools":[)" + repeated(R"("default")", 64) + "]") == "taken");
    CHECK(submit(R"("pools":[)" + repeated(R"("default")", 65) + "]") ==
          "pools: wanted at most 64 pools, found 65");
    std::string labels;
    for (int i = 0; i < 257; ++i) labels += (i ? ",\"" : "\"") + std::to_string(i) + R"(":"x")";
    CHECK(submit(R"("node_labels":{)" + labels + "}") ==
          "node_labels: wanted at most 256 entries, found 257");
    // Sums of these are beyond an int, of the second even twice.
    for (const int groups : {2, 256, 10'000}) {
        const std::string found = submit(
            R"("topology":{"groups":[)" +
            repeated(R"({"name":"g","tasks_min":2147483647,"tasks_max":2147483647})", groups) +
            "]}");
        CHECK(found.find("wanted") != std::string::npos);
    }
}

TEST_CASE("a quota of CPU or memory lies between nothing and the limit") {
    const auto refusal = [](const model::Entitlement& rights) {
        model::Project project;
        project.name = "a";
        project.rights = rights;
        const auto status = model::check_limits(project);
        return status ? std::string("taken") : status.error().message;
    };
    CHECK(refusal({.quota = {}, .cpu_quota = model::MilliCpu{-1}}) ==
          "project \"a\": cpu_quota: wanted 0 to 1000000000, found -0.001");
    CHECK(refusal({.quota = {},
                   .cpu_quota = model::MilliCpu{8000},
                   .cpu_limit = model::MilliCpu{4000}}) ==
          "project \"a\": cpu_quota: wanted at most its limit, 4, found 8");
    CHECK(refusal({.quota = {},
                   .memory_quota = model::Bytes{1 << 30},
                   .memory_limit = model::Bytes{0}}) ==
          "project \"a\": memory_quota: wanted at most its limit, 0, found 1G");
    CHECK(refusal({.quota = {}, .memory_quota = model::Bytes{-1}})
              .starts_with("project \"a\": memory_quota: wanted 0 to"));
    CHECK(refusal({.quota = {},
                   .cpu_quota = model::MilliCpu{4000},
                   .cpu_limit = model::MilliCpu{4000}}) == "taken");
}

TEST_CASE("names have no control characters, and programs no zero bytes") {
    const auto refusal = [](const std::string& spec) {
        return tests::submit_json(R"({"spec":{"project":"a",)" + spec +
                                  R"(},"launch":{"command":["train"],"workdir":"/"}})")
            .value_or("taken");
    };
    CHECK(refusal(R"("name":"a\nb")") ==
          "name: wanted a name without control characters, found \"a?b\"");
    CHECK(refusal(R"("gpu_model":"\u0001")") ==
          "gpu_model: wanted a name without control characters, found \"?\"");
    for (const char* steers :
         {"\\u009b", "\\u0085", "\\u200f", "\\u2028", "\\u202e", "\\u2066", "\\ufeff", "\\u061c"}) {
        CHECK(refusal(std::string(R"("name":"a)") + steers + R"(b")") ==
              "name: wanted a name without control characters, found \"a?b\"");
    }
    CHECK(refusal(R"("name":"\u00e4\u00a0 b/c \u65e5\u2019\u200d\ud83d\ude80")") == "taken");
    model::LaunchSpec launch;
    launch.command = {"train"};
    CHECK(model::check_limits(launch).has_value());
    const auto refused = [&](auto change) {
        model::LaunchSpec changed = launch;
        change(changed);
        const auto status = model::check_limits(changed);
        return status ? std::string("taken") : status.error().message;
    };
    CHECK(refused([](auto& to) { to.command.push_back(std::string("a\0b", 3)); }) ==
          "launch.command: wanted no zero byte, found \"a?b\"");
    CHECK(refused([](auto& to) {
              to.environment.emplace_back(model::kWordBytesMax + 1, 'x');
          }).starts_with("launch.environment: wanted at most 131071 bytes in one"));
    CHECK(refused([](auto& to) { to.command.assign(9, std::string(model::kWordBytesMax, 'x')); }) ==
          "launch.command: wanted at most 1048576 bytes in all, found 1179648");
    CHECK(refused([](auto& to) {
              to.workdir = "/" + std::string(5000, 'x');
          }).starts_with("launch.workdir: wanted at most 4095 bytes"));
    CHECK(refused([](auto& to) {
              to.pause.signal = "KILL";
          }).starts_with("launch.pause.signal: wanted auto, TERM, INT"));
    CHECK(refused([](auto& to) {
              to.pause.grace = base::Duration{-1};
          }).starts_with("launch.pause.grace: wanted 0s to"));
    CHECK(refused([](auto& to) { to.pause.grace = model::kPauseGraceMax; }) == "taken");
    CHECK(refused([](auto& to) { to.pause.grace = base::Duration{11 * 60 * 1000}; }) ==
          "launch.pause.grace: wanted 0s to 10m, found 11m");
}

TEST_CASE("a log of an earlier version that took more can still be read") {
    lifecycle::State state;
    model::Project project;
    project.name = "a";
    REQUIRE(lifecycle::try_apply(state, {1, {}, "admin", model::ProjectSet{project}}));
    model::JobSpec spec;
    spec.project = "a";
    spec.name = std::string(300, 'x');
    const model::Event event{2, {}, "susan", model::JobSubmitted{{1}, spec, {}, {}}};
    CHECK_FALSE(lifecycle::check(state, event.body));
    CHECK_FALSE(lifecycle::try_apply(state, event));
    CHECK(lifecycle::replay(state, event));
    CHECK(state.jobs.get({1}) != nullptr);
}

TEST_CASE("a cluster takes the most projects and the most levels of them") {
    lifecycle::State state;
    const auto add = [&](const std::string& name, const std::string& parent) {
        model::Project project;
        project.name = name;
        project.parent = parent;
        return lifecycle::try_apply(
            state, {state.sequence + 1, {}, "admin", model::ProjectSet{std::move(project)}});
    };
    std::string parent;
    for (int level = 0; level < model::kProjectLevelsMax; ++level) {
        const std::string name = "level" + std::to_string(level);
        REQUIRE(add(name, parent));
        parent = name;
    }
    CHECK(add("deeper", parent).error().message.find("at most 32") != std::string::npos);
}
