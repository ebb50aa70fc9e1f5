// SPDX-License-Identifier: Apache-2.0
#include "codec/files/node_wishes.h"

#include "codec/words/gpu_request.h"
#include "model/job/companions.h"

namespace berth::codec {
namespace {

template <typename T>
std::vector<T> read_each(FieldReader& fields, std::string_view name,
                         base::Result<T> (*parse)(std::string_view)) {
    std::vector<T> all;
    for (const std::string& text : fields.texts(name)) {
        auto one = parse(text);
        if (!one) {
            fields.report(name, one.error().message);
            break;
        }
        all.push_back(std::move(*one));
    }
    return all;
}

}  // namespace

model::NodeFilter read_node_filter(FieldReader& fields) {
    auto filter = model::parse_node_filter(fields.text("node_filter"));
    if (!filter) fields.report("node_filter", filter.error().message);
    return std::move(filter).value_or(model::NodeFilter{});
}

std::vector<model::Toleration> read_tolerations(FieldReader& fields) {
    return read_each(fields, "tolerations", model::parse_toleration);
}

void read_host(Problems& problems, FieldReader& fields, std::string_view cores,
               model::TaskRequest& request) {
    if (const auto cpu = fields.decimal(cores, 3, "a number of cores such as 8 or 0.5")) {
        request.cpu = base::MilliCpu{*cpu};
    }
    request.memory = fields.bytes("memory");
    request.resources = read_resources(problems, fields);
}

namespace {

// `gpus: 1`, `gpus: 0.5` or `gpus: T4:1`; the kind asks for none when it is not there.
void read_gpus_of(FieldReader& fields, model::Companion& kind) {
    kind.gpu_model = fields.text("gpu_model");
    if (!fields.has("gpus")) return;
    const std::string text = fields.text("gpus");
    auto asked = parse_gpu_request(text);
    if (!asked) return fields.report("gpus", asked.error().message);
    if (asked->tasks_max > 1 || !asked->required.empty())
        return fields.refuse("gpus", "GPUs of each such as 1, 0.5 or T4:1");
    if (!kind.gpu_model.empty() && !asked->gpu_model.empty())
        return fields.report("gpu_model", "gpus names a model already");
    kind.request = std::move(asked->request);
    if (kind.gpu_model.empty()) kind.gpu_model = asked->gpu_model;
}

}  // namespace

void read_companions(Problems& problems, FieldReader& fields, std::string_view cores,
                     model::JobSpec& spec) {
    fields.each("companions", [&](const Value& item, const std::string& path) {
        FieldReader one(problems, item, path);
        model::Companion kind;
        kind.name = one.needed_name("name");
        kind.count = static_cast<int>(one.whole("count", 1, {1, model::kCompanionsMax}));
        read_gpus_of(one, kind);
        read_host(problems, one, cores, kind.request);
        kind.node_labels = one.labels("node_labels");
        kind.node_filter = read_node_filter(one);
        kind.tolerations = read_tolerations(one);
        one.finish();
        spec.companions.push_back(std::move(kind));
    });
    const auto sound = model::check_companions(spec);
    if (!sound && !problems.any()) fields.report("companions", sound.error().message);
}

std::vector<model::Taint> read_taints(FieldReader& fields) {
    return read_each(fields, "taints", model::parse_taint);
}

model::Resources read_resources(Problems& problems, FieldReader& fields) {
    model::Resources resources;
    const Value* map = fields.find("resources");
    if (map == nullptr) return resources;
    FieldReader amounts(problems, *map, fields.path_of("resources"));
    for (const auto& [name, value] : map->members) {
        if (const auto amount = amounts.bytes(name)) resources[name] = amount->value;
    }
    amounts.finish();
    return resources;
}

model::OthersUse read_others(Problems& problems, FieldReader& fields) {
    model::OthersUse use;
    const Value* map = fields.find("others");
    if (map == nullptr) return use;
    FieldReader others(problems, *map, fields.path_of("others"));
    use.gpus = static_cast<int>(others.whole("gpus", 0, {0, model::kGpusPerNodeMax}));
    for (const std::string& text : others.texts("gpu_indices")) {
        const auto index = decimal_from(text, 0);
        if (!index || *index >= model::kGpusPerNodeMax) {
            others.report("gpu_indices",
                          "wanted indices of GPUs such as [0, 1], found \"" + text + "\"");
            break;
        }
        use.gpu_indices.push_back(static_cast<int>(*index));
    }
    use.cpu = {others.decimal("cpu", 3, "a number of cores such as 4").value_or(0)};
    use.memory = others.bytes("memory").value_or(base::Bytes{0});
    use.resources = read_resources(problems, others);
    others.finish();
    return use;
}

}  // namespace berth::codec
