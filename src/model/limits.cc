// SPDX-License-Identifier: Apache-2.0
#include "model/limits.h"

#include <algorithm>
#include <set>

#include "base/gpu_time.h"
#include "model/fields/job_fields.h"
#include "model/job/companions.h"
#include "model/job/task_groups.h"
#include "model/policy/policy.h"

namespace berth::model {
namespace {

using base::Status;

constexpr std::size_t kMatrixRowBytesMax = 1024;

Status refuse(std::string_view field, const std::string& wanted, const std::string& found) {
    return base::invalid(std::string(field) + ": wanted " + wanted + ", found " + found);
}

template <typename Number>
std::string text_of(Number number) {
    if constexpr (requires { base::format(number); }) {
        return base::format(number);
    } else {
        return std::to_string(number);
    }
}

// `Number` is an integer, an amount or a time.
template <typename Number>
Status within(std::string_view field, Number found, Number least, Number most) {
    if (found >= least && found <= most) return {};
    return refuse(field, text_of(least) + " to " + text_of(most), text_of(found));
}

template <typename T>
Status up_to(std::string_view field, const std::optional<T>& found, T most) {
    return found ? within(field, *found, T{0}, most) : Status{};
}

Status time_or_never(std::string_view field, const std::optional<Duration>& found) {
    if (!found || (*found >= -kTimeMax && *found <= kTimeMax)) return {};
    return refuse(field, "a time up to " + base::format(kTimeMax) + " or never",
                  base::format(*found));
}

Status at_most(std::string_view field, std::size_t found, std::size_t most,
               std::string_view things) {
    if (found <= most) return {};
    return refuse(field, "at most " + std::to_string(most) + " " + std::string(things),
                  std::to_string(found));
}

Status check_name(std::string_view field, std::string_view name) {
    if (is_name(name)) return {};
    if (name.empty()) return refuse(field, "a name", "nothing");
    if (name.size() > kNameBytesMax) {
        return refuse(field, "a name of at most " + std::to_string(kNameBytesMax) + " bytes",
                      std::to_string(name.size()) + " bytes, " + in_quotes(name));
    }
    return refuse(field, "a name without control characters", in_quotes(name));
}

Status check_name_or_none(std::string_view field, std::string_view name) {
    return name.empty() ? Status{} : check_name(field, name);
}

Status check_labels(std::string_view field, const Labels& labels) {
    BERTH_TRY_VOID(at_most(field, labels.size(), kLabelsMax, "entries"));
    for (const auto& [key, value] : labels) {
        BERTH_TRY_VOID(check_name(field, key));
        BERTH_TRY_VOID(check_name_or_none(field, value));
    }
    return {};
}

Status check_filter(const NodeFilter& filter) {
    std::size_t words = 0;
    for (const NodeTerms& terms : filter.any_of) {
        for (const NodeTerm& term : terms) {
            BERTH_TRY_VOID(check_name("node_filter", term.key));
            for (const std::string& value : term.values) {
                BERTH_TRY_VOID(check_name_or_none("node_filter", value));
            }
            words += 1 + term.values.size();
        }
        words += 1;
    }
    BERTH_TRY_VOID(at_most("node_filter", words, kFilterWordsMax, "terms and values"));
    if (const Status sound = check(filter); !sound) {
        return base::invalid("node_filter: " + sound.error().message);
    }
    return {};
}

// Taints or tolerations.
template <typename T>
Status check_all(std::string_view field, const std::vector<T>& all) {
    BERTH_TRY_VOID(at_most(field, all.size(), kLabelsMax, "entries"));
    for (const T& one : all) {
        BERTH_TRY_VOID(check_name_or_none(field, one.key));
        BERTH_TRY_VOID(
            check_name_or_none(field, std::optional<std::string>(one.value).value_or("")));
        if (const Status sound = check(one); !sound) {
            return base::invalid(std::string(field) + ": " + sound.error().message);
        }
    }
    return {};
}

Status check_tasks(const JobSpec& spec) {
    if (spec.tasks_min < 1 || spec.tasks_max < spec.tasks_min) {
        return base::invalid("tasks: wanted 1 <= min <= max, found min " +
                             std::to_string(spec.tasks_min) + ", max " +
                             std::to_string(spec.tasks_max));
    }
    BERTH_TRY_VOID(within("tasks", spec.tasks_max, 1, kTasksMax));
    // GPUs bound how many of the others a node can get.
    const bool are_small = spec.request.gpus == 0 || !spec.request.is_whole();
    if (are_small && spec.tasks_max > kSmallTasksMax) {
        return refuse("tasks", "at most " + std::to_string(kSmallTasksMax) + " without whole GPUs",
                      std::to_string(spec.tasks_max));
    }
    if (spec.elastic == Elastic::Grow && !spec.topology.groups.empty())
        return refuse("elastic", "live or restart for a gang of groups", "grow");
    if (const Status groups = check_task_groups(spec); !groups) {
        return base::invalid("groups: " + groups.error().message);
    }
    for (const TaskGroup& group : spec.topology.groups) {
        BERTH_TRY_VOID(check_name("groups", group.name));
        BERTH_TRY_VOID(check_name_or_none("groups", group.level));
    }
    if (const Status companions = check_companions(spec); !companions) {
        return base::invalid("companions: " + companions.error().message);
    }
    return {};
}

Status check_resources(std::string_view field, const Resources& resources) {
    BERTH_TRY_VOID(at_most(field, resources.size(), kResourcesMax, "resources"));
    for (const auto& [name, amount] : resources) {
        BERTH_TRY_VOID(check_name(field, name));
        BERTH_TRY_VOID(
            within(std::string(field) + "." + name, amount, std::int64_t{0}, kMemoryMax.value));
    }
    return {};
}

// A share that follows from memory is not known before the job has a place.
Status check_cap(const TaskRequest& request) {
    if (request.cap == MilliGpu{0}) return {};
    if (request.is_whole() || request.gpus == 0)
        return base::invalid("cap: wanted a job with a part of a GPU, such as gpus: 0.5");
    const MilliGpu least = request.gpu_memory > Bytes{0} && request.share == base::kWholeGpu
                               ? MilliGpu{1}
                               : request.share;
    if (request.cap >= least && request.cap <= base::kWholeGpu) return {};
    return base::invalid("cap: wanted " + base::format(least) + " to 1, found " +
                         base::format(request.cap));
}

Status check_request(const TaskRequest& request) {
    if (request.gpus < 0 || request.gpus > kGpusPerNodeMax) {
        return base::invalid("gpus: wanted 0 to " + std::to_string(kGpusPerNodeMax) +
                             " on one node, found " + std::to_string(request.gpus));
    }
    if (request.share <= MilliGpu{0} || request.share > base::kWholeGpu) {
        return base::invalid("share: wanted more than 0 and at most 1, found " +
                             base::format(request.share));
    }
    BERTH_TRY_VOID(within("gpu_memory", request.gpu_memory, Bytes{0}, kMemoryMax));
    BERTH_TRY_VOID(within("gpu_memory_max", request.gpu_memory_max, Bytes{0}, kMemoryMax));
    BERTH_TRY_VOID(check_cap(request));
    BERTH_TRY_VOID(up_to("cpu", request.cpu, kCpusMax));
    BERTH_TRY_VOID(up_to("memory", request.memory, kMemoryMax));
    if (request.resources.contains(kPodsResource)) {
        return base::invalid("resources: each task is one of \"pods\" without asking");
    }
    return check_resources("resources", request.resources);
}

// What it asks of a node.
Status check_companion(const Companion& kind) {
    BERTH_TRY_VOID(check_request(kind.request));
    BERTH_TRY_VOID(check_name_or_none("gpu_model", kind.gpu_model));
    BERTH_TRY_VOID(check_labels("node_labels", kind.node_labels));
    BERTH_TRY_VOID(check_filter(kind.node_filter));
    return check_all("tolerations", kind.tolerations);
}

Status check_all_companions(const std::vector<Companion>& companions) {
    for (const Companion& kind : companions) {
        BERTH_TRY_VOID(check_name("companions", kind.name));
        if (const Status sound = check_companion(kind); !sound) {
            return base::invalid("companions: \"" + kind.name + "\": " + sound.error().message);
        }
    }
    return {};
}

Status check_pools(std::string_view field, const std::vector<std::string>& pools) {
    BERTH_TRY_VOID(at_most(field, pools.size(), kPoolsOfJobMax, "pools"));
    for (const std::string& pool : pools) BERTH_TRY_VOID(check_name(field, pool));
    return {};
}

Status check_levels(const TopologyRequest& topology) {
    BERTH_TRY_VOID(check_name_or_none("topology", topology.required));
    return check_name_or_none("topology", topology.preferred);
}

Status check_part(std::string_view field, std::optional<std::int64_t> millionths) {
    if (!millionths || (*millionths >= 0 && *millionths <= kMillion)) return {};
    return base::invalid(std::string(field) + ": wanted a part from 0 to 1");
}

// A field of a job, by its type. The numbers of tasks have been checked.
template <typename T>
Status check_field(const JobField& field, const T& value) {
    const std::string_view name = field.in_files();
    if constexpr (std::is_same_v<T, std::string>) return check_name_or_none(name, value);
    if constexpr (std::is_same_v<T, std::vector<std::string>>) return check_pools(name, value);
    if constexpr (std::is_same_v<T, TaskRequest>) return check_request(value);
    if constexpr (std::is_same_v<T, Labels>) return check_labels(name, value);
    if constexpr (std::is_same_v<T, NodeFilter>) return check_filter(value);
    if constexpr (std::is_same_v<T, std::vector<Toleration>>) return check_all(name, value);
    if constexpr (std::is_same_v<T, TopologyRequest>) return check_levels(value);
    if constexpr (std::is_same_v<T, std::vector<Companion>>) return check_all_companions(value);
    if constexpr (std::is_same_v<T, std::optional<std::int64_t>>) return check_part(name, value);
    if constexpr (std::is_same_v<T, Duration>) return within(name, value, Duration{0}, kTimeMax);
    if constexpr (std::is_same_v<T, std::optional<Duration>>) {
        return field.besides.or_never ? time_or_never(name, value)
                                      : up_to(name, value, field.besides.most);
    }
    if constexpr (std::is_same_v<T, int>) {
        if (field.doors != kNoDoor) return within(name, value, -kPriorityMax, kPriorityMax);
    }
    return {};
}

template <typename T>
Status within_limit(std::string_view field, const std::optional<T>& quota, T limit) {
    if (!quota || *quota <= limit) return {};
    return refuse(field, "at most its limit, " + text_of(limit), text_of(*quota));
}

Status check_host_rights(const Entitlement& rights) {
    const MilliCpu cpu_limit = rights.cpu_limit.value_or(kCpuLimitMax);
    BERTH_TRY_VOID(within("cpu_limit", cpu_limit, MilliCpu{0}, kCpuLimitMax));
    BERTH_TRY_VOID(up_to("cpu_quota", rights.cpu_quota, kCpuLimitMax));
    BERTH_TRY_VOID(within_limit("cpu_quota", rights.cpu_quota, cpu_limit));
    const Bytes memory_limit = rights.memory_limit.value_or(kMemoryLimitMax);
    BERTH_TRY_VOID(within("memory_limit", memory_limit, Bytes{0}, kMemoryLimitMax));
    BERTH_TRY_VOID(up_to("memory_quota", rights.memory_quota, kMemoryLimitMax));
    return within_limit("memory_quota", rights.memory_quota, memory_limit);
}

Status check_rights(const Entitlement& rights) {
    const bool has_bound = rights.quota && *rights.quota < kUnlimited;
    if (has_bound) BERTH_TRY_VOID(within("quota", *rights.quota, MilliGpu{0}, kGpusMax));
    if (rights.limit != kUnlimited) {
        BERTH_TRY_VOID(within("limit", rights.limit, MilliGpu{0}, kGpusMax));
    }
    BERTH_TRY_VOID(check_host_rights(rights));
    if (rights.weight < 0 || rights.weight > kWeightMax) {
        return refuse("weight", "0 to " + base::format_thousandths(kWeightMax),
                      base::format_thousandths(rights.weight));
    }
    BERTH_TRY_VOID(within("priority", rights.priority, -kPriorityMax, kPriorityMax));
    if (rights.usage_ppm >= 0 && rights.usage_ppm <= kMillion) return {};
    return base::invalid("usage: wanted a part from 0 to 1");
}

// One that ends what the system is handed would be cut there.
Status check_word(std::string_view field, std::string_view word, std::size_t most) {
    if (word.size() > most) {
        return refuse(field, "at most " + std::to_string(most) + " bytes in one",
                      std::to_string(word.size()) + " bytes, " + in_quotes(word));
    }
    if (word.find('\0') == std::string_view::npos) return {};
    return refuse(field, "no zero byte", in_quotes(word));
}

Status check_words(std::string_view field, const std::vector<std::string>& words) {
    std::size_t bytes = 0;
    for (const std::string& word : words) {
        BERTH_TRY_VOID(check_word(field, word, kWordBytesMax));
        bytes += word.size() + 1;
    }
    return at_most(field, bytes, kCommandBytesMax, "bytes in all");
}

}  // namespace

std::string in_quotes(std::string_view text) {
    static constexpr std::size_t kShown = 40;
    std::string shown;
    for (std::size_t i = 0; i < text.size() && i < kShown;) {
        const std::size_t control = control_length(text.substr(i));
        shown += control > 0 ? '?' : text[i];
        i += std::max<std::size_t>(control, 1);
    }
    return "\"" + shown + (text.size() > kShown ? "...\"" : "\"");
}

bool is_name(std::string_view text) {
    if (text.empty() || text.size() > kNameBytesMax) return false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (control_length(text.substr(i)) > 0) return false;
    }
    return true;
}

