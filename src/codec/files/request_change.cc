// SPDX-License-Identifier: Apache-2.0
#include "codec/files/request_change.h"

#include <string>

#include "codec/text/field_reader.h"
#include "codec/text/json.h"
#include "codec/words/gpu_request.h"

namespace berth::codec {
namespace {

constexpr std::string_view kPart = "a part of a GPU, more than 0 and at most 1, such as 0.5";

bool is_null(const Value& tree, std::string_view name) {
    const Value* value = tree.find(name);
    return value != nullptr && value->kind == Value::Kind::Null;
}

std::optional<model::TaskRequest> read_gpus_anew(FieldReader& fields) {
    const Value* value = fields.find("gpus");
    if (value == nullptr) return {};
    const auto read = parse_gpu_request(value->text);
    const bool is_of_gpus = read && read->tasks_max == 1 && read->gpu_model.empty() &&
                            read->required.empty() && read->request.gpus > 0;
    if (is_of_gpus) return read->request;
    fields.refuse("gpus", "GPUs such as 2, 0.5, 12G, 0.5+12G or 2x0.5");
    return {};
}

std::optional<model::MilliGpu> read_part(FieldReader& fields, std::string_view name) {
    const Value* value = fields.find(name);
    if (value == nullptr) return {};
    const auto part = base::parse_thousandths(value->text);
    if (!part || *part <= 0 || *part > 1000) fields.refuse(name, kPart);
    return model::MilliGpu{part.value_or(1000)};
}

std::optional<model::MemoryWish> read_memory_anew(FieldReader& fields) {
    const Value* value = fields.find("gpu_memory");
    if (value == nullptr) return {};
    const auto read = parse_gpu_request(value->text);
    const bool is_memory = read && read->request.gpu_memory > model::Bytes{0} &&
                           read->request.gpus == 1 && read->request.share == base::kWholeGpu;
    if (!is_memory) {
        fields.refuse("gpu_memory", "memory of a GPU such as 12G or 12G..20G");
        return {};
    }
    return model::MemoryWish{read->request.gpu_memory, read->request.gpu_memory_max};
}

}  // namespace

base::Result<JobChange> parse_job_change(std::string_view body) {
    BERTH_TRY(tree, parse_json(body, "body"));
    Problems problems("body");
    FieldReader fields(problems, tree, "");
    JobChange change;
    change.request.gpus = read_gpus_anew(fields);
    change.request.share = read_part(fields, "share");
    const bool is_said_twice = change.request.share && change.request.gpus &&
                               change.request.gpus->share != base::kWholeGpu;
    if (is_said_twice) fields.report("share", "gpus says another one; give it in one of them");
    change.request.cap = read_part(fields, "cap");
    if (is_null(tree, "cap")) change.request.cap = model::MilliGpu{0};
    change.request.gpu_memory = read_memory_anew(fields);
    if (is_null(tree, "gpu_memory")) change.request.gpu_memory = model::MemoryWish{};
    change.may_requeue = fields.flag("requeue", false);
    fields.finish();
    if (problems.any()) return problems.first();
    const auto& [gpus, share, cap, memory] = change.request;
    if (gpus || share || cap || memory) return change;
    return base::invalid("nothing to change: give gpus, share, cap or gpu_memory");
}

}  // namespace berth::codec
