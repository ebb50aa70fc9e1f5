// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "codec/api/json_api.h"
#include "codec/files/job_file.h"
#include "codec/files/state_file.h"
#include "codec/files/state_writer.h"
#include "codec/text/json.h"
#include "codec/text/json_reader.h"
#include "fuzz/target.h"
#include "fuzz/targets.h"

namespace berth::fuzz {
namespace {

std::string printed(const codec::Value& value) {
    std::string text;
    codec::append_json(text, value);
    return text;
}

}  // namespace

void json(std::string_view input) {
    codec::JsonReader reader(input);
    reader.skip();
    reader.finish();
    const auto tree = codec::parse_json(input, "input");
    // The tree alone refuses a name that is given twice.
    expect(!tree || !reader.is_failed(), "what the tree takes the reader takes");
    if (!tree) return;
    const std::string text = printed(*tree);
    const auto again = codec::parse_json(text, "printed");
    expect(again && printed(*again) == text, "JSON is read as it was written");
}

void yaml(std::string_view input) {
    const auto tree = codec::parse_yaml(input, "input");
    if (const auto as_json = codec::parse_json(input, "input")) {
        const bool is_object =
            as_json->kind == codec::Value::Kind::Map || as_json->kind == codec::Value::Kind::List;
        if (is_object) expect(tree && printed(*tree) == printed(*as_json), "JSON is YAML");
    }
    if (!tree) return;
    const std::string text = printed(*tree);
    const auto again = codec::parse_json(text, "printed");
    expect(again && printed(*again) == text, "what YAML says can be said in JSON");
}

void job_file(std::string_view input) {
    const auto job = codec::parse_job_file(input, "job.yaml", "/home/user");
    if (!job) return;
    expect(job->launch.workdir.starts_with('/'), "a job's folder is absolute");
    expect(!job->launch.command.empty(), "a job has a command");
    const std::string text = codec::submission_json(*job);
    const auto again = codec::parse_submission(text);
    expect(again && codec::submission_json(*again) == text,
           "what a job file may say the API takes as well");
}

void state_file(std::string_view input) {
    const auto state = codec::parse_state(input, "state.yaml");
    if (!state) return;
    const std::string text = codec::state_json(*state);
    const auto again = codec::parse_state(text, "printed");
    expect(again && codec::state_json(*again) == text, "a state is read as it was written");
}

}  // namespace berth::fuzz
