// SPDX-License-Identifier: Apache-2.0
#include "codec/files/state_writer.h"

#include <algorithm>

#include "codec/fields/described.h"
#include "codec/log/event_log.h"
#include "codec/text/json_writer.h"
#include "codec/words/gpu_request.h"
#include "codec/words/timestamp.h"
#include "codec/words/words.h"
#include "model/fields/job_fields.h"
#include "model/job/task_groups.h"

namespace berth::codec {
namespace {

using model::Entitlement;
using model::JobDescription;
using model::JobSpec;
using model::TaskDescription;
using model::TaskState;

std::string millionths(std::int64_t amount) {
    const std::string digits = std::to_string(amount % 1'000'000 + 1'000'000);
    return std::to_string(amount / 1'000'000) + "." + digits.substr(1);
}

std::string exact(model::Duration value) {
    // What is written for people leaves out what hardly counts.
    const std::string text = base::format(value);
    const bool is_exact = base::parse_duration(text) == value;
    return is_exact ? text : std::to_string(value.count()) + "ms";
}

// A value by its type; an optional one is there.
void say(JsonWriter& json, const std::string& text) { json.string(text); }
void say(JsonWriter& json, int number) { json.number(number); }
void say(JsonWriter& json, bool flag) { json.boolean(flag); }
template <Worded E>
void say(JsonWriter& json, E value) {
    json.string(word(value));
}
void say(JsonWriter& json, const model::NodeFilter& filter) { json.string(format(filter)); }
void say(JsonWriter& json, std::optional<std::int64_t> ppm) { json.raw(millionths(*ppm)); }
void say(JsonWriter& json, std::optional<model::Duration> time) {
    json.string(*time < model::Duration{0} ? "never" : exact(*time));
}
void say(JsonWriter& json, const std::vector<std::string>& texts) {
    json.begin_array();
    for (const std::string& text : texts) json.string(text);
    json.end_array();
}
void say(JsonWriter& json, const model::Labels& labels) {
    json.begin_object();
    for (const auto& [label, value] : labels) json.text_key(label).string(value);
    json.end_object();
}
// Taints or tolerations.
template <typename T>
    requires requires(const T& value) { value.effect; }
void say(JsonWriter& json, const std::vector<T>& values) {
    json.begin_array();
    for (const T& value : values) json.string(format(value));
    json.end_array();
}

const JobSpec kUsual;

// As people write it where that says all of it.
void say_memory(JsonWriter& json, std::string_view name, base::Bytes amount) {
    const std::string text = base::format(amount);
    const auto read = base::parse_bytes(text);
    json.key(name).string(read && *read == amount ? text : std::to_string(amount.value));
}

// `general`: what would hold if nothing were said.
void say_host_rights(JsonWriter& json, const Entitlement& rights, const Entitlement& general) {
    if (rights.cpu_quota) json.key("cpu_quota").raw(base::format(*rights.cpu_quota));
    if (rights.memory_quota) say_memory(json, "memory_quota", *rights.memory_quota);
    if (rights.cpu_limit) json.key("cpu_limit").raw(base::format(*rights.cpu_limit));
    if (rights.memory_limit) say_memory(json, "memory_limit", *rights.memory_limit);
    if (general.cpu_limit && !rights.cpu_limit) json.key("cpu_limit").string("none");
    if (general.memory_limit && !rights.memory_limit) json.key("memory_limit").string("none");
}

// How many of the kind there are, and the GPUs of each.
void say_gpus(JsonWriter& json, const model::Companion& kind) {
    json.key("count").number(kind.count);
    if (kind.request.gpus == 0) return;
    GpuRequest gpus;
    gpus.request = kind.request;
    json.key("gpus").string(format_gpu_request(gpus));
    if (!kind.gpu_model.empty()) json.key("gpu_model").string(kind.gpu_model);
}

void write_groups(JsonWriter& json, const model::TopologyRequest& topology) {
    if (topology.groups.empty()) return;
    json.key("groups");
    if (topology.groups_min > 0) {  // only one word says how many start together
        json.string(model::format_task_groups(topology));
        return;
    }
    json.begin_array();
    for (const model::TaskGroup& group : topology.groups) {
        json.begin_object();
        json.key("name").string(group.name);
        json.key("tasks").string(model::format_tasks(group.tasks_min, group.tasks_max));
        if (!group.level.empty()) json.key("level").string(group.level);
        json.end_object();
    }
    json.end_array();
}

void say_exchange(JsonWriter& json, const model::Pool& pool) {
    if (pool.exchange.empty()) return;
    json.key("exchange").begin_object();
    for (const auto& [model, weight] : pool.exchange) {
        json.text_key(model).raw(base::format_thousandths(weight));
    }
    json.end_object();
}

class StateWriter {
  public:
    explicit StateWriter(std::string& out) : json_(out) {}

