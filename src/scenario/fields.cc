// SPDX-License-Identifier: Apache-2.0
#include "scenario/fields.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <functional>
#include <set>

#include "model/fields/job_fields.h"
#include "model/job/task_groups.h"
#include "model/policy/policy_settings.h"

namespace berth::scenario {
namespace {

using base::Result;
using base::Status;

// Hands each pair to the reader of its key; an unknown key is an error that names the known ones.
using Readers = std::map<std::string, std::function<Status(const std::string&)>>;

Status read_values(const Command& command, const Readers& readers, model::Labels* labels,
                   model::Labels* topology = nullptr) {
    for (const auto& [key, value] : command.values) {
        if (labels != nullptr && key.starts_with("label.")) {
            (*labels)[key.substr(6)] = value;
            continue;
        }
        if (topology != nullptr && key.starts_with("topology.")) {
            (*topology)[key.substr(9)] = value;
            continue;
        }
        const auto reader = readers.find(key);
        if (reader == readers.end()) {
            std::string known;
            for (const auto& [name, unused] : readers) known += " " + name;
            return base::invalid(command.verb + ": unknown key \"" + key + "\"; known are" + known);
        }
        if (const Status status = reader->second(value); !status) {
            return base::invalid(command.verb + ": " + key + ": " + status.error().message);
        }
    }
    return {};
}

constexpr std::string_view kCompanion = "companion.";
constexpr const char* kInherit = "inherit";  // what is above the project holds for it again

template <typename T, typename Parsed>
auto into(T& target, Result<Parsed> (*parse)(std::string_view)) {
    return [&target, parse](const std::string& text) -> Status {
        BERTH_TRY(value, parse(text));
        target = T{value};
        return {};
    };
}

Result<int> parse_int(std::string_view text) {
    int value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size()) {
        return base::invalid("wanted a whole number, found \"" + std::string(text) + "\"");
    }
    return value;
}

Result<model::MilliGpu> parse_gpus(std::string_view text) {
    if (text == "unlimited" || text == "-1") return model::kUnlimited;
    BERTH_TRY(value, base::parse_thousandths(text));
    return model::MilliGpu{value};
}

Result<std::string> parse_text(std::string_view text) { return std::string(text); }

Result<bool> parse_yes_no(std::string_view text) {
    if (text == "yes" || text == "no") return text == "yes";
    return base::invalid("wanted yes or no, found \"" + std::string(text) + "\"");
}

template <typename E>
Result<E> parse_word(std::string_view text) {
    const auto& names = model::kNames<E>;
    const auto found = std::ranges::find(names, text);
    if (found != names.end()) return static_cast<E>(found - names.begin());
    return base::invalid("\"" + std::string(text) + "\" is not one of its words");
}

// 0.25
Result<std::int64_t> parse_millionths(std::string_view text) {
    BERTH_TRY(part, base::parse_thousandths(text));
    return part * 1000;
}

template <typename T>
auto one_of(T& target, std::map<std::string, T> words) {
    return [&target, words = std::move(words)](const std::string& text) -> Status {
        const auto found = words.find(text);
        if (found == words.end()) return base::invalid("\"" + text + "\" is not one of its words");
        target = found->second;
        return {};
    };
}

Result<model::Duration> parse_or_never(std::string_view text) {
    if (text == "never") return model::Duration{-1};
    return base::parse_duration(text);
}

Result<model::MilliCpu> parse_cpu(std::string_view text) {
    BERTH_TRY(value, base::parse_thousandths(text));
    return model::MilliCpu{value};
}

Result<std::string> only_name(const Command& command) {
    if (command.names.size() == 1) return command.names[0];
    return base::invalid(command.verb + ": wanted one name, found " +
                         std::to_string(command.names.size()));
}

std::vector<std::string> split(const std::string& text, char separator) {
    std::vector<std::string> parts{""};
    for (const char letter : text) {
        if (letter == separator) {
            parts.emplace_back();
        } else {
            parts.back() += letter;
        }
    }
    return parts;
}

// One number a GPU: 0,0,1,1.
auto into_numbers(std::vector<int>& target) {
    return [&target](const std::string& text) -> Status {
        target.clear();
        for (const std::string& part : split(text, ',')) {
            BERTH_TRY(number, parse_int(part));
            target.push_back(number);
        }
        return {};
    };
}

// Texts with a comma between.
template <typename T>
auto into_list(std::vector<T>& target, Result<T> (*parse)(std::string_view)) {
    return [&target, parse](const std::string& text) -> Status {
        target.clear();
        for (const std::string& part : split(text, ',')) {
            BERTH_TRY(value, parse(part));
            target.push_back(value);
        }
        return {};
    };
}

// rdma/hca:2,ephemeral-storage:10G
auto into_resources(model::Resources& target) {
    return [&target](const std::string& text) -> Status {
        target.clear();
        for (const std::string& part : split(text, ',')) {
            const auto colon = part.rfind(':');
            if (colon == std::string::npos) {
                return base::invalid("wanted amounts such as rdma/hca:2, found \"" + part + "\"");
            }
            BERTH_TRY(amount, base::parse_bytes(part.substr(colon + 1)));
            target[part.substr(0, colon)] = amount.value;
        }
        return {};
    };
}

// gpus=2, gpus=0.5 (a share), gpus=2x0.5 (two shares).
Status read_gpus(const std::string& text, model::TaskRequest& request) {
    const auto times = text.find('x');
    const std::string amount = times == std::string::npos ? text : text.substr(times + 1);
    int count = 1;
    if (times != std::string::npos) {
        BERTH_TRY(parsed, parse_int(text.substr(0, times)));
        count = parsed;
    }
    BERTH_TRY(milli, base::parse_thousandths(amount));
    if (milli < 1000 && milli > 0) {
        request.gpus = count;
        request.share = {milli};
    } else if (milli % 1000 == 0) {
        // So large that it is refused with what was found.
        const std::int64_t each = std::min<std::int64_t>(milli / 1000, INT32_MAX);
        request.gpus =
            static_cast<int>(std::clamp<std::int64_t>(each * count, INT32_MIN, INT32_MAX));
    } else {
        return base::invalid("wanted whole GPUs or a share below 1, found \"" + text + "\"");
    }
    return {};
}

}  // namespace