std::size_t control_length(std::string_view text) {
    struct Range {
        std::string_view first;
        std::string_view last;
    };
    static constexpr Range kRanges[] = {
        {"\xC2\x80", "\xC2\x9F"},          // C1
        {"\xD8\x9C", "\xD8\x9C"},          // U+061C
        {"\xE2\x80\x8E", "\xE2\x80\x8F"},  // U+200E, U+200F
        {"\xE2\x80\xA8", "\xE2\x80\xAE"},  // U+2028 to U+202E
        {"\xE2\x81\xA6", "\xE2\x81\xA9"},  // U+2066 to U+2069
        {"\xEF\xBB\xBF", "\xEF\xBB\xBF"},  // U+FEFF
    };
    if (text.empty()) return 0;
    const auto byte = static_cast<unsigned char>(text[0]);
    if (byte < 0x80) return byte < 0x20 || byte == 0x7f ? 1 : 0;
    for (const auto& [first, last] : kRanges) {
        const std::string_view start = text.substr(0, first.size());
        if (start >= first && start <= last) return first.size();
    }
    return 0;
}

Status check_limits(const JobSpec& spec) {
    Status status = check_tasks(spec);
    Fields<JobSpec>::visit_fields([&](const JobField& field, auto member) {
        if (status) status = check_field(field, spec.*member);
    });
    return status;
}