    void write(const model::Description& state) {
        json_.begin_object();
        time("now", state.now);
        if (state.as_listed) json_.key("as_listed").boolean(true);
        if (state.levels != model::default_levels()) texts("levels", state.levels);
        text("profile", state.profile);
        if (!state.policy.empty()) {
            json_.key("policy").begin_object();
            for (const auto& [name, set] : state.policy) {
                if (set) json_.text_key(name).string(*set);
            }
            json_.end_object();
        }
        list("pools", state.pools, [&](const model::Pool& pool) {
            text("name", pool.name);
            labels("labels", pool.labels);
            text("spares", pool.spares);
            if (pool.strict_shares) json_.key("strict_shares").raw("true");
            say_exchange(json_, pool);
        });
        list("nodes", state.nodes, [&](const model::Node& node) { write(node); });
        list("places", state.places, [&](const model::NodePlace& place) {
            text("node", place.node);
            text("pool", place.pool);
            if (place.is_bound) json_.key("is_bound").boolean(true);
        });
        list("projects", state.projects, [&](const model::Project& project) { write(project); });
        list("jobs", state.jobs, [&](const JobDescription& job) { write(job); });
        if (state.order) json_.key("order").string(order_text(*state.order));
        json_.end_object();
    }

  private:
    template <typename T, typename WriteMembers>
    void list(std::string_view name, const std::vector<T>& items, WriteMembers&& write_members) {
        if (items.empty()) return;
        json_.key(name).begin_array();
        for (const T& item : items) {
            json_.begin_object();
            write_members(item);
            json_.end_object();
        }
        json_.end_array();
    }
    void text(std::string_view name, const std::string& value) {
        if (!value.empty()) json_.key(name).string(value);
    }
    void texts(std::string_view name, const std::vector<std::string>& values) {
        say(json_.key(name), values);
    }
    void number(std::string_view name, std::int64_t value) { json_.key(name).number(value); }
    void raw(std::string_view name, const std::string& value) { json_.key(name).raw(value); }
    void time(std::string_view name, model::TimePoint value) {
        json_.key(name).string(format_time(value));
    }
    void duration(std::string_view name, std::optional<model::Duration> value) {
        if (value) say(json_.key(name), value);
    }
    void labels(std::string_view name, const model::Labels& labels) {
        if (!labels.empty()) say(json_.key(name), labels);
    }
    template <typename T>
    void formatted(std::string_view name, const std::vector<T>& values) {
        if (!values.empty()) say(json_.key(name), values);
    }
    void bound(std::string_view name, model::MilliGpu amount) {
        raw(name, amount >= model::kUnlimited ? "-1" : base::format(amount));
    }

    void write(const model::Node& node) {
        text("name", node.name);
        number("gpus", node.gpus);
        text("gpu_model", node.gpu_model);
        if (node.gpu_memory.value > 0) number("gpu_memory", node.gpu_memory.value);
        if (node.gpu_reserved.value > 0) number("gpu_reserved", node.gpu_reserved.value);
        if (node.gpu_context.value > 0) number("gpu_context", node.gpu_context.value);
        if (!node.shares_lack.empty()) text("shares_lack", node.shares_lack);
        if (node.cpu) raw("cpu", base::format(*node.cpu));
        if (node.memory) number("memory", node.memory->value);
        labels("labels", node.labels);
        labels("topology", node.topology);
        write(node.gpu_links);
        formatted("taints", node.taints);
        if (node.health != model::NodeHealth::Ready) {
            json_.key("health").string(word(node.health));
        }
        write(node.others);
        resources(node.resources);
    }

    void resources(const model::Resources& amounts) {
        if (amounts.empty()) return;
        json_.key("resources").begin_object();
        for (const auto& [name, amount] : amounts) json_.text_key(name).number(amount);
        json_.end_object();
    }

    void write(const model::OthersUse& use) {
        if (use == model::OthersUse{}) return;
        json_.key("others").begin_object();
        if (use.gpus > 0) number("gpus", use.gpus);
        if (!use.gpu_indices.empty()) {
            json_.key("gpu_indices").begin_array();
            for (const int gpu : use.gpu_indices) json_.number(gpu);
            json_.end_array();
        }
        if (use.cpu.value > 0) raw("cpu", base::format(use.cpu));
        if (use.memory.value > 0) number("memory", use.memory.value);
        resources(use.resources);
        json_.end_object();
    }

    void write(const model::GpuLinks& links) {
        if (links == model::GpuLinks{}) return;
        json_.key("gpu_links").begin_object();
        for (const auto& [name, places] :
             {std::pair("numa", &links.numa), {"islands", &links.islands}, {"nics", &links.nics}}) {
            if (places->empty()) continue;
            json_.key(name).begin_array();
            for (const int place : *places) json_.number(place);
            json_.end_array();
        }
        if (!links.matrix.empty()) texts("matrix", links.matrix);
        json_.end_object();
    }

