// SPDX-License-Identifier: Apache-2.0
#include "codec/files/job_file.h"

#include <algorithm>
#include <array>
#include <filesystem>

#include "codec/files/job_fields.h"
#include "codec/files/node_wishes.h"
#include "codec/files/topology.h"
#include "codec/text/field_reader.h"
#include "codec/text/json.h"

namespace berth::codec {
namespace {

using model::JobSpec;
using model::LaunchSpec;

constexpr std::array<std::string_view, 8> kNotYet{"sweep",   "notify", "after", "image",
                                                  "secrets", "idle",   "retry", "time"};

std::string absolute(const std::string& path, std::string_view directory) {
    auto whole = (std::filesystem::path(directory) / path).lexically_normal().string();
    if (whole.size() > 1 && whole.back() == '/') whole.pop_back();
    return whole;
}

// `run: text for the shell` or `command: [list, of, words]`.
void read_command(FieldReader& fields, LaunchSpec& launch) {
    const Value* run = fields.find("run");
    const Value* command = fields.find("command");
    if (run != nullptr && command != nullptr) {
        fields.report("command", "wanted run or command, found both");
    } else if (run != nullptr) {
        const std::string script = fields.text("run");
        if (script.empty()) fields.refuse("run", "a command line");
        launch.command = {"sh", "-c", script};
    } else if (command != nullptr) {
        launch.command = fields.texts("command");
        if (command->kind != Value::Kind::List || command->items.empty()) {
            fields.refuse("command", "a list of words such as [python, train.py]");
        }
    } else {
        fields.refuse("run", "a command line such as python train.py");
    }
}

// How it comes to have more or fewer tasks. By default, all of it is started again.
void read_elastic(FieldReader& fields, JobSpec& spec) {
    const bool is_elastic = spec.tasks_max > spec.tasks_min;
    if (is_elastic) spec.elastic = model::Elastic::Restart;
    if (!fields.has("elastic")) return;
    if (!is_elastic) return fields.report("elastic", "wanted with a range such as tasks: 4..16");
    spec.elastic = fields.choice("elastic", spec.elastic);
    if (spec.elastic != model::Elastic::Restart)
        fields.report("elastic", "\"" + fields.text("elastic") + "\" is not supported yet");
}

void read_request(Problems& problems, FieldReader& fields, JobSpec& spec) {
    if (fields.has("gpus") && !read_gpus(fields, spec)) return;
    const bool has_range = spec.tasks_max > 1;
    for (const std::string_view name : {"nodes", "tasks"}) {
        if (fields.has(name) && has_range) fields.report(name, "gpus gives a range already");
    }
    if (fields.has("nodes") && fields.has("tasks")) {
        fields.report("tasks", "wanted nodes or tasks, found both");
    }
    if (fields.has("tasks")) {
        const TaskRange range = read_task_range(problems, fields, "tasks");
        spec.tasks_min = range.min;
        spec.tasks_max = range.max;
    }
    if (fields.has("nodes")) {
        spec.tasks_min = static_cast<int>(fields.whole("nodes", 1, {1, model::kTasksMax}));
        spec.tasks_max = spec.tasks_min;
    }
    read_groups(problems, fields, spec, has_range || fields.has("tasks") || fields.has("nodes"));
    read_elastic(fields, spec);
    spec.request.cap = read_cap(fields);
    if (fields.text("cpus", "auto") != "auto") {
        if (const auto cpus = fields.decimal("cpus", 3, "auto or a number of cores such as 8")) {
            spec.request.cpu = base::MilliCpu{*cpus};
        }
    }
    if (fields.text("memory", "auto") != "auto") spec.request.memory = fields.bytes("memory");
    spec.request.resources = read_resources(problems, fields);
}

void read_environment(Problems& problems, FieldReader& fields, LaunchSpec& launch) {
    const Value* variables = fields.find("env");
    if (variables == nullptr) return;
    if (variables->kind != Value::Kind::Map) return fields.refuse("env", "a map of variables");
    for (const auto& [name, value] : variables->members) {
        const std::string path = fields.path_of("env") + "." + name;
        if (!value.is_scalar() || value.kind == Value::Kind::Null) {
            problems.report(value.line, path, "wanted a text, found " + value.described());
        }
        if (name.empty() || name.find('=') != std::string::npos) {
            problems.report(value.line, path, "wanted a name of a variable, without \"=\"");
        }
        launch.environment.push_back(name + "=" + value.text);
    }
}

void read_signal(FieldReader& fields, std::string_view name, model::PauseManner& pause) {
    if (!fields.has(name)) return;
    pause.signal = fields.text(name);
    if (pause.signal == "memory") return fields.report(name, "\"memory\" is not supported yet");
    if (std::ranges::find(model::kPauseSignals, pause.signal) == model::kPauseSignals.end()) {
        fields.refuse(name, listed(model::kPauseSignals),
                      did_you_mean(pause.signal, model::kPauseSignals));
    }
}

void read_pause(Problems& problems, FieldReader& fields, LaunchSpec& launch) {
    const Value* map = fields.find("pause");
    if (map == nullptr) return;
    FieldReader pause(problems, *map, fields.path_of("pause"));
    if (pause.has("how") && pause.has("signal")) {
        pause.report("signal", "wanted how or signal, found both");
    }
    read_signal(pause, "how", launch.pause);
    read_signal(pause, "signal", launch.pause);
    launch.pause.grace = pause.duration("grace");
    if (pause.has("checkpoint")) {
        launch.checkpoint_dir = absolute(pause.text("checkpoint"), launch.workdir);
    }
    pause.finish();
}

}  // namespace

base::Result<model::Submission> parse_job_file(std::string_view text, std::string_view file_name,
                                               std::string_view directory) {
    BERTH_TRY(file, parse_yaml(text, file_name));
    Problems problems(file_name);
    FieldReader fields(problems, file, "");
    model::Submission submission;
    JobSpec& spec = submission.spec;
    LaunchSpec& launch = submission.launch;
    read_job_fields(fields, model::kJobFile, spec);
    read_command(fields, launch);
    read_request(problems, fields, spec);
    read_companions(problems, fields, "cpus", spec);
    read_topology(problems, fields, spec);
    launch.workdir = absolute(fields.text("workdir", "."), directory);
    read_environment(problems, fields, launch);
    read_pause(problems, fields, launch);
    fields.finish(kNotYet);
    if (problems.any()) return problems.first();
    return submission;
}

std::vector<std::string> merge_environment(std::vector<std::string> base,
                                           std::span<const std::string> changes) {
    for (const std::string& change : changes) {
        const std::string name = change.substr(0, change.find('=') + 1);
        std::erase_if(base, [&](const std::string& old) { return old.starts_with(name); });
        base.push_back(change);
    }
    return base;
}

}  // namespace berth::codec
