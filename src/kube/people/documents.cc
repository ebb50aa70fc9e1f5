// SPDX-License-Identifier: Apache-2.0
#include "kube/people/documents.h"

#include "cli/pages/job_text.h"
#include "codec/text/json_writer.h"
#include "codec/words/timestamp.h"

namespace berth::kube::people {
namespace {

using codec::JsonWriter;

void field(JsonWriter& json, std::string_view name, std::string_view text) {
    json.key(name);
    json.string(text);
}

void time_field(JsonWriter& json, std::string_view name,
                const std::optional<base::TimePoint>& time) {
    json.key(name);
    if (time) return json.string(codec::format_time(*time));
    json.null();
}

void gpus_field(JsonWriter& json, std::string_view name,
                const std::optional<base::MilliGpu>& gpus) {
    json.key(name);
    if (!gpus || *gpus >= model::kUnlimited) return json.null();
    json.raw(base::format_thousandths(gpus->value));
}

void number_field(JsonWriter& json, std::string_view name,
                  const std::optional<std::int64_t>& number) {
    json.key(name);
    if (number) return json.number(*number);
    json.null();
}

void begin(JsonWriter& json, std::string_view kind) {
    json.begin_object();
    field(json, "apiVersion", "berth/v1");
    field(json, "kind", kind);
}

void write_pause(JsonWriter& json, const objects::Receipt& receipt,
                 const std::string& beneficiary) {
    json.key("last_pause");
    json.begin_object();
    field(json, "rule", receipt.rule);
    time_field(json, "time", receipt.time);
    time_field(json, "deadline", receipt.deadline);
    field(json, "beneficiary_uid", receipt.beneficiary);
    field(json, "beneficiary", beneficiary);
    json.end_object();
}

void write_history(JsonWriter& json, const objects::History& history) {
    json.key("history");
    json.begin_object();
    number_field(json, "attained_gpu_seconds", history.attained.count() / 1000);
    number_field(json, "lost_gpu_seconds", history.lost.count() / 1000);
    json.end_object();
}

// The members of one; the caller opens and closes it.
void write_work(JsonWriter& json, const Work& work, const std::string& beneficiary) {
    const codec::JobView& job = work.job;
    field(json, "namespace", work.name_space);
    field(json, "name", work.name);
    field(json, "project", job.spec.project);
    field(json, "state", cli::state_word(job));
    json.key("held");
    json.boolean(job.held);
    number_field(json, "gpus", gpus_of(work));
    number_field(json, "pods", job.spec.tasks_max);
    json.key("nodes");
    json.begin_object();
    for (const auto& [node, pods] : work.nodes) {
        json.text_key(node);
        json.number(pods);
    }
    json.end_object();
    time_field(json, "created", job.created);
    time_field(json, "last_start", job.last_start);
    number_field(json, "pauses", job.pauses);
    field(json, "reason", work.reason);
    field(json, "why", work.not_ours.empty() ? job.why : work.not_ours);
    if (work.receipt) write_pause(json, *work.receipt, beneficiary);
    if (work.history) write_history(json, *work.history);
}

void write_use(JsonWriter& json, const Use& use) {
    gpus_field(json, "quota", use.quota);
    gpus_field(json, "fair_share", use.fair_share);
    gpus_field(json, "used", use.used);
    gpus_field(json, "over", use.over);
    number_field(json, "waiting", use.waiting);
}

}  // namespace

std::string work_json(const Work& work, const std::string& beneficiary) {
    std::string text;
    JsonWriter json(text);
    begin(json, "KubeJob");
    write_work(json, work, beneficiary);
    json.end_object();
    return text;
}

std::string work_list_json(std::span<const Work> works, const std::vector<std::string>& unread) {
    std::string text;
    JsonWriter json(text);
    begin(json, "KubeJobList");
    json.key("items");
    json.begin_array();
    for (const Work& work : works) {
        json.begin_object();
        write_work(json, work, "");
        json.end_object();
    }
    json.end_array();
    json.key("unread");
    json.begin_array();
    for (const std::string& what : unread) json.string(what);
    json.end_array();
    json.end_object();
    return text;
}

std::string share_list_json(const Read& read, const Branch& branch) {
    std::string text;
    JsonWriter json(text);
    begin(json, "KubeProjectList");
    json.key("items");
    json.begin_array();
    for (const auto& [project, depth] : branch.rows) {
        json.begin_object();
        field(json, "name", project->meta.name);
        field(json, "parent", project->project.parent);
        write_use(json, project->use);
        json.key("pools");
        json.begin_object();
        for (const std::string& pool : pools_of(read, *project)) {
            const auto found = project->pools.find(pool);
            if (found == project->pools.end()) continue;
            json.text_key(pool);
            json.begin_object();
            write_use(json, found->second);
            json.end_object();
        }
        json.end_object();
        json.end_object();
    }
    json.end_array();
    json.end_object();
    return text;
}

}  // namespace berth::kube::people