    void write(const Entitlement& rights, const Entitlement& general) {
        if (rights.quota) bound("quota", *rights.quota);
        bound("limit", rights.limit);
        say_host_rights(json_, rights, general);
        raw("weight", base::format_thousandths(rights.weight));
        number("priority", rights.priority);
        json_.key("kind").string(word(rights.kind));
        if (rights.usage_ppm > 0) raw("usage", millionths(rights.usage_ppm));
    }

    void write(const model::Project& project) {
        text("name", project.name);
        text("parent", project.parent);
        number("created", project.order);
        duration("preemption_delay", project.preemption_delay);
        duration("preempt_min_run", project.preempt_min_run);
        duration("reclaim_min_run", project.reclaim_min_run);
        if (project.job_order) json_.key("job_order").string(word(*project.job_order));
        if (project.job_tail) number("job_tail", *project.job_tail);
        duration("idle_after", project.idle_after);
        if (project.idle_act) json_.key("idle_act").string(word(*project.idle_act));
        if (project.strict_shares) json_.key("strict_shares").raw("true");
        write(project.rights, {});
        if (project.pools.empty()) return;
        json_.key("pools").begin_object();
        for (const auto& [pool, rights] : project.pools) {
            json_.text_key(pool).begin_object();
            write(rights, project.rights);
            json_.end_object();
        }
        json_.end_object();
    }

    void write(const model::TaskRequest& request) {
        json_.key("request").begin_object();
        number("gpus", request.gpus);
        if (request.gpu_memory.value > 0) number("gpu_memory", request.gpu_memory.value);
        const std::int64_t most = request.gpu_memory_max.value;
        if (most > 0) number("gpu_memory_max", most);
        if (request.cap != base::MilliGpu{0}) raw("cap", base::format(request.cap));
        if (request.share != base::kWholeGpu) raw("share", base::format(request.share));
        write_host(request);
        json_.end_object();
    }

    void write_host(const model::TaskRequest& request) {
        if (request.cpu) raw("cpu", base::format(*request.cpu));
        if (request.memory) number("memory", request.memory->value);
        resources(request.resources);
    }

    void write(const JobSpec& spec) {
        model::Fields<JobSpec>::visit_fields([&](const model::JobField& field, auto member) {
            if (field.name == "tasks_min") return write_size(spec);
            if (field.name == "topology") return write_parts(spec);
            const bool is_usual = spec.*member == kUsual.*member;
            if constexpr (requires { say(json_, spec.*member); }) {
                const bool is_left_out = is_usual && !field.besides.is_always_written;
                if (is_left_out || !field.is_at(model::kStateFile)) return;
                say(json_.key(field.in_files()), spec.*member);
            }
        });
    }

    void write_size(const JobSpec& spec) {
        write(spec.request);
        number("min", spec.tasks_min);
        number("max", spec.tasks_max);
    }

    // Its companions, its groups and where they stand.
    void write_parts(const JobSpec& spec) {
        list("companions", spec.companions, [&](const model::Companion& kind) {
            text("name", kind.name);
            say_gpus(json_, kind);
            write_host(kind.request);
            labels("node_labels", kind.node_labels);
            text("node_filter", format(kind.node_filter));
            formatted("tolerations", kind.tolerations);
        });
        write_groups(json_, spec.topology);
        if (spec.topology.required.empty() && spec.topology.preferred.empty()) return;
        json_.key("topology").begin_object();
        text("required", spec.topology.required);
        text("preferred", spec.topology.preferred);
        json_.end_object();
    }

    void write(const JobDescription& job) {
        write(job.spec);
        time("created", job.created);
        if (job.waiting_since) time("waiting_since", *job.waiting_since);
        if (job.last_start) time("last_start", *job.last_start);
        if (job.last_checkpoint) time("last_checkpoint", *job.last_checkpoint);
        if (job.last_pause) time("last_pause", *job.last_pause);
        if (job.saves_when_asked) json_.key("saves_when_asked").boolean(true);
        if (job.stale_since) time("stale_since", *job.stale_since);
        duration("attained", job.attained);
        if (job.held) json_.key("held").boolean(true);
        if (job.parked_since) time("parked_since", *job.parked_since);
        if (job.frozen_gpu_memory.value > 0)
            number("frozen_gpu_memory", job.frozen_gpu_memory.value);
        if (job.promised_until) time("promised_until", *job.promised_until);
        list("tasks", job.tasks, [&](const TaskDescription& task) {
            if (task.state != TaskState::Running) {
                json_.key("state").string(word(task.state));
            }
            text("node", task.node);
            if (task.gpu_indices.empty()) return;
            json_.key("gpus").begin_array();
            for (const int gpu : task.gpu_indices) json_.number(gpu);
            json_.end_array();
        });
    }

    JsonWriter json_;
};

}  // namespace

std::string state_json(const model::Description& description) {
    std::string text;
    StateWriter(text).write(description);
    return text;
}

}  // namespace berth::codec
