// SPDX-License-Identifier: Apache-2.0
#include "limits/doors.h"

#include "codec/api/json_api.h"
#include "codec/files/job_file.h"
#include "codec/files/state_file.h"
#include "control/world.h"
#include "lifecycle/describe.h"
#include "scenario/run.h"

namespace berth::tests {
namespace {

std::string filled_in(std::string_view pattern, std::string_view value) {
    std::string text(pattern);
    for (std::size_t at = text.find('$'); at != std::string::npos;
         at = text.find('$', at + value.size())) {
        text.replace(at, 1, value);
    }
    return text;
}

std::optional<std::string> submit(const base::Result<model::Submission>& submission) {
    if (!submission) return submission.error().message;
    World world;
    const auto answer = world.submit(*submission);
    world.step();
    if (answer->refusal && !answer->refusal->verdict) return answer->refusal->error.message;
    return {};
}

std::optional<std::string> read_state(const std::string& text) {
    const auto description = codec::parse_state(text, "state.yaml");
    if (!description) return description.error().message;
    const auto state = lifecycle::from_description(*description);
    if (!state) return state.error().message;
    return {};
}

std::optional<std::string> submit_file(const std::string& field) {
    return submit(
        codec::parse_job_file("run: train\nproject: a\n" + field + "\n", "job.yaml", "/"));
}

}  // namespace

std::optional<std::string> submit_json(const std::string& body) {
    return submit(codec::parse_submission(body));
}

std::optional<std::string> play(const std::string& script) {
    const auto outcome = scenario::run(script);
    if (!outcome) return outcome.error().message;
    return {};
}

std::vector<Answer> hand_in_job(const Notation& field, std::string_view value) {
    std::vector<Answer> answers;
    if (!field.api.empty()) {
        answers.push_back(
            {"API", submit_json(R"({"spec":{"project":"a",)" + filled_in(field.api, value) +
                                R"(},"launch":{"command":["train"],"workdir":"/"}})")});
    }
    if (!field.job_file.empty()) {
        answers.push_back({"job file", submit_file(filled_in(field.job_file, value))});
    }
    if (!field.state_file.empty()) {
        const std::string name = field.name == "name" ? "" : "name: j, ";
        answers.push_back(
            {"state file",
             read_state(
                 "nodes: [{name: n1, gpus: 8}]\nprojects: [{name: a, quota: 8}]\njobs:\n- {" +
                 name + "project: a, " + filled_in(field.state_file, value) + "}\n")});
    }
    if (!field.scenario.empty()) {
        const std::string name = field.name == "name" ? "" : "a/j ";
        answers.push_back({"scenario", play("node n1 gpus=8\nproject a quota=8\nsubmit " + name +
                                            filled_in(field.scenario, value) + "\nshares\n")});
    }
    return answers;
}

std::vector<Answer> describe(std::string_view list, const Notation& entry, std::string_view value) {
    std::vector<Answer> answers;
    if (!entry.state_file.empty()) {
        answers.push_back({"state file", read_state(std::string(list) + ":\n- {" +
                                                    filled_in(entry.state_file, value) + "}\n")});
    }
    if (!entry.scenario.empty()) {
        answers.push_back({"scenario", play(filled_in(entry.scenario, value) + "\nshares\n")});
    }
    return answers;
}

}  // namespace berth::tests
