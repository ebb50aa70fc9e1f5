// SPDX-License-Identifier: Apache-2.0
#include "codec/files/job_fields.h"

#include "codec/files/node_wishes.h"

namespace berth::codec {
namespace {

constexpr std::int64_t kOneInMillionths = 1'000'000;
constexpr std::string_view kWantedPart = "a part from 0 to 1 such as 0.25";

// One field where a file may say it. A reader for each type; what the file does not say stays.
struct JobFieldReader {
    FieldReader& in;
    const model::JobField& field;
    model::JobDoors door;
    std::string_view name = field.in_files();

    void read(std::string& text) const {
        const bool is_name = field.besides.is_needed;
        if (is_name && (door == model::kStateFile || in.has(name))) text = in.needed_name(name);
        if (!is_name) text = in.text(name);
    }
    void read(int& number) const { number = static_cast<int>(in.whole(name, number)); }
    void read(bool& flag) const { flag = in.flag(name, flag); }
    template <typename E>
        requires std::is_enum_v<E>
    void read(E& word) const {
        word = in.choice(name, word);
    }
    void read(model::JobKind& kind) const {
        kind = in.choice(name, kind);
        if (door != model::kJobFile || !in.has(field.besides.also)) return;
        if (in.has(name)) in.report(name, "wanted type or kind, found both");
        kind = in.choice(field.besides.also, kind);
    }
    void read(std::vector<std::string>& pools) const {
        pools = in.texts(name);
        if (!in.has(field.besides.also)) return;
        if (!pools.empty()) in.report(field.besides.also, "wanted pool or pools, found both");
        pools = {in.text(field.besides.also)};
    }
    void read(model::Labels& labels) const { labels = in.labels(name); }
    void read(model::NodeFilter& filter) const { filter = read_node_filter(in); }
    void read(std::vector<model::Toleration>& all) const { all = read_tolerations(in); }
    void read(std::optional<model::Duration>& time) const {
        time = field.besides.or_never ? read_or_never(in, name) : in.duration(name);
    }
    void read(model::Duration& time) const { time = in.duration(name).value_or(time); }
    void read(std::optional<std::int64_t>& millionths) const {
        millionths = in.decimal(name, 6, kWantedPart);
        if (millionths > kOneInMillionths) in.refuse(name, kWantedPart);
    }
};

}  // namespace

void read_job_fields(FieldReader& fields, model::JobDoors door, model::JobSpec& spec) {
    using Job = model::Fields<model::JobSpec>;
    Job::visit_fields([&](const model::JobField& field, auto member) {
        const JobFieldReader reader{fields, field, door};
        if constexpr (requires { reader.read(spec.*member); }) {
            if (!field.is_at(door)) return;
            if (field.besides.set_default != nullptr) field.besides.set_default(spec);
            reader.read(spec.*member);
        }
    });
}

std::optional<GpuRequest> read_gpus(FieldReader& fields, model::JobSpec& spec) {
    auto request = parse_gpu_request(fields.text("gpus"));
    if (!request) {
        fields.report("gpus", request.error().message);
        return {};
    }
    if (!request->gpu_model.empty()) spec.gpu_model = request->gpu_model;
    spec.request = request->request;
    spec.topology.required = request->required;
    spec.tasks_min = request->tasks_min;
    spec.tasks_max = request->tasks_max;
    return std::move(*request);
}

model::MilliGpu read_cap(FieldReader& fields) {
    constexpr std::string_view kWanted = "a part of each GPU's time such as 0.8";
    const auto cap = fields.decimal("cap", 3, kWanted);
    if (cap && (*cap == 0 || *cap > 1000)) fields.refuse("cap", kWanted);
    return model::MilliGpu{cap.value_or(0)};
}

}  // namespace berth::codec
