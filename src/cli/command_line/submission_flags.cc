// SPDX-License-Identifier: Apache-2.0
//
// The flags are written into the tree of the job file, so that one place alone knows what a field
// may say: codec/files/job_file.h.
#include "cli/command_line/submission_flags.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "cli/command_line/settings.h"
#include "cli/terminal/text_file.h"
#include "codec/files/job_file.h"
#include "codec/text/json.h"

namespace berth::cli {
namespace {

using codec::Value;

constexpr std::string_view kFlagsName = "flags";

Value text_value(std::string text) {
    Value value;
    value.kind = Value::Kind::String;
    value.text = std::move(text);
    return value;
}

Value yes() {
    Value value;
    value.kind = Value::Kind::Bool;
    value.text = "true";
    return value;
}

Value list_value(const std::vector<std::string>& texts) {
    Value value;
    value.kind = Value::Kind::List;
    for (const std::string& text : texts) value.items.push_back(text_value(text));
    return value;
}

void remove(Value& map, std::string_view name) {
    std::erase_if(map.members, [&](const auto& member) { return member.name == name; });
}

Value& set(Value& map, std::string_view name, Value value) {
    remove(map, name);
    map.members.push_back({std::string(name), std::move(value)});
    return map.members.back().value;
}

// The member of that name, made a map when it is none.
Value& map_member(Value& map, std::string_view name) {
    for (auto& [key, value] : map.members) {
        if (key == name && value.kind == Value::Kind::Map) return value;
    }
    Value empty;
    empty.kind = Value::Kind::Map;
    return set(map, name, empty);
}

// A flag of something that is no single field of a job also takes the place of what says the same.
struct Spelling {
    std::string_view flag;
    std::string_view field;
    std::string_view other;
};
constexpr Spelling kSpellings[] = {
    {"gpus", "gpus", ""},        {"groups", "groups", "tasks"},
    {"nodes", "nodes", "tasks"}, {"tasks", "tasks", "nodes"},
    {"cpus", "cpus", ""},        {"memory", "memory", ""},
    {"workdir", "workdir", ""},  {"cap", "cap", ""},
};

Success add_environment(Value& job, const Arguments& arguments) {
    for (const std::string& given : arguments.all("env")) {
        const std::size_t equals = given.find('=');
        if (equals == std::string::npos || equals == 0) {
            return bad_usage("--env: wanted NAME=VALUE, found \"" + given + "\"");
        }
        set(map_member(job, "env"), given.substr(0, equals), text_value(given.substr(equals + 1)));
    }
    return {};
}

// `-g 4..16@rack` and `--required rack` say the same: each takes the place of what the file says in
// the other way.
void forget_required_level(Value& job, const Arguments& arguments) {
    if (arguments.has("required") && !arguments.has("gpus")) {
        for (auto& [name, value] : job.members) {
            if (name == "gpus") value.text = value.text.substr(0, value.text.find('@'));
        }
    }
    if (arguments.text("gpus").find('@') == std::string::npos) return;
    const Value* topology = job.find("topology");
    if (topology == nullptr) return;
    if (topology->is_scalar()) return remove(job, "topology");
    remove(map_member(job, "topology"), "required");
}

Success add_flags(Value& job, const Arguments& arguments) {
    forget_required_level(job, arguments);
    for (const Spelling& spelling : kSpellings) {
        if (!arguments.has(spelling.flag)) continue;
        remove(job, spelling.other);
        if (spelling.flag == "groups") remove(job, "nodes");
        set(job, spelling.field, text_value(arguments.text(spelling.flag)));
    }
    visit_flagged([&](const model::JobField& field, auto member) {
        using T = std::remove_cvref_t<decltype(model::JobSpec{}.*member)>;
        const std::string_view flag = field.flag.name;
        if (!arguments.has(flag)) return;
        remove(job, field.besides.also);
        if constexpr (std::is_same_v<T, bool>) {
            set(job, field.in_files(), yes());
        } else if constexpr (std::is_same_v<T, std::vector<std::string>>) {
            set(job, field.in_files(), list_value(arguments.all(flag)));
        } else {
            set(job, field.in_files(), text_value(arguments.text(flag)));
        }
    });
    for (const std::string_view level : {"required", "preferred"}) {
        if (arguments.has(level)) {
            set(map_member(job, "topology"), level, text_value(arguments.text(level)));
        }
    }
    if (arguments.has("pause-signal")) {
        Value& pause = map_member(job, "pause");
        remove(pause, "how");
        set(pause, "signal", text_value(arguments.text("pause-signal")));
    }
    for (const std::string_view field : {"grace", "checkpoint"}) {
        if (arguments.has(field)) {
            set(map_member(job, "pause"), field, text_value(arguments.text(field)));
        }
    }
    if (arguments.has_command) {
        remove(job, "run");
        set(job, "command", list_value(arguments.command));
    }
    if (!job.find("project")) {
        if (std::string project = default_project(); !project.empty()) {
            set(job, "project", text_value(std::move(project)));
        }
    }
    return add_environment(job, arguments);
}

std::string working_directory() {
    std::error_code error;
    return std::filesystem::current_path(error).string();
}

std::vector<std::string> own_environment() {
    std::vector<std::string> variables;
    for (char** variable = environ; variable && *variable; ++variable) {
        variables.emplace_back(*variable);
    }
    return variables;
}

// "flags:1: gpus: wanted ..." is about a flag, not about a line.
Failure about_flags(const Arguments& arguments, const base::Error& error) {
    std::string message = arguments.in_flags(error.message);
    const std::string prefix = std::string(kFlagsName) + ":1: ";
    if (message.starts_with(prefix)) message = message.substr(prefix.size());
    return {kBadUsage, message, "berth help " + std::string(arguments.verb->name)};
}

}  // namespace

Outcome<model::Submission> submission_of(const Arguments& arguments, const std::string& file) {
    const std::string directory = working_directory();
    if (directory.empty()) return refuse(kFailed, "the working directory was deleted");
    Value job;
    job.kind = Value::Kind::Map;
    if (!file.empty()) {
        const auto text = read_text_file(file);
        if (!text) return tl::unexpected(Failure{kBadUsage, text.error().message, ""});
        auto tree = codec::parse_yaml(*text, file);
        if (!tree) return tl::unexpected(Failure{kBadUsage, tree.error().message, ""});
        const bool needs_command = arguments.has_command && tree->kind == Value::Kind::Map &&
                                   !tree->find("run") && !tree->find("command");
        if (!needs_command) {  // so that an error names the file's own line
            const auto checked = codec::parse_job_file(*text, file, directory);
            if (!checked)
                return tl::unexpected(
                    Failure{kBadUsage, checked.error().message, "docs/reference/job-file.md"});
        }
        job = std::move(*tree);
    }
    if (const Success added = add_flags(job, arguments); !added) {
        return tl::unexpected(added.error());
    }
    std::string text;
    codec::append_json(text, job);
    auto submission = codec::parse_job_file(text, kFlagsName, directory);
    if (!submission) return tl::unexpected(about_flags(arguments, submission.error()));
    submission->launch.environment =
        codec::merge_environment(own_environment(), submission->launch.environment);
    return std::move(*submission);
}

}  // namespace berth::cli