Status check_limits(const LaunchSpec& launch) {
    BERTH_TRY_VOID(check_words("launch.command", launch.command));
    BERTH_TRY_VOID(check_words("launch.environment", launch.environment));
    BERTH_TRY_VOID(check_word("launch.workdir", launch.workdir, kPathBytesMax));
    BERTH_TRY_VOID(check_word("launch.checkpoint_dir", launch.checkpoint_dir, kPathBytesMax));
    if (std::ranges::find(kPauseSignals, launch.pause.signal) == kPauseSignals.end()) {
        return refuse("launch.pause.signal", "auto, TERM, INT, USR1, USR2 or none",
                      in_quotes(launch.pause.signal));
    }
    return up_to("launch.pause.grace", launch.pause.grace, kPauseGraceMax);
}

Status check_limits(const Node& node) {
    BERTH_TRY_VOID(check_name("name", node.name));
    const std::string where = "node \"" + node.name + "\": ";
    const auto rest = [&]() -> Status {
        if (node.gpus < 0 || node.gpus > kGpusPerNodeMax) {
            return base::invalid("wanted 0 to " + std::to_string(kGpusPerNodeMax) +
                                 " GPUs, found " + std::to_string(node.gpus));
        }
        BERTH_TRY_VOID(check_name_or_none("gpu_model", node.gpu_model));
        BERTH_TRY_VOID(within("gpu_memory", node.gpu_memory, Bytes{0}, kMemoryMax));
        BERTH_TRY_VOID(up_to("cpu", node.cpu, kCpusMax));
        BERTH_TRY_VOID(up_to("memory", node.memory, kMemoryMax));
        BERTH_TRY_VOID(check_labels("labels", node.labels));
        BERTH_TRY_VOID(check_labels("topology", node.topology));
        BERTH_TRY_VOID(check_all("taints", node.taints));
        BERTH_TRY_VOID(check_resources("resources", node.resources));
        BERTH_TRY_VOID(check_limits(node.others));
        for (const std::string& row : node.gpu_links.matrix) {
            BERTH_TRY_VOID(check_word("matrix", row, kMatrixRowBytesMax));
        }
        return {};
    };
    if (const Status status = rest(); !status) return base::invalid(where + status.error().message);
    return {};
}