namespace {

// others.gpus=2, or gpus=2 alone, as `prefix` says.
void add_readers_of_others(Readers& readers, const std::string& prefix, model::OthersUse& use) {
    readers[prefix + "cpu"] = into(use.cpu, parse_cpu);
    readers[prefix + "memory"] = into(use.memory, base::parse_bytes);
    readers[prefix + "gpus"] = into(use.gpus, parse_int);
    readers[prefix + "on"] = into_numbers(use.gpu_indices);
    readers[prefix + "resources"] = into_resources(use.resources);
}

}  // namespace

Result<model::NodeUsedByOthers> read_others(const Command& command) {
    model::NodeUsedByOthers used;
    BERTH_TRY(name, only_name(command));
    used.node = name;
    Readers readers;
    add_readers_of_others(readers, "", used.use);
    BERTH_TRY_VOID(read_values(command, readers, nullptr));
    return used;
}

Result<model::JobSizeSet> read_size(const Command& command, int tasks_before) {
    model::JobSizeSet set{.job = {}, .tasks = tasks_before};
    const Readers readers{{"tasks", into(set.tasks, parse_int)},
                          {"ended", into_numbers(set.ended)}};
    BERTH_TRY_VOID(read_values(command, readers, nullptr));
    return set;
}

Result<model::Node> read_node(const Command& command) {
    model::Node node;
    BERTH_TRY(name, only_name(command));
    node.name = name;
    using model::NodeHealth;
    Readers readers{{"gpus", into(node.gpus, parse_int)},
                    {"model", into(node.gpu_model, parse_text)},
                    {"gpu_memory", into(node.gpu_memory, base::parse_bytes)},
                    {"gpu_reserved", into(node.gpu_reserved, base::parse_bytes)},
                    {"gpu_context", into(node.gpu_context, base::parse_bytes)},
                    {"shares_lack", into(node.shares_lack, parse_text)},
                    {"taints", into_list(node.taints, model::parse_taint)},
                    {"cpu", into(node.cpu, parse_cpu)},
                    {"memory", into(node.memory, base::parse_bytes)},
                    {"resources", into_resources(node.resources)},
                    {"numa", into_numbers(node.gpu_links.numa)},
                    {"islands", into_numbers(node.gpu_links.islands)},
                    {"nics", into_numbers(node.gpu_links.nics)},
                    {"matrix",
                     [&node](const std::string& text) -> Status {
                         node.gpu_links.matrix = split(text, ';');
                         for (std::string& row : node.gpu_links.matrix)
                             std::ranges::replace(row, ',', ' ');
                         return {};
                     }},
                    {"health", one_of<NodeHealth>(node.health, {{"ready", NodeHealth::Ready},
                                                                {"drained", NodeHealth::Drained},
                                                                {"down", NodeHealth::Down}})}};
    add_readers_of_others(readers, "others.", node.others);
    BERTH_TRY_VOID(read_values(command, readers, &node.labels, &node.topology));
    return node;
}

