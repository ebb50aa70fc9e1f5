// SPDX-License-Identifier: Apache-2.0
#include "codec/files/topology.h"

#include <charconv>

#include "codec/text/json.h"
#include "codec/words/gpu_request.h"
#include "model/job/task_groups.h"

namespace berth::codec {
namespace {

std::vector<int> read_places(FieldReader& fields, std::string_view name) {
    std::vector<int> places;
    for (const std::string& text : fields.texts(name)) {
        int place = 0;
        const char* end = text.data() + text.size();
        const bool is_number = std::from_chars(text.data(), end, place).ptr == end;
        if (!is_number || place < -1) {
            fields.report(name,
                          "wanted a number for each GPU, -1 where none, found \"" + text + "\"");
            return {};
        }
        places.push_back(place);
    }
    return places;
}

}  // namespace

void read_topology(Problems& problems, FieldReader& fields, model::JobSpec& spec) {
    const Value* value = fields.find("topology");
    if (value == nullptr) return;
    const auto require = [&](FieldReader& in, std::string_view name) {
        const std::string level = in.text(name);
        if (level.empty()) return;
        if (!spec.topology.required.empty() && spec.topology.required != level) {
            in.report(name, "wanted one required level, found \"" + level + "\" and \"" +
                                spec.topology.required + "\" behind the \"@\" of gpus");
        }
        spec.topology.required = level;
    };
    if (value->is_scalar()) return require(fields, "topology");
    FieldReader levels(problems, *value, fields.path_of("topology"));
    require(levels, "required");
    spec.topology.preferred = levels.text("preferred");
    levels.finish();
}

TaskRange read_task_range(Problems& problems, FieldReader& fields, std::string_view name) {
    const Value* value = fields.find(name);
    TaskRange range;
    if (value != nullptr && value->kind == Value::Kind::Map) {
        FieldReader bounds(problems, *value, fields.path_of(name));
        range.min = static_cast<int>(bounds.whole("min", 1, {1, model::kTasksMax}));
        range.max = static_cast<int>(bounds.whole("max", range.min, {1, model::kTasksMax}));
        if (range.max < range.min) bounds.refuse("max", "at least min");
        bounds.finish();
        return range;
    }
    const std::string text = value != nullptr && value->is_scalar() ? value->text : "";
    const bool is_range = text.find("..") != std::string::npos;
    const auto request = parse_gpu_request(is_range ? text : text + ".." + text);
    if (!request || !request->required.empty() || !request->gpu_model.empty()) {
        fields.refuse(name, "a number or 4..16");
        return range;
    }
    return {request->tasks_min, request->tasks_max};
}

void read_groups(Problems& problems, FieldReader& fields, model::JobSpec& spec, bool says_tasks) {
    const Value* value = fields.find("groups");
    if (value == nullptr) return;
    std::vector<model::TaskGroup>& groups = spec.topology.groups;
    if (value->is_scalar()) {
        auto parsed = model::parse_task_groups(value->text);
        if (!parsed) return fields.report("groups", parsed.error().message);
        groups = std::move(parsed->groups);
        spec.topology.groups_min = parsed->groups_min;
    } else {
        fields.each("groups", [&](const Value& item, const std::string& path) {
            FieldReader group(problems, item, path);
            const TaskRange tasks = read_task_range(problems, group, "tasks");
            groups.push_back({group.text("name", model::default_group_name(groups.size())),
                              tasks.min, tasks.max, group.text("level")});
            group.finish();
        });
    }
    if (!says_tasks) model::count_tasks(spec);
    const auto agree = model::check_task_groups(spec);
    if (!agree && !problems.any()) fields.report("groups", agree.error().message);
}

model::GpuLinks read_gpu_links(Problems& problems, FieldReader& fields, int gpus) {
    model::GpuLinks links;
    const Value* value = fields.find("gpu_links");
    if (value == nullptr) return links;
    FieldReader lists(problems, *value, fields.path_of("gpu_links"));
    links.numa = read_places(lists, "numa");
    links.islands = read_places(lists, "islands");
    links.nics = read_places(lists, "nics");
    links.matrix = lists.texts("matrix");
    lists.finish();
    if (gpus < 0 || gpus > model::kGpusPerNodeMax) return links;  // reported already
    const auto near = model::nearness(links, gpus);
    if (!near) fields.report("gpu_links", near.error().message);
    return links;
}

}  // namespace berth::codec
