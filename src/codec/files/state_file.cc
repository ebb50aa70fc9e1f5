// SPDX-License-Identifier: Apache-2.0
#include "codec/files/state_file.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "codec/files/job_fields.h"
#include "codec/files/node_wishes.h"
#include "codec/files/state_checks.h"
#include "codec/files/topology.h"
#include "codec/log/event_log.h"
#include "codec/text/field_reader.h"
#include "codec/text/json.h"
#include "model/job/companions.h"
#include "model/limits.h"
#include "model/node/mig.h"

namespace berth::codec {
namespace {

using base::Bytes;
using base::MilliCpu;
using base::MilliGpu;
using model::Description;
using model::Entitlement;
using model::JobDescription;
using model::JobSpec;
using model::Node;
using model::Project;
using model::TaskDescription;
using model::TaskRequest;
using model::TaskState;

constexpr auto kNodesMax = static_cast<std::int64_t>(model::kNodesMax);
constexpr std::string_view kWantedGpus = "a number of GPUs such as 4 or 0.5";

void read_rules_of_jobs(FieldReader& fields, Project& project) {
    project.job_order = fields.maybe_choice<model::JobOrder>("job_order");
    project.job_tail = fields.maybe_whole("job_tail", {0, model::kOrderTailMax});
    project.idle_after = fields.duration("idle_after");
    project.idle_act = fields.maybe_choice<model::IdleAct>("idle_act");
    project.strict_shares = fields.flag("strict_shares", false);
}

class StateReader {
  public:
    explicit StateReader(std::string_view file_name) : problems_(file_name) {}

    base::Result<Description> read(const Value& file);

  private:
    void read_levels(FieldReader& fields);
    void read_policy(FieldReader& fields);
    void read_place(const Value& value, const std::string& path);
    void read_pool(const Value& value, const std::string& path);
    std::map<std::string, std::int64_t> read_exchange(FieldReader& fields);
    void share_exchange(const std::map<std::string, std::int64_t>& exchange);
    void read_node(const Value& value, const std::string& path);
    std::map<std::string, int> read_slices(FieldReader& fields);
    void weigh_slices();
    void read_project(const Value& value, const std::string& path);
    Entitlement read_rights(FieldReader& fields, Entitlement rights);
    std::optional<MilliGpu> read_bound(FieldReader& fields, std::string_view name,
                                       bool may_be_none);
    void read_job(const Value& value, const std::string& path);
    void read_request(FieldReader& fields, JobSpec& spec);
    TaskRequest read_request_map(const Value& value, const std::string& path);
    void read_tasks(FieldReader& fields, JobDescription& job);
    TaskDescription read_task(const Value& value, const std::string& path);
    void read_counts(FieldReader& fields, JobDescription& job);
    void sort();