Result<model::Pool> read_pool(const Command& command) {
    BERTH_TRY(name, only_name(command));
    model::Pool pool;
    pool.name = name;
    Readers readers{{"spares", into(pool.spares, parse_text)}};
    for (const auto& [key, value] : command.values) {
        if (!key.starts_with("exchange.")) continue;
        readers[key] = into(pool.exchange[key.substr(9)], base::parse_thousandths);
    }
    BERTH_TRY_VOID(read_values(command, readers, &pool.labels));
    return pool;
}

Result<model::Project> read_project(const Command& command, model::Project project) {
    BERTH_TRY(name, only_name(command));
    project.name = name;
    const auto pool = command.values.find("pool");
    model::Entitlement& rights =
        pool == command.values.end() ? project.rights : project.pools[pool->second];
    using model::QuotaKind;
    const Readers readers{
        {"pool", [](const std::string&) -> Status { return {}; }},
        {"parent", into(project.parent, parse_text)},
        {"order", into(project.order, parse_int)},
        {"preemption_delay", into(project.preemption_delay, base::parse_duration)},
        {"preempt_min_run", into(project.preempt_min_run, base::parse_duration)},
        {"reclaim_min_run", into(project.reclaim_min_run, base::parse_duration)},
        {"job_order", one_of<std::optional<model::JobOrder>>(project.job_order,
                                                             {{"learned", model::JobOrder::Learned},
                                                              {"levels", model::JobOrder::ByLevels},
                                                              {"age", model::JobOrder::Age},
                                                              {kInherit, std::nullopt}})},
        {"idle_after", into(project.idle_after, base::parse_duration)},
        {"idle_act",
         one_of<std::optional<model::IdleAct>>(project.idle_act, {{"warn", model::IdleAct::Warn},
                                                                  {"park", model::IdleAct::Park},
                                                                  {"end", model::IdleAct::End},
                                                                  {kInherit, std::nullopt}})},
        {"job_tail",
         [&project](const std::string& text) -> Status {
             if (text == kInherit) {
                 project.job_tail.reset();
                 return Status{};
             }
             return into(project.job_tail, parse_int)(text);
         }},
        {"quota", into(rights.quota, parse_gpus)},
        {"limit", into(rights.limit, parse_gpus)},
        {"cpu_quota", into(rights.cpu_quota, parse_cpu)},
        {"memory_quota", into(rights.memory_quota, base::parse_bytes)},
        {"cpu_limit", into(rights.cpu_limit, parse_cpu)},
        {"memory_limit", into(rights.memory_limit, base::parse_bytes)},
        {"weight", into(rights.weight, base::parse_thousandths)},
        {"priority", into(rights.priority, parse_int)},
        {"usage", into(rights.usage_ppm, parse_millionths)},
        {"kind", one_of<QuotaKind>(rights.kind, {{"guaranteed", QuotaKind::Guaranteed},
                                                 {"fixed", QuotaKind::Fixed}})}};
    BERTH_TRY_VOID(read_values(command, readers, nullptr));
    return project;
}

