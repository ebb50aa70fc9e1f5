// SPDX-License-Identifier: Apache-2.0
#include "model/fields/job_fields.h"

#include <doctest/doctest.h>

#include <fstream>
#include <sstream>

#include "cli/command_line/submission_flags.h"
#include "cluster/cluster.h"
#include "codec/api/json_api.h"
#include "codec/files/job_file.h"
#include "codec/files/state_file.h"
#include "codec/files/state_writer.h"
#include "codec/words/words.h"
#include "control/admission.h"
#include "model/limits.h"
#include "scenario/fields.h"
#include "scheduling/explain/verdict_class.h"

using namespace berth;
using model::JobField;
using model::JobSpec;

namespace {

using Fields = model::Fields<JobSpec>;

template <typename T>
T read(base::Result<T> result) {
    if (!result) FAIL(result.error().message);
    return std::move(*result);
}

// Something else than a job says by default, of each type that a field has.
void change(std::string& text) { text = "other"; }
void change(bool& flag) { flag = !flag; }
void change(int& number) { number += 1; }
template <typename E>
    requires std::is_enum_v<E>
void change(E& value) {
    value = static_cast<E>((static_cast<int>(value) + 1) % 3);
}
void change(std::vector<std::string>& texts) { texts = {"cells", "default"}; }
void change(model::Labels& labels) { labels = {{"disk", "ssd"}}; }
void change(model::NodeFilter& filter) { filter = read(model::parse_node_filter("zone=a|b,!x")); }
void change(std::vector<model::Toleration>& all) { all = {read(model::parse_toleration("for=a"))}; }
void change(std::optional<std::int64_t>& millionths) { millionths = 250'000; }
void change(model::Duration& time) { time = model::Duration{90'000}; }
void change(std::optional<model::Duration>& time) { time = model::Duration{90'000}; }
void change(model::TaskRequest& request) { request.gpus = 2; }
void change(std::optional<model::GpuPart>& part) { part = {base::MilliGpu{500}, base::Bytes{1}}; }
void change(model::TopologyRequest& topology) { topology.required = "rack"; }
void change(std::vector<model::Companion>& all) { all = {{.name = "driver"}}; }

// The same as a text, as flags and scenarios have it.
std::string text_of(const std::string& text) { return text; }
std::string text_of(bool flag) { return flag ? "yes" : "no"; }
std::string text_of(int number) { return std::to_string(number); }
std::string text_of(const std::vector<std::string>& texts) { return texts[0] + "," + texts[1]; }
std::string text_of(const model::NodeFilter& filter) { return format(filter); }
std::string text_of(const std::vector<model::Toleration>& all) { return format(all[0]); }
std::string text_of(std::optional<std::int64_t>) { return "0.25"; }
std::string text_of(std::optional<model::Duration> time) {
    return *time < model::Duration{0} ? "never" : "90s";
}

std::string text_of(model::Duration) { return "90s"; }
template <typename T>
std::string text_of(const T& value) {
    if constexpr (std::is_enum_v<T>) return std::string(codec::word(value));
    return "";  // it has no name of its own
}

// And as files have it.
std::string yaml_of(bool flag) { return flag ? "true" : "false"; }
std::string yaml_of(const model::Labels&) { return "{disk: ssd}"; }
std::string yaml_of(const std::vector<std::string>&) { return "[cells, default]"; }
std::string yaml_of(const auto& value) { return "\"" + text_of(value) + "\""; }

// Calls `check` for each field with a name of its own at a door, and a value for it.
void visit_named(auto&& check) {
    Fields::visit_fields([&](const JobField& field, auto member) {
        CAPTURE(field.name);
        if (field.doors == model::kNoDoor) return;
        JobSpec spec;
        change(spec.*member);
        check(field, member, spec.*member);
        if constexpr (requires { (spec.*member)->count(); }) {
            spec.*member = model::Duration{-1};
            if (field.besides.or_never) check(field, member, spec.*member);
        }
    });
}

JobSpec in_job_file(const std::string& field) {
    return read(codec::parse_job_file("run: x\n" + field + "\n", "job.yaml", "/")).spec;
}

model::Description state_of(const std::string& fields) {
    return read(
        codec::parse_state("pools: [{name: cells, labels: {a: b}}]\n"
                           "projects: [{name: a}, {name: other}]\n"
                           "jobs:\n- {" +
                               fields + "}\n",
                           "state.yaml"));
}

JobSpec in_state_file(const JobField& field, const std::string& value) {
    std::string fields = std::string(field.in_files()) + ": " + value;
    for (const std::string_view needed : {"name", "project"}) {
        if (field.name != needed) fields += ", " + std::string(needed) + ": a";
    }
    return state_of(fields).jobs[0].spec;
}

JobSpec in_scenario(const std::string& pair) {
    const auto script = read(scenario::parse_script("submit a/a " + pair + "\n"));
    return read(scenario::read_job(script.commands[0])).spec;
}

JobSpec by_flag(const std::vector<std::string>& typed) {
    static constexpr cli::Verb kVerb{.name = "submit",
                                     .flags = cli::kSubmissionFlags,
                                     .words_max = 1,
                                     .tail = cli::CommandTail::AfterDashes};
    const auto arguments = cli::parse_arguments(kVerb, typed);
    REQUIRE(arguments.has_value());
    const auto submission = cli::submission_of(*arguments, "");
    if (!submission) FAIL(submission.error().cause);
    return submission->spec;
}

std::string page(const std::string& name) {
    std::ifstream file(std::string(BERTH_SOURCE_DIR) + "/docs/" + name);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

// The rows of the table behind this title.
std::string rows(const std::string& page, const std::string& title) {
    const std::size_t begin = page.find("# " + title + "\n");
    REQUIRE(begin != std::string::npos);
    return page.substr(begin, page.find("\n#", begin) - begin);
}

// One node with one GPU; pool cells has none.
cluster::Cluster small_cluster() {
    cluster::Cluster cluster;
    cluster.set_pool({"cells", {{"a", "b"}}, {}});
    model::Node node;
    node.name = "n0";
    node.gpus = 1;
    cluster.set_node(node);
    model::Project project;
    for (const char* name : {"a", "other"}) {
        project.name = name;
        cluster.set_project(project);
    }
    return cluster;
}

JobSpec small_job() {
    JobSpec job;
    job.project = "a";
    job.tasks_max = 2;
    return job;
}

// Calls `check` with a job for each field that decisions ask for, which differs in it alone.
void visit_asked(auto&& check) {
    Fields::visit_fields([&](const JobField& field, auto member) {
        CAPTURE(field.name);
        JobSpec job = small_job();
        change(job.*member);
        if (model::is_asked(field.reads)) check(job);
    });
}

}  // namespace

TEST_CASE("a field is read at every door at which it has a name") {
    visit_named([](const JobField& field, auto member, const auto& value) {
        const std::string pair = std::string(field.in_scenarios()) + "=" + text_of(value);
        if (field.is_at(model::kScenario)) CHECK(in_scenario(pair).*member == value);
        const std::string line = std::string(field.in_files()) + ": " + yaml_of(value);
        if (field.is_at(model::kJobFile)) CHECK(in_job_file(line).*member == value);
        if (field.is_at(model::kStateFile)) {
            CHECK(in_state_file(field, yaml_of(value)).*member == value);
        }
    });
}

TEST_CASE("a flag says what its field says in a job file") {
    cli::visit_flagged([](const JobField& field, auto member) {
        CAPTURE(field.name);
        JobSpec spec;
        change(spec.*member);
        const std::string flag = "--" + std::string(field.flag.name);
        std::vector<std::string> typed{flag};
        if constexpr (requires { (spec.*member)[0].size(); }) {
            typed = {flag, "cells", flag, "default"};
        } else if (!field.flag.value.empty()) {
            typed.push_back(text_of(spec.*member));
        }
        typed.insert(typed.end(), {"--", "true"});
        CHECK(by_flag(typed).*member == spec.*member);
    });
}

TEST_CASE("what a job says is written to a state file and to JSON, and read back") {
    JobSpec spec;
    Fields::visit([&](std::string_view, auto member) { change(spec.*member); });
    const auto submission = read(codec::parse_submission(codec::submission_json({spec, {}, {}})));
    CHECK(submission.spec == spec);
    model::Description state = state_of("name: a, project: a");
    spec.topology = {};  // of levels, which this state would have to have
    state.jobs[0].spec = spec;
    const auto again = read(codec::parse_state(codec::state_json(state), "again.json"));
    Fields::visit_fields([&](const JobField& field, auto member) {
        CAPTURE(field.name);
        if (!field.is_at(model::kStateFile)) return;
        CHECK(again.jobs[0].spec.*member == spec.*member);
    });
}

TEST_CASE("the pages list every name of a field") {
    const std::string job_file = rows(page("reference/job-file.md"), "Fields");
    const std::string state_file = rows(page("reference/state-file.md"), "`jobs`");
    const std::string scenario = rows(page("scenario-language.md"), "running, submit");
    const auto check = [](const std::string& rows, std::string_view name) {
        CAPTURE(name);
        const std::string quoted = "`" + std::string(name) + "`";
        CHECK((rows.find("\n| " + quoted) != std::string::npos ||
               rows.find(", " + quoted + " |") != std::string::npos ||
               rows.find(" or " + quoted + " |") != std::string::npos));
    };
    Fields::visit_fields([&](const JobField& field, auto) {
        if (field.is_at(model::kJobFile)) check(job_file, field.in_files());
        if (field.is_at(model::kStateFile)) check(state_file, field.in_files());
        if (field.is_at(model::kScenario)) check(scenario, field.in_scenarios());
    });
}

TEST_CASE("a job file reads every field that its page lists") {
    std::istringstream lines(rows(page("reference/job-file.md"), "Fields"));
    for (std::string line; std::getline(lines, line);) {
        if (!line.starts_with("| `") || line.starts_with("| `run`")) continue;
        const std::string name = line.substr(3, line.find('`', 3) - 3);
        CAPTURE(name);
        CHECK(codec::parse_job_file("run: x\n" + name + ": null\n", "job.yaml", "/"));
    }
}

TEST_CASE("jobs that differ in a field that decisions ask for are of two classes") {
    visit_asked([](const JobSpec& other) {
        cluster::Cluster cluster = small_cluster();
        cluster.add_job({1}, small_job(), {});
        cluster.add_job({2}, other, {});
        const auto verdict_class_of = [&](std::int64_t id) {
            return scheduling::verdict_class_of(cluster, cluster.job({id}), {});
        };
        CHECK(verdict_class_of(1) != verdict_class_of(2));
    });
}

TEST_CASE("that a job may run here says nothing of one that asks for something else") {
    int refused = 0;
    visit_asked([&](const JobSpec& other) {
        cluster::Cluster cluster = small_cluster();
        const auto is_refused = [&](control::Admission& admission, const JobSpec& job) {
            return admission.refusal(cluster, model::berth_policy(), {}, {1}, job).has_value();
        };
        control::Admission knows_one;
        control::Admission knows_none;
        CHECK_FALSE(is_refused(knows_one, small_job()));
        CHECK(is_refused(knows_one, other) == is_refused(knows_none, other));
        refused += is_refused(knows_none, other) ? 1 : 0;
    });
    CHECK(refused >= 8);  // by model, labels, filter, level, share, size, number, quota
}