Status check_limits(const OthersUse& use) {
    BERTH_TRY_VOID(within("others.cpu", use.cpu, MilliCpu{0}, kCpusMax));
    BERTH_TRY_VOID(within("others.memory", use.memory, Bytes{0}, kMemoryMax));
    BERTH_TRY_VOID(within("others.gpus", use.gpus, 0, kGpusPerNodeMax));
    BERTH_TRY_VOID(check_resources("others.resources", use.resources));
    if (std::ssize(use.gpu_indices) > use.gpus) {
        return base::invalid("others.gpu_indices: wanted at most " + std::to_string(use.gpus) +
                             ", as many as others.gpus says, found " +
                             std::to_string(use.gpu_indices.size()));
    }
    return {};
}

Status check_limits(const Pool& pool) {
    BERTH_TRY_VOID(check_name("name", pool.name));
    BERTH_TRY_VOID(check_name_or_none("spares", pool.spares));
    const std::string where = "pool \"" + pool.name + "\": ";
    BERTH_TRY_VOID(check_labels(where + "labels", pool.labels));
    BERTH_TRY_VOID(at_most(where + "exchange", pool.exchange.size(), kLabelsMax, "models"));
    for (const auto& [model, weight] : pool.exchange) {
        BERTH_TRY_VOID(check_name(where + "exchange", model));
        if (weight > 0 && weight <= kExchangeMax) continue;
        return base::invalid(where + "exchange of \"" + model +
                             "\": wanted more than 0 and at most 1000, found " +
                             base::format_thousandths(weight));
    }
    return {};
}