namespace {

// Of a field of a job, by its type.
template <typename T>
std::function<Status(const std::string&)> reader_of(const model::JobField& field, T& target) {
    if constexpr (std::is_same_v<T, std::string>) {
        return into(target, parse_text);
    } else if constexpr (std::is_same_v<T, bool>) {
        return into(target, parse_yes_no);
    } else if constexpr (std::is_same_v<T, int>) {
        return into(target, parse_int);
    } else if constexpr (std::is_enum_v<T>) {
        return into(target, parse_word<T>);
    } else if constexpr (std::is_same_v<T, model::NodeFilter>) {
        return into(target, model::parse_node_filter);
    } else if constexpr (std::is_same_v<T, std::vector<model::Toleration>>) {
        return into_list(target, model::parse_toleration);
    } else if constexpr (std::is_same_v<T, std::vector<std::string>>) {
        return into_list(target, parse_text);
    } else if constexpr (std::is_same_v<T, std::optional<std::int64_t>>) {
        return into(target, parse_millionths);
    } else if constexpr (std::is_constructible_v<T, model::Duration>) {
        return into(target, field.besides.or_never ? parse_or_never : base::parse_duration);
    }
    return {};
}

void add_readers_of_fields(Readers& readers, model::JobSpec& spec) {
    model::Fields<model::JobSpec>::visit_fields([&](const model::JobField& field, auto member) {
        if (!field.is_at(model::kScenario)) return;
        readers[std::string(field.in_scenarios())] = reader_of(field, spec.*member);
    });
}

// What its tasks ask, and how many there are.
void add_readers_of_request(Readers& readers, model::JobSpec& spec) {
    model::TaskRequest& request = spec.request;
    readers["gpus"] = [&request](const std::string& text) { return read_gpus(text, request); };
    readers["gpu_memory"] = into(request.gpu_memory, base::parse_bytes);
    readers["gpu_memory_max"] = into(request.gpu_memory_max, base::parse_bytes);
    readers["cpu"] = into(request.cpu, parse_cpu);
    readers["memory"] = into(request.memory, base::parse_bytes);
    readers["resources"] = into_resources(request.resources);
    readers["required"] = into(spec.topology.required, parse_text);
    readers["preferred"] = into(spec.topology.preferred, parse_text);
    readers["groups"] = [&spec](const std::string& text) -> Status {
        BERTH_TRY(said, model::parse_task_groups(text));
        spec.topology.groups = said.groups;
        spec.topology.groups_min = said.groups_min;
        return {};
    };
    readers["min"] = into(spec.tasks_min, parse_int);
    readers["max"] = into(spec.tasks_max, parse_int);
    readers["tasks"] = [&spec](const std::string& text) -> Status {
        BERTH_TRY(count, parse_int(text));
        spec.tasks_min = spec.tasks_max = count;
        return {};
    };
}

// Of fields that the command does not name.
void set_defaults(const Command& command, model::JobSpec& spec) {
    model::Fields<model::JobSpec>::visit_fields([&](const model::JobField& field, auto) {
        const auto set = field.besides.set_default;
        const std::string key(field.in_scenarios());
        if (set != nullptr && !command.values.contains(key)) set(spec);
    });
}

// companion.driver.cpu=4: the kinds in the order of their names.
void add_readers_of_companions(Readers& readers, const Command& command, JobLine& job) {
    std::set<std::string> names;
    for (const auto& [key, value] : command.values) {
        if (key.starts_with(kCompanion)) names.insert(split(key, '.')[1]);
    }
    job.spec.companions.resize(names.size());
    job.companions_on.resize(names.size());
    std::size_t at = 0;
    for (const std::string& name : names) {
        model::Companion& kind = job.spec.companions[at];
        std::vector<std::string>& on = job.companions_on[at++];
        kind.name = name;
        const std::string prefix = std::string(kCompanion) + name + ".";
        readers[prefix + "count"] = into(kind.count, parse_int);
        readers[prefix + "gpus"] = [&kind](const std::string& text) {
            return read_gpus(text, kind.request);
        };
        readers[prefix + "model"] = into(kind.gpu_model, parse_text);
        readers[prefix + "cpu"] = into(kind.request.cpu, parse_cpu);
        readers[prefix + "memory"] = into(kind.request.memory, base::parse_bytes);
        readers[prefix + "resources"] = into_resources(kind.request.resources);
        readers[prefix + "filter"] = into(kind.node_filter, model::parse_node_filter);
        readers[prefix + "tolerations"] = into_list(kind.tolerations, model::parse_toleration);
        readers[prefix + "on"] = [&on](const std::string& text) -> Status {
            on = split(text, ';');
            return {};
        };
        const std::string label = prefix + "label.";
        for (const auto& [key, value] : command.values) {
            if (key.starts_with(label))
                readers[key] = into(kind.node_labels[key.substr(label.size())], parse_text);
        }
    }
}

}  // namespace

