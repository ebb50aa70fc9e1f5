// SPDX-License-Identifier: Apache-2.0
#include "scenario/fields.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <functional>
#include <set>

#include "model/policy_settings.h"
#include "model/task_groups.h"

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

auto into_text(std::string& target) {
    return [&target](const std::string& text) -> Status {
        target = text;
        return {};
    };
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

template <typename T>
auto into_optional(std::optional<T>& target, Result<T> (*parse)(std::string_view)) {
    return [&target, parse](const std::string& text) -> Status {
        BERTH_TRY(value, parse(text));
        target = value;
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
                    {"model", into_text(node.gpu_model)},
                    {"gpu_memory", into(node.gpu_memory, base::parse_bytes)},
                    {"gpu_reserved", into(node.gpu_reserved, base::parse_bytes)},
                    {"gpu_context", into(node.gpu_context, base::parse_bytes)},
                    {"shares_lack", into_text(node.shares_lack)},
                    {"taints", into_list(node.taints, model::parse_taint)},
                    {"cpu", into_optional(node.cpu, parse_cpu)},
                    {"memory", into_optional(node.memory, base::parse_bytes)},
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
    Readers readers{{"spares", into_text(pool.spares)}};
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
        {"parent", into_text(project.parent)},
        {"order", into(project.order, parse_int)},
        {"preemption_delay", into_optional(project.preemption_delay, base::parse_duration)},
        {"preempt_min_run", into_optional(project.preempt_min_run, base::parse_duration)},
        {"reclaim_min_run", into_optional(project.reclaim_min_run, base::parse_duration)},
        {"job_order", one_of<std::optional<model::JobOrder>>(project.job_order,
                                                             {{"learned", model::JobOrder::Learned},
                                                              {"levels", model::JobOrder::ByLevels},
                                                              {"age", model::JobOrder::Age},
                                                              {kInherit, std::nullopt}})},
        {"job_tail",
         [&project](const std::string& text) -> Status {
             if (text == kInherit) {
                 project.job_tail.reset();
                 return Status{};
             }
             return into_optional(project.job_tail, parse_int)(text);
         }},
        {"quota", into_optional(rights.quota, parse_gpus)},
        {"limit", into(rights.limit, parse_gpus)},
        {"cpu_limit", into_optional(rights.cpu_limit, parse_cpu)},
        {"memory_limit", into_optional(rights.memory_limit, base::parse_bytes)},
        {"weight", into(rights.weight, base::parse_thousandths)},
        {"priority", into(rights.priority, parse_int)},
        {"usage",
         [&rights](const std::string& text) -> Status {
             BERTH_TRY(value, base::parse_thousandths(text));
             rights.usage_ppm = value * 1000;
             return {};
         }},
        {"kind", one_of<QuotaKind>(rights.kind, {{"guaranteed", QuotaKind::Guaranteed},
                                                 {"fixed", QuotaKind::Fixed}})}};
    BERTH_TRY_VOID(read_values(command, readers, nullptr));
    return project;
}

namespace {

Readers request_readers(model::JobSpec& spec) {
    model::TaskRequest& request = spec.request;
    return {{"gpus", [&request](const std::string& text) { return read_gpus(text, request); }},
            {"gpu_memory", into(request.gpu_memory, base::parse_bytes)},
            {"gpu_memory_max", into(request.gpu_memory_max, base::parse_bytes)},
            {"may_share", one_of<bool>(spec.may_share, {{"yes", true}, {"no", false}})},
            {"cpu", into_optional(request.cpu, parse_cpu)},
            {"memory", into_optional(request.memory, base::parse_bytes)},
            {"resources", into_resources(request.resources)},
            {"model", into_text(spec.gpu_model)},
            {"filter", into(spec.node_filter, model::parse_node_filter)},
            {"tolerations", into_list(spec.tolerations, model::parse_toleration)},
            {"required", into_text(spec.topology.required)},
            {"preferred", into_text(spec.topology.preferred)},
            {"groups", into(spec.topology.groups, model::parse_task_groups)},
            {"placement", one_of<model::Placement>(spec.placement,
                                                   {{"auto", model::Placement::Auto},
                                                    {"consolidate", model::Placement::Consolidate},
                                                    {"any", model::Placement::Any}})},
            {"skew",
             [&spec](const std::string& text) -> Status {
                 BERTH_TRY(part, base::parse_thousandths(text));
                 spec.tensor_skew_ppm = part * 1000;
                 return {};
             }},
            {"min", into(spec.tasks_min, parse_int)},
            {"max", into(spec.tasks_max, parse_int)},
            {"tasks",
             [&spec](const std::string& text) -> Status {
                 BERTH_TRY(count, parse_int(text));
                 spec.tasks_min = spec.tasks_max = count;
                 return {};
             }},
            {"elastic", one_of<model::Elastic>(spec.elastic, {{"live", model::Elastic::Live},
                                                              {"restart", model::Elastic::Restart},
                                                              {"grow", model::Elastic::Grow}})},
            {"expected", into_optional(spec.expected_runtime, base::parse_duration)},
            {"restart_cost", into(spec.restart_cost, base::parse_duration)},
            {"grace", into_optional(spec.pause_grace, base::parse_duration)},
            {"min_run", into_optional(spec.min_run, base::parse_duration)},
            {"preemption_delay", into_optional(spec.preemption_delay, base::parse_duration)},
            {"stale_grace", into_optional(spec.stale_grace, parse_or_never)},
            {"pool", [&spec](const std::string& text) -> Status {
                 spec.pools = split(text, ',');
                 return {};
             }}};
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
        readers[prefix + "cpu"] = into_optional(kind.request.cpu, parse_cpu);
        readers[prefix + "memory"] = into_optional(kind.request.memory, base::parse_bytes);
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
                readers[key] = into_text(kind.node_labels[key.substr(label.size())]);
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
                          {"compute",
                           [&profile](const std::string& text) -> Status {
                               BERTH_TRY(part, base::parse_thousandths(text));
                               profile.compute = model::MilliGpu{part};
                               return {};
                           }},
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
    std::optional<int> priority;
    std::optional<bool> preemptible;
    std::optional<int> running;
    Readers readers = request_readers(job.spec);
    add_readers_of_companions(readers, command, job);
    using model::JobKind;
    readers["kind"] = one_of<JobKind>(
        job.spec.kind,
        {{"train", JobKind::Train}, {"build", JobKind::Build}, {"inference", JobKind::Inference}});
    readers["priority"] = into_optional(priority, parse_int);
    readers["running"] = into_optional(running, parse_int);
    readers["on"] = into_text(on);
    readers["age"] = into_optional(job.age, base::parse_duration);
    readers["waiting"] = into_optional(job.waiting, base::parse_duration);
    readers["started"] = into_optional(job.started, base::parse_duration);
    readers["saved"] = into_optional(job.saved, base::parse_duration);
    readers["parked"] = into_optional(job.parked, base::parse_duration);
    readers["paused"] = into_optional(job.paused, base::parse_duration);
    readers["attained"] = into_optional(job.attained, base::parse_duration);
    readers["stale"] = into_optional(job.stale, base::parse_duration);
    const std::map<std::string, bool> yes_no{{"yes", true}, {"no", false}};
    readers["held"] = one_of<bool>(job.is_held, yes_no);
    readers["releasing"] = one_of<bool>(job.is_releasing, yes_no);
    readers["preemptible"] = [&](const std::string& text) -> Status {
        preemptible = text == "yes";
        return {};
    };
    BERTH_TRY_VOID(read_values(command, readers, &job.spec.node_labels));
    const bool says_tasks = std::ranges::any_of(
        std::array{"tasks", "min", "max"}, [&](auto key) { return command.values.contains(key); });
    job.spec.priority = priority.value_or(model::default_priority(job.spec.kind));
    job.spec.preemptible = preemptible.value_or(job.spec.priority < model::kNotPreemptibleFrom);
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
    Readers readers{{"profile", into_text(profile)}};
    for (const model::PolicySetting& setting : model::policy_settings()) {
        const auto read = [&](const std::string& text) { return setting.read(policy, text); };
        readers[std::string(setting.name)] = read;
        if (!setting.formerly.empty()) readers[std::string(setting.formerly)] = read;
    }
    BERTH_TRY_VOID(read_values(command, readers, nullptr));
    return policy;
}

}  // namespace berth::scenario