    Problems problems_;
    Description state_;
    StatePlaces places_;
    std::set<std::string> pool_names_;
    std::set<std::string> node_names_;
    std::map<std::string, std::int64_t> slice_weights_;  // by MIG profile, in thousandths
};

base::Result<Description> StateReader::read(const Value& file) {
    FieldReader fields(problems_, file, "");
    state_.now = fields.time("now").value_or(base::TimePoint{});
    state_.as_listed = fields.flag("as_listed", false);
    read_levels(fields);
    read_policy(fields);
    fields.each("pools", [&](const Value& v, const std::string& path) { read_pool(v, path); });
    share_exchange(read_exchange(fields));
    fields.each("nodes", [&](const Value& v, const std::string& path) { read_node(v, path); });
    weigh_slices();
    fields.each("places", [&](const Value& v, const std::string& path) { read_place(v, path); });
    fields.each("projects",
                [&](const Value& v, const std::string& path) { read_project(v, path); });
    fields.each("jobs", [&](const Value& v, const std::string& path) { read_job(v, path); });
    if (const std::string text = fields.text("order"); !text.empty()) {
        auto order = parse_order(text);
        if (!order) fields.report("order", order.error().message);
        if (order) state_.order = std::move(*order);
    }
    fields.finish();
    if (!problems_.any()) check_state(state_, places_, problems_);
    if (problems_.any()) return problems_.first();
    sort();
    return std::move(state_);
}

void StateReader::read_levels(FieldReader& fields) {
    if (!fields.has("levels")) return;
    state_.levels = fields.texts("levels");
    std::set<std::string> seen{model::kNodeLevel};
    for (const std::string& level : state_.levels) {
        if (level.empty() || !seen.insert(level).second) {
            fields.refuse("levels",
                          "names of levels, each once and without \"node\", such as "
                          "[zone, block, rack]");
        }
    }
    if (state_.levels.size() > model::kLevelsMax) {
        fields.report("levels", "wanted at most " + std::to_string(model::kLevelsMax));
    }
}

void StateReader::read_policy(FieldReader& fields) {
    state_.profile = fields.text("profile", state_.profile);
    for (auto& [name, text] : fields.labels("policy")) state_.policy.emplace(name, text);
    const auto profile = model::policy_named(state_.profile);
    if (!profile) return fields.refuse("profile", "\"berth\" or \"classic\"");
    const auto policy = model::changed_policy(*profile, state_.policy);
    if (!policy) fields.report("policy", policy.error().message);
    state_.policy = model::under_new_names(state_.policy);
}

void StateReader::read_pool(const Value& value, const std::string& path) {
    FieldReader fields(problems_, value, path);
    model::Pool pool;
    pool.name = fields.needed_name("name");
    pool.labels = fields.labels("labels");
    pool.exchange = read_exchange(fields);
    pool.spares = fields.text("spares");
    pool.strict_shares = fields.flag("strict_shares", false);
    fields.finish();
    if (!pool_names_.insert(pool.name).second) fields.report("name", "this pool is listed twice");
    if (pool.name == model::kDefaultPool && !pool.labels.empty())
        fields.report("labels", "the default pool has none: it takes what no other pool does");
    if (pool == model::Pool{model::kDefaultPool, {}, {}}) return;
    state_.pools.push_back(std::move(pool));
}

// A node that stands where its labels do not say.
void StateReader::read_place(const Value& value, const std::string& path) {
    FieldReader fields(problems_, value, path);
    model::NodePlace place;
    place.node = fields.needed_name("node");
    place.pool = fields.needed_name("pool");
    place.is_bound = fields.flag("is_bound", false);
    fields.finish();
    if (!node_names_.contains(place.node)) {
        fields.report("node", "no node is named \"" + place.node + "\"");
    }
    if (place.pool != model::kDefaultPool && !pool_names_.contains(place.pool)) {
        fields.report("pool", "no pool is named \"" + place.pool + "\"");
    }
    state_.places.push_back(std::move(place));
}

// `exchange: {H100: 1, A100: 0.5}`.
std::map<std::string, std::int64_t> StateReader::read_exchange(FieldReader& fields) {
    std::map<std::string, std::int64_t> exchange;
    const Value* map = fields.find("exchange");
    if (map == nullptr) return exchange;
    FieldReader by_model(problems_, *map, fields.path_of("exchange"));
    for (const auto& [model, value] : map->members) {
        const auto weight = by_model.decimal(model, 3, "a weight such as 1 or 0.5");
        if (weight && (*weight == 0 || *weight > model::kExchangeMax)) {
            by_model.refuse(model, "more than 0 and at most 1000");
        }
        if (weight) exchange.emplace(model, *weight);
    }
    by_model.finish();
    return exchange;
}

// What the file says of all pools holds in those that say nothing of their own.
void StateReader::share_exchange(const std::map<std::string, std::int64_t>& exchange) {
    if (exchange.empty()) return;
    for (model::Pool& pool : state_.pools) {
        if (pool.exchange.empty()) pool.exchange = exchange;
    }
    const bool has_default = std::ranges::any_of(
        state_.pools, [](const auto& pool) { return pool.name == model::kDefaultPool; });
    if (!has_default) state_.pools.push_back({model::kDefaultPool, {}, exchange});
}

// A slice counts as its part of a GPU where its pool does not say otherwise.
void StateReader::weigh_slices() {
    share_exchange(slice_weights_);
    for (model::Pool& pool : state_.pools) {
        pool.exchange.insert(slice_weights_.begin(), slice_weights_.end());
    }
}

void StateReader::read_node(const Value& value, const std::string& path) {
    static constexpr std::string_view kHole = "{i}";
    FieldReader fields(problems_, value, path);
    Node node;
    const std::string name = fields.needed_name("name");
    node.gpus = static_cast<int>(fields.whole("gpus", 0, {0, model::kGpusPerNodeMax}));
    node.gpu_model = fields.text("gpu_model");
    node.gpu_memory = fields.bytes("gpu_memory").value_or(Bytes{0});
    node.gpu_reserved = fields.bytes("gpu_reserved").value_or(Bytes{0});
    node.gpu_context = fields.bytes("gpu_context").value_or(Bytes{0});
    node.shares_lack = fields.text("shares_lack");
    for (const auto& [key, part] : {std::pair("gpu_reserved", node.gpu_reserved),
                                    std::pair("gpu_context", node.gpu_context)}) {
        if (part == Bytes{0} || part < node.gpu_memory) continue;
        fields.refuse(key, "less than gpu_memory, of which it is a part");
    }
    if (const auto cpu = fields.decimal("cpu", 3, "a number of cores such as 64")) {
        node.cpu = MilliCpu{*cpu};
    }
    node.memory = fields.bytes("memory");
    node.labels = fields.labels("labels");
    node.topology = fields.labels("topology");
    node.taints = read_taints(fields);
    for (const auto& [level, domain] : node.topology) {
        const std::vector<std::string_view> known(state_.levels.begin(), state_.levels.end());
        if (std::ranges::find(known, level) != known.end()) continue;
        fields.report("topology", "no level \"" + level + "\"" + did_you_mean(level, known));
    }
    node.gpu_links = read_gpu_links(problems_, fields, node.gpus);
    node.health = fields.choice("health", model::NodeHealth::Ready);
    node.others = read_others(problems_, fields);
    node.resources = read_resources(problems_, fields);
    const std::map<std::string, int> slices = read_slices(fields);
    const bool is_many = fields.has("count");
    const std::int64_t count = fields.whole("count", 1, {1, kNodesMax});
    fields.finish();
    const auto hole = name.find(kHole);
    if (is_many && hole == std::string::npos) {
        fields.refuse("name", "a name with {i} in it for several nodes, such as n{i}");
    }
    if (static_cast<std::int64_t>(state_.nodes.size()) + count > kNodesMax) {
        fields.report("count", "more than " + std::to_string(kNodesMax) + " nodes");
    }
    for (std::int64_t i = 0; i < count && !problems_.any(); ++i) {
        node.name = name;
        if (is_many) node.name.replace(hole, kHole.size(), std::to_string(i));
        if (!node_names_.insert(node.name).second) {
            fields.report("name", "another node is named \"" + node.name + "\"");
        }
        model::Node whole = node;
        std::vector<model::Node> cut = model::split_off_slices(whole, slices);
        state_.nodes.push_back(std::move(whole));
        for (model::Node& one : cut) {
            node_names_.insert(one.name);
            state_.nodes.push_back(std::move(one));
        }
    }
}

std::map<std::string, int> StateReader::read_slices(FieldReader& fields) {
    std::map<std::string, int> counts;
    const Value* map = fields.find("mig");
    if (map == nullptr) return counts;
    FieldReader by_profile(problems_, *map, fields.path_of("mig"));
    for (const auto& [profile, value] : map->members) {
        const auto count = by_profile.whole(profile, 1, {1, model::kGpusPerNodeMax});
        const auto known = model::mig_profile(profile);
        if (!known) {
            by_profile.report(profile, "wanted a profile such as 1g.10gb or 3g.40gb");
            continue;
        }
        counts.emplace(profile, static_cast<int>(count));
        slice_weights_.emplace(profile, known->exchange());
    }
    by_profile.finish();
    return counts;
}

// `quota` or `limit`: a number, or -1 or a word for no bound.
std::optional<MilliGpu> StateReader::read_bound(FieldReader& fields, std::string_view name,
                                                bool may_be_none) {
    const Value* value = fields.find(name);
    if (value == nullptr) return std::nullopt;
    if (value->text == "-1" || value->text == "unlimited") return model::kUnlimited;
    if (may_be_none && value->text == "none") return model::kUnlimited;
    const auto amount = fields.decimal(name, 3, kWantedGpus);
    return amount ? std::optional(MilliGpu{*amount}) : std::nullopt;
}

constexpr std::int64_t kMillion = 1'000'000;

// "none" takes back what is said of all pools.
bool is_said(FieldReader& fields, std::string_view name, auto& bound) {
    const Value* value = fields.find(name);
    const bool is_none = value != nullptr && (value->text == "none" || value->text == "-1");
    if (is_none) bound.reset();
    return value != nullptr && !is_none;
}

void read_cores(FieldReader& fields, std::string_view name, std::optional<MilliCpu>& bound) {
    if (!is_said(fields, name, bound)) return;
    bound = MilliCpu{fields.decimal(name, 3, "a number of cores such as 64").value_or(0)};
}

void read_memory(FieldReader& fields, std::string_view name, std::optional<Bytes>& bound) {
    if (is_said(fields, name, bound)) bound = fields.bytes(name);
}

void read_host_rights(FieldReader& fields, Entitlement& rights) {
    read_cores(fields, "cpu_quota", rights.cpu_quota);
    read_memory(fields, "memory_quota", rights.memory_quota);
    read_cores(fields, "cpu_limit", rights.cpu_limit);
    read_memory(fields, "memory_limit", rights.memory_limit);
}

Entitlement StateReader::read_rights(FieldReader& fields, Entitlement rights) {
    read_host_rights(fields, rights);
    if (const auto quota = read_bound(fields, "quota", false)) rights.quota = quota;
    if (const auto limit = read_bound(fields, "limit", true)) rights.limit = *limit;
    if (const auto weight = fields.decimal("weight", 3, "a weight such as 1 or 0.5")) {
        rights.weight = *weight;
        if (rights.weight > 1'000 * kMillion) fields.refuse("weight", "a weight up to 1000000");
    }
    rights.priority = static_cast<int>(fields.whole("priority", rights.priority));
    rights.kind = fields.choice("kind", rights.kind);
    if (const auto usage = fields.decimal("usage", 6, "a part from 0 to 1 such as 0.25")) {
        rights.usage_ppm = *usage;
        if (*usage > kMillion) fields.refuse("usage", "a part from 0 to 1 such as 0.25");
    }
    return rights;
}

void StateReader::read_project(const Value& value, const std::string& path) {
    FieldReader fields(problems_, value, path);
    Project project;
    project.name = fields.needed_name("name");
    project.parent = fields.text("parent");
    project.rights = read_rights(fields, {});
    project.preemption_delay = fields.duration("preemption_delay");
    project.preempt_min_run = fields.duration("preempt_min_run");
    project.reclaim_min_run = fields.duration("reclaim_min_run");
    read_rules_of_jobs(fields, project);
    project.order = static_cast<std::int64_t>(state_.projects.size());
    if (const Value* created = fields.find("created")) {
        if (const auto count = whole_from(created->text)) {
            project.order = *count;
        } else if (const auto time = fields.time("created")) {
            project.order = base::to_ms(*time);
        }
    }
    if (const Value* pools = fields.find("pools")) {
        FieldReader by_pool(problems_, *pools, fields.path_of("pools"));
        for (const auto& [pool, content] : pools->members) {
            FieldReader pool_fields(problems_, content, by_pool.path_of(pool));
            Entitlement pattern = project.rights;
            // How much is its own there, and what it has had, is said of each pool.
            if (pool != model::kDefaultPool) {
                pattern = model::without_guarantees(pattern);
                pattern.usage_ppm = 0;
            }
            project.pools.emplace(pool, read_rights(pool_fields, pattern));
            pool_fields.finish();
        }
    }
    fields.finish();
    places_.projects.push_back({value.line, path});
    state_.projects.push_back(std::move(project));
}

void StateReader::read_job(const Value& value, const std::string& path) {
    FieldReader fields(problems_, value, path);
    JobDescription job;
    JobSpec& spec = job.spec;
    read_job_fields(fields, model::kStateFile, spec);
    read_request(fields, spec);
    read_companions(problems_, fields, "cpu", spec);
    read_topology(problems_, fields, spec);
    job.created = fields.time("created").value_or(state_.now);
    job.waiting_since = fields.time("waiting_since");
    job.last_start = fields.time("last_start");
    job.last_checkpoint = fields.time("last_checkpoint");
    job.last_pause = fields.time("last_pause");
    job.saves_when_asked = fields.flag("saves_when_asked", false);
    job.stale_since = fields.time("stale_since");
    job.attained = fields.duration("attained");
    job.held = fields.flag("held", false);
    job.parked_since = fields.time("parked_since");
    job.frozen_gpu_memory = fields.bytes("frozen_gpu_memory").value_or(base::Bytes{0});
    job.promised_until = fields.time("promised_until");
    read_tasks(fields, job);
    read_counts(fields, job);
    fields.finish();
    places_.jobs.push_back({value.line, path});
    state_.jobs.push_back(std::move(job));
}

// `gpus: H100:2` or `request: {gpus: 2, ...}`.
void StateReader::read_request(FieldReader& fields, JobSpec& spec) {
    const Value* map = fields.find("request");
    const Value* text = fields.find("gpus");
    if (map != nullptr) spec.request = read_request_map(*map, fields.path_of("request"));
    if (text == nullptr) return;
    if (map != nullptr) return fields.report("gpus", "wanted gpus or request, found both");
    if (!text->is_scalar()) return fields.refuse("gpus", "GPUs such as 2, 0.5, 12G or H100:2");
    const std::string gpu_model = spec.gpu_model;
    const auto request = read_gpus(fields, spec);
    if (!request) return;
    if (request->tasks_max > 1 && (fields.has("min") || fields.has("max"))) {
        return fields.report("gpus", "wanted a range here or min and max, found both");
    }
    if (!gpu_model.empty() && gpu_model != spec.gpu_model) {
        fields.report("gpu_model", "wanted one GPU model, found \"" + gpu_model + "\" and \"" +
                                       spec.gpu_model + "\"");
    }
}

TaskRequest StateReader::read_request_map(const Value& value, const std::string& path) {
    FieldReader fields(problems_, value, path);
    TaskRequest request;
    if (const auto gpus = fields.decimal("gpus", 3, kWantedGpus)) {
        const bool is_few = *gpus <= model::kGpusPerNodeMax * 1000;
        request.gpus = is_few && *gpus % 1000 == 0 ? static_cast<int>(*gpus / 1000) : 1;
        if (*gpus % 1000 != 0) request.share = MilliGpu{*gpus};
        if (*gpus > 1000 && *gpus % 1000 != 0) {
            fields.refuse("gpus", "whole GPUs; give the part of each as share");
        }
        if (!is_few) fields.refuse("gpus", "at most 64 GPUs");
    }
    if (const auto share = fields.decimal("share", 3, "a part of each GPU such as 0.5")) {
        if (*share == 0 || *share > 1000) fields.refuse("share", "more than 0 and at most 1");
        if (request.share != base::kWholeGpu) fields.report("share", "gpus gives a part already");
        request.share = MilliGpu{*share};
    }
    request.gpu_memory = fields.bytes("gpu_memory").value_or(Bytes{0});
    request.gpu_memory_max = fields.bytes("gpu_memory_max").value_or(Bytes{0});
    request.cap = read_cap(fields);
    read_host(problems_, fields, "cpu", request);
    fields.finish();
    return request;
}

void StateReader::read_tasks(FieldReader& fields, JobDescription& job) {
    std::vector<Place>& places = places_.tasks.emplace_back();
    fields.each("tasks", [&](const Value& value, const std::string& path) {
        job.tasks.push_back(read_task(value, path));
        places.push_back({value.line, path});
    });
}

TaskDescription StateReader::read_task(const Value& value, const std::string& path) {
    FieldReader fields(problems_, value, path);
    TaskDescription task;
    task.node = fields.text("node");
    task.state =
        fields.choice("state", task.node.empty() ? TaskState::Pending : TaskState::Running);
    if (fields.has("gpus")) {
        const std::vector<std::string> texts = fields.texts("gpus");
        for (const std::string& text : texts) {
            const auto index = decimal_from(text, 0);
            if (!index || *index >= model::kGpusPerNodeMax) {
                fields.report("gpus",
                              "wanted indices of GPUs such as [0, 1], found \"" + text + "\"");
                break;
            }
            task.gpu_indices.push_back(static_cast<int>(*index));
        }
        std::ranges::sort(task.gpu_indices);
        if (std::ranges::adjacent_find(task.gpu_indices) != task.gpu_indices.end()) {
            fields.report("gpus", "the same GPU is listed twice");
        }
    }
    const bool is_pending = task.state == TaskState::Pending;
    if (is_pending && (!task.node.empty() || !task.gpu_indices.empty())) {
        fields.report("state", "a pending task is on no node");
    }
    if (!is_pending && task.node.empty()) fields.refuse("node", "the node on which it runs");
    fields.finish();
    return task;
}

void StateReader::read_counts(FieldReader& fields, JobDescription& job) {
    JobSpec& spec = job.spec;
    const std::size_t left = model::places_before_promise(job);
    const auto listed = std::ssize(job.tasks) - static_cast<std::ptrdiff_t>(left);
    const std::int64_t companions = model::companions(spec);
    const std::int64_t listed_tasks = std::max<std::int64_t>(listed - companions, 0);
    const bool is_range = spec.tasks_max > 1;  // given as gpus: 4..16
    const std::int64_t high =
        fields.whole("max", is_range ? spec.tasks_max : 0, {1, model::kTasksMax});
    std::int64_t low = is_range ? spec.tasks_min : std::max<std::int64_t>(1, listed_tasks);
    if (!is_range && high > 0) low = std::min(low, high);
    low = fields.whole("min", low, {1, model::kTasksMax});
    spec.tasks_min = static_cast<int>(low);
    spec.tasks_max = static_cast<int>(high == 0 ? low : high);
    if (spec.tasks_max < spec.tasks_min) {
        fields.refuse("max", "at least min (" + std::to_string(low) + ")");
    }
    read_groups(problems_, fields, spec, is_range || fields.has("min") || fields.has("max"));
    if (listed > spec.tasks_max + companions) {
        fields.report("tasks", "wanted at most max (" + std::to_string(spec.tasks_max) + ") tasks" +
                                   (companions > 0 ? " and the companions" : "") + ", found " +
                                   std::to_string(listed));
    }
}

// How many steps a project is below the root.
std::map<std::string, int> depths(const std::vector<Project>& projects) {
    std::map<std::string, std::string> parents;
    for (const Project& project : projects) parents[project.name] = project.parent;
    std::map<std::string, int> depths;
    for (const Project& project : projects) {
        int depth = 0;
        for (const std::string* at = &project.parent; !at->empty(); at = &parents[*at]) ++depth;
        depths[project.name] = depth;
    }
    return depths;
}

void StateReader::sort() {
    const auto naturally = [](const auto& a, const auto& b) {
        return is_before_naturally(a.name, b.name);
    };
    if (!state_.as_listed) std::ranges::sort(state_.nodes, naturally);
    // A cluster is built with parents before their children.
    std::map<std::string, int> depth = depths(state_.projects);
    std::ranges::sort(state_.projects, [&](const Project& a, const Project& b) {
        const int depth_a = depth[a.name];
        const int depth_b = depth[b.name];
        return depth_a != depth_b ? depth_a < depth_b : naturally(a, b);
    });
    if (state_.as_listed) return;
    std::ranges::sort(state_.jobs, [](const JobDescription& a, const JobDescription& b) {
        if (a.created != b.created) return a.created < b.created;
        if (a.spec.project != b.spec.project) {
            return is_before_naturally(a.spec.project, b.spec.project);
        }
        return is_before_naturally(a.spec.name, b.spec.name);
    });
}

bool is_name_digit(char c) { return c >= '0' && c <= '9'; }

// The digits in front, without leading zeros; `rest` goes behind them.
std::string_view take_number(std::string_view& rest) {
    std::size_t end = 0;
    while (end < rest.size() && is_name_digit(rest[end])) ++end;
    std::string_view digits = rest.substr(0, end);
    rest.remove_prefix(end);
    digits.remove_prefix(std::min(digits.find_first_not_of('0'), digits.size()));
    return digits;
}

}  // namespace

bool is_before_naturally(std::string_view a, std::string_view b) {
    std::string_view rest_a = a;
    std::string_view rest_b = b;
    while (!rest_a.empty() && !rest_b.empty()) {
        if (is_name_digit(rest_a[0]) && is_name_digit(rest_b[0])) {
            const std::string_view number_a = take_number(rest_a);
            const std::string_view number_b = take_number(rest_b);
            if (number_a.size() != number_b.size()) return number_a.size() < number_b.size();
            if (number_a != number_b) return number_a < number_b;
        } else {
            if (rest_a[0] != rest_b[0]) return rest_a[0] < rest_b[0];
            rest_a.remove_prefix(1);
            rest_b.remove_prefix(1);
        }
    }
    if (rest_a.empty() != rest_b.empty()) return rest_a.empty();
    return a < b;  // "n01" and "n1" must not be equal
}

base::Result<Description> parse_state(std::string_view text, std::string_view file_name) {
    BERTH_TRY(file, parse_yaml(text, file_name));
    return StateReader(file_name).read(file);
}

}  // namespace berth::codec