Result<model::ProfileLedger> read_profile(const Command& command) {
    BERTH_TRY(name, only_name(command));
    const auto slash = name.find('/');
    if (slash == std::string::npos) {
        return base::invalid(command.verb + ": wanted project/job, found \"" + name + "\"");
    }
    model::GpuProfile profile{.iterations = 1000, .iteration_us = 100'000};
    int iterations = 1000;
    const Readers readers{{"iterations", into(iterations, parse_int)},
                          {"compute", into(profile.compute, base::parse_thousandths)},
                          {"persistent", into(profile.persistent, base::parse_bytes)},
                          {"peak", into(profile.peak, base::parse_bytes)},
                          {"highest", into(profile.highest, base::parse_bytes)}};
    BERTH_TRY_VOID(read_values(command, readers, nullptr));
    profile.iterations = iterations;
    profile.peak = std::max(profile.peak, profile.persistent);
    profile.highest = std::max(profile.highest, profile.peak);
    return model::ProfileLedger{name.substr(0, slash), name.substr(slash + 1), "", 1, {}, profile};
}

Result<JobLine> read_job(const Command& command) {
    JobLine job;
    BERTH_TRY(name, only_name(command));
    const auto slash = name.find('/');
    if (slash == std::string::npos) {
        return base::invalid(command.verb + ": wanted project/job, found \"" + name + "\"");
    }
    job.spec.project = name.substr(0, slash);
    job.spec.name = name.substr(slash + 1);
    std::string on;
    std::optional<int> running;
    Readers readers;
    add_readers_of_fields(readers, job.spec);
    add_readers_of_request(readers, job.spec);
    add_readers_of_companions(readers, command, job);
    readers["running"] = into(running, parse_int);
    readers["on"] = into(on, parse_text);
    readers["age"] = into(job.age, base::parse_duration);
    readers["waiting"] = into(job.waiting, base::parse_duration);
    readers["started"] = into(job.started, base::parse_duration);
    readers["saved"] = into(job.saved, base::parse_duration);
    readers["saves"] = into(job.saves, parse_yes_no);
    readers["parked"] = into(job.parked, base::parse_duration);
    readers["paused"] = into(job.paused, base::parse_duration);
    readers["attained"] = into(job.attained, base::parse_duration);
    readers["stale"] = into(job.stale, base::parse_duration);
    readers["held"] = into(job.is_held, parse_yes_no);
    readers["releasing"] = into(job.is_releasing, parse_yes_no);
    BERTH_TRY_VOID(read_values(command, readers, &job.spec.node_labels));
    const bool says_tasks = std::ranges::any_of(
        std::array{"tasks", "min", "max"}, [&](auto key) { return command.values.contains(key); });
    set_defaults(command, job.spec);
    if (!says_tasks) model::count_tasks(job.spec);
    job.spec.tasks_max = std::max(job.spec.tasks_max, job.spec.tasks_min);
    job.running = running.value_or(job.spec.tasks_min);
    if (!on.empty()) job.on = split(on, ';');
    return job;
}

Result<model::Policy> read_policy(const Command& command, model::Policy policy) {
    std::string profile;
    if (const auto named = command.values.find("profile"); named != command.values.end()) {
        BERTH_TRY(found, model::policy_named(named->second));
        policy = found;
    }
    Readers readers{{"profile", into(profile, parse_text)}};
    for (const model::PolicySetting& setting : model::policy_settings()) {
        const auto read = [&](const std::string& text) { return setting.read(policy, text); };
        readers[std::string(setting.name)] = read;
        if (!setting.formerly.empty()) readers[std::string(setting.formerly)] = read;
    }
    for (const auto& [name, text] : command.values) {
        if (const auto gone = model::gone_setting(name)) {
            return base::invalid(command.verb + ": " + *gone);
        }
    }
    BERTH_TRY_VOID(read_values(command, readers, nullptr));
    return policy;
}

}  // namespace berth::scenario
