// SPDX-License-Identifier: Apache-2.0
#include "codec/topology.h"

#include <charconv>

#include "codec/json.h"

namespace berth::codec {
namespace {

constexpr std::int64_t kMillion = 1'000'000;

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
    spec.placement = fields.choice("placement", model::Placement::Auto);
    if (const auto skew = fields.decimal("tensor_skew", 6, "a part from 0 to 1 such as 0.25")) {
        spec.tensor_skew_ppm = *skew;
        if (*skew > kMillion) fields.refuse("tensor_skew", "a part from 0 to 1 such as 0.25");
    }
    const Value* value = fields.find("topology");
    if (value == nullptr) return;
    if (value->is_scalar()) {
        spec.topology.required = fields.text("topology");
        return;
    }
    FieldReader levels(problems, *value, fields.path_of("topology"));
    spec.topology.required = levels.text("required");
    spec.topology.preferred = levels.text("preferred");
    levels.finish();
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
