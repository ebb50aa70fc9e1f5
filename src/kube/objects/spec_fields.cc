// SPDX-License-Identifier: Apache-2.0
#include "kube/objects/spec_fields.h"

#include <charconv>
#include <optional>

#include "base/quantity.h"
#include "codec/text/field_reader.h"
#include "codec/words/words.h"
#include "kube/objects/walk.h"
#include "model/limits.h"

namespace berth::kube::objects {
namespace {

using base::Result;
using base::Status;
using codec::JsonReader;
using model::Entitlement;
using model::Project;

// What stands there, for an error.
std::string found_at(JsonReader reader) {
    switch (reader.peek()) {
        case JsonReader::Type::String: return model::in_quotes(reader.read_text());
        case JsonReader::Type::Number: return std::string(reader.read_number_text());
        case JsonReader::Type::Bool: return reader.read_bool() ? "true" : "false";
        case JsonReader::Type::Object: return "a map";
        case JsonReader::Type::Array: return "a list";
        default: return "nothing";
    }
}

// Passes over what is not wanted, so that the next field can be read.
tl::unexpected<base::Error> refuse_spec(JsonReader& reader, std::string_view wanted) {
    const std::string found = found_at(reader);
    reader.pass_over();
    return base::invalid("wanted " + std::string(wanted) + ", found " + found);
}

bool is_next(JsonReader& reader, JsonReader::Type type) { return reader.peek() == type; }

// A number that is not negative, in thousandths.
std::optional<std::int64_t> thousandths_at(JsonReader reader) {
    if (!is_next(reader, JsonReader::Type::Number)) return std::nullopt;
    return codec::decimal_from(reader.read_number_text(), 3);
}

constexpr std::string_view kWantedBound = "a number of GPUs such as 4 or 0.5, or -1 for no bound";

template <auto Member>
Status read_gpus(JsonReader& reader, Entitlement& rights) {
    JsonReader ahead = reader;
    const bool is_number = is_next(ahead, JsonReader::Type::Number);
    if (is_number && ahead.read_number_text() == "-1") {
        rights.*Member = model::kUnlimited;
    } else if (const auto amount = thousandths_at(reader)) {
        rights.*Member = base::MilliGpu{*amount};
    } else {
        return refuse_spec(reader, kWantedBound);
    }
    reader.pass_over();
    return {};
}

template <auto Member>
Status read_cores(JsonReader& reader, Entitlement& rights) {
    JsonReader ahead = reader;
    const bool is_number = is_next(ahead, JsonReader::Type::Number);
    if (is_number && ahead.read_number_text() == "-1") {
        (rights.*Member).reset();
    } else if (const auto amount = thousandths_at(reader)) {
        rights.*Member = model::MilliCpu{*amount};
    } else {
        return refuse_spec(reader, "a number of cores such as 64, or -1 for none");
    }
    reader.pass_over();
    return {};
}

template <auto Member>
Status read_memory(JsonReader& reader, Entitlement& rights) {
    static constexpr std::string_view kWanted = "an amount of memory such as 512G, or none";
    JsonReader ahead = reader;
    if (!is_next(ahead, JsonReader::Type::String)) return refuse_spec(reader, kWanted);
    const std::string_view text = ahead.read_text();
    const auto amount = base::parse_bytes(text);
    if (text == "none") {
        (rights.*Member).reset();
    } else if (amount) {
        rights.*Member = *amount;
    } else {
        return refuse_spec(reader, kWanted);
    }
    reader.pass_over();
    return {};
}

Status read_weight(JsonReader& reader, Entitlement& rights) {
    const auto weight = thousandths_at(reader);
    if (!weight) return refuse_spec(reader, "a weight such as 1 or 0.5");
    rights.weight = *weight;
    reader.pass_over();
    return {};
}

Result<int> read_whole(JsonReader& reader, int least, int most) {
    JsonReader ahead = reader;
    if (is_next(ahead, JsonReader::Type::Number)) {
        const std::string_view text = ahead.read_number_text();
        int number = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
        const bool is_whole = error == std::errc{} && end == text.data() + text.size();
        if (is_whole && number >= least && number <= most) {
            reader.pass_over();
            return number;
        }
    }
    return refuse_spec(
        reader, "a whole number from " + std::to_string(least) + " to " + std::to_string(most));
}

Status read_priority(JsonReader& reader, Entitlement& rights) {
    BERTH_TRY(priority, read_whole(reader, -model::kPriorityMax, model::kPriorityMax));
    rights.priority = priority;
    return {};
}

template <typename E>
Result<E> read_one_of(JsonReader& reader) {
    JsonReader ahead = reader;
    if (is_next(ahead, JsonReader::Type::String)) {
        if (const auto value = codec::from_word<E>(ahead.read_text())) {
            reader.pass_over();
            return *value;
        }
    }
    return refuse_spec(reader, codec::listed(codec::kWords<E>));
}

Status read_kind(JsonReader& reader, Entitlement& rights) {
    BERTH_TRY(kind, read_one_of<model::QuotaKind>(reader));
    rights.kind = kind;
    return {};
}

Result<std::string> read_declared_name(JsonReader& reader) {
    if (!is_next(reader, JsonReader::Type::String)) return refuse_spec(reader, "a name");
    JsonReader ahead = reader;
    if (!model::is_name(ahead.read_text())) return refuse_spec(reader, "a name");
    return reader.read_string();
}

Status read_parent(JsonReader& reader, ProjectSpec& spec) {
    BERTH_TRY(name, read_declared_name(reader));
    spec.project.parent = std::move(name);
    return {};
}

template <auto Member>
Status read_delay(JsonReader& reader, ProjectSpec& spec) {
    static constexpr std::string_view kWanted = "a time such as 90s, 5m or 1h30m";
    if (!is_next(reader, JsonReader::Type::String)) return refuse_spec(reader, kWanted);
    JsonReader ahead = reader;
    const auto time = base::parse_duration(ahead.read_text());
    if (!time) return refuse_spec(reader, kWanted);
    spec.project.*Member = *time;
    reader.pass_over();
    return {};
}

Status read_order(JsonReader& reader, ProjectSpec& spec) {
    BERTH_TRY(order, read_one_of<model::JobOrder>(reader));
    spec.project.job_order = order;
    return {};
}

Status read_tail(JsonReader& reader, ProjectSpec& spec) {
    BERTH_TRY(tail, read_whole(reader, 0, model::kOrderTailMax));
    spec.project.job_tail = tail;
    return {};
}

Status read_pool_rights(JsonReader& reader, ProjectSpec& spec) {
    if (!is_next(reader, JsonReader::Type::Object)) return refuse_spec(reader, "a map of pools");
    each_field(reader, [&](std::string_view pool) {
        std::string name(pool);
        spec.pool_rights.emplace_back(std::move(name), reader);
        return false;
    });
    return {};
}

// Every item of a list of texts, whatever one of them is.
Result<std::vector<std::string>> read_texts(JsonReader& reader, std::string_view wanted) {
    if (!is_next(reader, JsonReader::Type::Array)) return refuse_spec(reader, wanted);
    std::vector<std::string> texts;
    std::optional<base::Error> problem;
    for (reader.begin_array(); reader.next_element();) {
        auto text = read_declared_name(reader);
        if (text) {
            texts.push_back(std::move(*text));
        } else if (!problem) {
            problem = text.error();
        }
    }
    if (problem) return tl::unexpected(*problem);
    return texts;
}

Status read_namespaces(JsonReader& reader, ProjectSpec& spec) {
    BERTH_TRY(names, read_texts(reader, "a list of namespaces"));
    spec.namespaces = std::move(names);
    return {};
}

Status read_levels(JsonReader& reader, PolicySpec& spec) {
    BERTH_TRY(levels, read_texts(reader, "a list of levels such as [zone, block, rack]"));
    spec.levels = std::move(levels);
    return {};
}

// take(key) reads the value and says what is wrong with it.
template <typename Take>
Status read_entries(JsonReader& reader, std::string_view wanted, Take take) {
    if (!is_next(reader, JsonReader::Type::Object)) return refuse_spec(reader, wanted);
    Status first;
    each_field(reader, [&](std::string_view key) {
        const std::string name(key);
        const Status read = take(name);
        if (!read && first) first = base::invalid(name + ": " + read.error().message);
        return true;
    });
    return first;
}

Status read_selector(JsonReader& reader, model::Pool& pool) {
    return read_entries(reader, "a map of labels", [&](const std::string& key) -> Status {
        if (!is_next(reader, JsonReader::Type::String)) return refuse_spec(reader, "a text");
        pool.labels.insert_or_assign(key, reader.read_string());
        return {};
    });
}

Status read_exchange(JsonReader& reader, model::Pool& pool) {
    static constexpr std::string_view kWanted = "a weight such as 1 or 0.5";
    return read_entries(reader, "a map of weights", [&](const std::string& key) -> Status {
        const auto weight = thousandths_at(reader);
        if (!weight) return refuse_spec(reader, kWanted);
        pool.exchange.insert_or_assign(key, *weight);
        reader.pass_over();
        return {};
    });
}

Status read_spares(JsonReader& reader, model::Pool& pool) {
    BERTH_TRY(name, read_declared_name(reader));
    pool.spares = std::move(name);
    return {};
}

Status read_profile(JsonReader& reader, PolicySpec& spec) {
    JsonReader ahead = reader;
    const bool is_text = is_next(ahead, JsonReader::Type::String);
    if (!is_text || !model::policy_named(ahead.read_text())) {
        return refuse_spec(reader, "berth or classic");
    }
    spec.profile = reader.read_string();
    return {};
}

Status read_settings(JsonReader& reader, PolicySpec& spec) {
    return read_entries(reader, "a map of settings", [&](const std::string& key) -> Status {
        if (!is_next(reader, JsonReader::Type::String)) {
            return refuse_spec(reader, "a text, in quotes");
        }
        spec.settings.insert_or_assign(key, reader.read_string());
        return {};
    });
}

constexpr SpecField<Entitlement> kRights[] = {
    {"quota", FieldType::Gpus,
     "GPUs that it is entitled to; -1: no bound. Default: the sum of the quotas below it, 0 "
     "without any.",
     read_gpus<&Entitlement::quota>},
    {"limit", FieldType::Gpus, "GPUs that it never exceeds. Default: -1, no limit.",
     read_gpus<&Entitlement::limit>},
    {"cpuQuota", FieldType::Cores,
     "Cores that its pods may ask for together whenever they need them. Default: -1, none.",
     read_cores<&Entitlement::cpu_quota>},
    {"memoryQuota", FieldType::Memory,
     "Host memory that its pods may ask for together whenever they need it. Default: none.",
     read_memory<&Entitlement::memory_quota>},
    {"cpuLimit", FieldType::Cores,
     "Cores that its pods never ask for more than, together. Default: -1, no limit.",
     read_cores<&Entitlement::cpu_limit>},
    {"memoryLimit", FieldType::Memory,
     "Host memory that its pods never ask for more than, together. Default: none, no limit.",
     read_memory<&Entitlement::memory_limit>},
    {"weight", FieldType::Weight, "Its part when idle GPUs are shared out. Default: 1.",
     read_weight},
    {"priority", FieldType::Priority, "Higher is offered idle GPUs first. Default: 100.",
     read_priority},
    {"kind", FieldType::QuotaKind,
     "guaranteed: lends and borrows; fixed: never above quota, and lends nothing. Default: "
     "guaranteed.",
     read_kind},
};

constexpr SpecField<ProjectSpec> kProject[] = {
    {"parent", FieldType::ProjectName,
     "Project that this one is below. One with others below it holds no jobs itself.", read_parent},
    {"namespaces", FieldType::Namespaces, "Namespaces whose pods belong to it.", read_namespaces},
    {"pools", FieldType::Pools,
     "Its rights in pools other than \"default\", by pool. What is not said there is as it is "
     "above, except quota.",
     read_pool_rights},
    {"preemptionDelay", FieldType::Time,
     "How long its jobs wait before another job is preempted for them. Default: its parent's, 0 "
     "at the top.",
     read_delay<&Project::preemption_delay>},
    {"preemptMinRun", FieldType::Time,
     "How long its started jobs are safe from higher priorities of the project. Default: its "
     "parent's, the Policy's min_run at the top.",
     read_delay<&Project::preempt_min_run>},
    {"reclaimMinRun", FieldType::Time,
     "How long its started jobs are safe from other projects. Default: its parent's, the "
     "Policy's min_run at the top.",
     read_delay<&Project::reclaim_min_run>},
    {"jobOrder", FieldType::JobOrder,
     "Which of its jobs goes first. Default: its parent's, the Policy's order at the top.",
     read_order},
    {"jobTail", FieldType::OrderTail,
     "Of that order: the costliest jobs, with this percentage of all GPU time, go by age. "
     "Default: its parent's, the Policy's order.tail at the top.",
     read_tail},
};

constexpr SpecField<model::Pool> kPool[] = {
    {"nodeSelector", FieldType::NodeLabels,
     "Labels of its nodes. A node is in the oldest pool whose labels it has, else in "
     "\"default\".",
     read_selector},
    {"spares", FieldType::PoolName,
     "Pool whose idle nodes take the place of nodes of this one that are not ready.", read_spares},
    {"exchange", FieldType::Exchange,
     "What one GPU of a model counts as in quotas, limits and fair shares. Default: 1.",
     read_exchange},
};

constexpr SpecField<PolicySpec> kPolicy[] = {
    {"profile", FieldType::Profile, "What holds where no setting says otherwise. Default: berth.",
     read_profile},
    {"levels", FieldType::Levels,
     "Labels that say where a node stands, outermost first. Default: zone, block, rack.",
     read_levels},
    {"settings", FieldType::Settings, "Settings that differ from the profile, each as text.",
     read_settings},
};

}  // namespace

std::span<const SpecField<Entitlement>> rights_fields() { return kRights; }
std::span<const SpecField<ProjectSpec>> project_fields() { return kProject; }
std::span<const SpecField<model::Pool>> pool_fields() { return kPool; }
std::span<const SpecField<PolicySpec>> policy_fields() { return kPolicy; }

}  // namespace berth::kube::objects