Status check_limits(const Project& project) {
    BERTH_TRY_VOID(check_name("name", project.name));
    BERTH_TRY_VOID(check_name_or_none("parent", project.parent));
    const std::string where = "project \"" + project.name + "\": ";
    const auto rest = [&]() -> Status {
        BERTH_TRY_VOID(check_rights(project.rights));
        BERTH_TRY_VOID(at_most("pools", project.pools.size(), kPoolsMax, "pools"));
        for (const auto& [pool, rights] : project.pools) {
            BERTH_TRY_VOID(check_name("pools", pool));
            BERTH_TRY_VOID(check_rights(rights));
        }
        const std::pair<const char*, std::optional<Duration>> times[] = {
            {"preemption_delay", project.preemption_delay},
            {"preempt_min_run", project.preempt_min_run},
            {"reclaim_min_run", project.reclaim_min_run},
            {"idle_after", project.idle_after}};
        for (const auto& [name, time] : times) BERTH_TRY_VOID(up_to(name, time, kTimeMax));
        return up_to("job_tail", project.job_tail, kOrderTailMax);
    };
    if (const Status status = rest(); !status) return base::invalid(where + status.error().message);
    return {};
}

Status check_limits(const Levels& levels) {
    BERTH_TRY_VOID(at_most("levels", levels.size(), kLevelsMax, "levels"));
    std::set<std::string> seen{kNodeLevel};
    for (const std::string& level : levels) {
        BERTH_TRY_VOID(check_name("levels", level));
        if (seen.insert(level).second) continue;
        return base::invalid("levels: \"" + level +
                             "\" is there twice; the node itself is always the last");
    }
    return {};
}

Status check_limits(const GpuProfile& profile) {
    BERTH_TRY_VOID(up_to("compute", profile.compute, base::gpus(kGpusPerNodeMax)));
    BERTH_TRY_VOID(within("persistent", profile.persistent, Bytes{0}, kMemoryMax));
    BERTH_TRY_VOID(within("peak", profile.peak, Bytes{0}, kMemoryMax));
    return within("highest", profile.highest, Bytes{0}, kMemoryMax);
}

Status check_limits(const JobDescription& job, TimePoint now) {
    const auto near = [&](std::string_view field, const std::optional<TimePoint>& time) {
        return time ? within(field, *time - now, -kPastMax, kPastMax) : Status{};
    };
    BERTH_TRY_VOID(near("created", job.created));
    BERTH_TRY_VOID(near("waiting_since", job.waiting_since));
    BERTH_TRY_VOID(near("last_start", job.last_start));
    BERTH_TRY_VOID(near("last_checkpoint", job.last_checkpoint));
    BERTH_TRY_VOID(near("last_pause", job.last_pause));
    BERTH_TRY_VOID(near("stale_since", job.stale_since));
    BERTH_TRY_VOID(near("parked_since", job.parked_since));
    BERTH_TRY_VOID(near("promised_until", job.promised_until));
    BERTH_TRY_VOID(up_to("attained", job.attained, Duration{base::kGpuMsMax}));
    return within("frozen_gpu_memory", job.frozen_gpu_memory, Bytes{0}, kMemoryMax);
}

}  // namespace berth::model
