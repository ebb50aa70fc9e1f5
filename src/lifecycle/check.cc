// SPDX-License-Identifier: Apache-2.0
//
// Which events are possible now: the arrows of the state machine and the names they may use.
#include "lifecycle/check.h"

#include <algorithm>
#include <array>
#include <set>

#include "lifecycle/idle/idle_rule.h"
#include "lifecycle/parts.h"
#include "model/job/packing.h"
#include "model/job/task_groups.h"
#include "model/limits.h"

namespace berth::lifecycle {
namespace {

using base::ErrorCode;
using base::fail;
using base::Status;
using model::JobState;

// Who borrows has to leave the GPU when its owners need it, as a whole.
Status check_burst(const model::JobSpec& spec) {
    const model::TaskRequest& request = spec.request;
    if (request.gpu_memory == model::Bytes{0} || request.gpu_memory_max < request.gpu_memory) {
        return base::invalid("gpu_memory_max: wanted at least gpu_memory, which is " +
                             base::format(request.gpu_memory) + ", found " +
                             base::format(request.gpu_memory_max));
    }
    if (spec.tasks_max == 1) return {};
    return base::invalid(
        "gpu_memory_max: only a job of one task may borrow GPU memory, this "
        "has " +
        std::to_string(spec.tasks_max) + "; ask for what it needs");
}

Status check_others(const model::Node& node, const model::OthersUse& use) {
    const std::string where = "node \"" + node.name + "\": others.";
    std::set<int> named;
    for (const int gpu : use.gpu_indices) {
        if (gpu >= 0 && gpu < node.gpus && named.insert(gpu).second) continue;
        return base::invalid(where + "gpu_indices: wanted each of its " +
                             std::to_string(node.gpus) + " GPUs at most once, found " +
                             std::to_string(gpu));
    }
    for (const auto& [name, amount] : use.resources) {
        if (node.resources.contains(name)) continue;
        return base::invalid(where + "resources: the node does not say how much \"" + name +
                             "\" it has");
    }
    return {};
}

class Check {
  public:
    explicit Check(const State& state) : state_(state) {}

    Status operator()(const model::LevelsSet& set) const {
        for (const auto& [id, record] : state_.jobs) {
            const model::TopologyRequest& topology = record.spec.topology;
            std::vector<std::string> asked{topology.required, topology.preferred};
            for (const auto& group : topology.groups) asked.push_back(group.level);
            for (const std::string& level : asked) {
                if (level.empty() || level == model::kNodeLevel) continue;
                if (std::ranges::find(set.levels, level) != set.levels.end()) continue;
                return conflict(record, "asks for the level \"" + level + "\"; keep it");
            }
        }
        return {};
    }

    Status operator()(const model::PoolSet& set) const {
        if (set.pool.name == model::kDefaultPool && !set.pool.labels.empty()) {
            return base::invalid(
                "pool \"default\" takes the nodes that match no other pool; it has "
                "no labels");
        }
        return check_spares(set.pool);
    }

    Status operator()(const model::PoolRemoved& removed) const {
        const base::PoolId id = state_.cluster.find_pool(removed.pool);
        if (!id.is_valid()) return no_pool(removed.pool);
        const auto refuse = [&](const std::string& why) {
            return fail(ErrorCode::Conflict, "pool \"" + removed.pool + "\" " + why);
        };
        if (removed.pool == model::kDefaultPool) return refuse("is always there");
        for (std::size_t i = 0; i < state_.cluster.nodes().size(); ++i) {
            const base::NodeId node{static_cast<base::NodeId::Rep>(i)};
            const bool is_in =
                state_.cluster.nodes()[i].pool == id || state_.cluster.belongs_to(node) == id;
            if (!is_in) continue;
            return refuse("has nodes such as " + state_.cluster.node_name(node) +
                          "; first take its spares away, and its labels from its nodes");
        }
        for (const cluster::PoolState& other : state_.cluster.pools()) {
            if (other.spares == removed.pool) return refuse("has the spares of " + other.name);
        }
        for (const cluster::ProjectState& known : state_.cluster.projects()) {
            if (!known.project.pools.contains(removed.pool)) continue;
            return refuse("is in the rights of project \"" + known.project.name +
                          "\"; take them away first");
        }
        for (const auto& [job, record] : state_.jobs) {
            if (std::ranges::find(record.spec.pools, removed.pool) == record.spec.pools.end()) {
                continue;
            }
            return refuse("is named by job " + std::to_string(job.value) + ", which has not ended");
        }
        return {};
    }

    Status operator()(const model::LogBegun& begun) const {
        const bool is_plain = std::ranges::all_of(begun.incarnation, [](char letter) {
            return (letter >= '0' && letter <= '9') || (letter >= 'a' && letter <= 'z');
        });
        if (begun.incarnation.empty() || !is_plain) {
            return base::invalid("an incarnation of the log has a name of letters and digits");
        }
        if (std::ranges::find(state_.incarnations, begun.incarnation) != state_.incarnations.end())
            return fail(ErrorCode::Exists, "this incarnation of the log has begun before");
        return check_order(begun.order);
    }

    Status operator()(const model::NodeMoved& moved) const {
        const base::NodeId node = state_.cluster.find_node(moved.node);
        if (!node.is_valid()) return no_node(moved.node);
        if (!state_.cluster.find_pool(moved.pool).is_valid()) return no_pool(moved.pool);
        BERTH_TRY_VOID(expect_empty(node));
        if (moved.replaces.empty()) return {};
        const base::NodeId other = state_.cluster.find_node(moved.replaces);
        if (!other.is_valid()) return no_node(moved.replaces);
        if (state_.cluster.nodes()[other.index()].pool != state_.cluster.find_pool(moved.pool)) {
            return fail(ErrorCode::Conflict,
                        "node \"" + moved.replaces + "\" is not in pool \"" + moved.pool + "\"");
        }
        return expect_empty(other);
    }

    Status operator()(const model::NodeSet& set) const {
        const model::Node& node = set.node;
        if (node.gpu_reserved < model::Bytes{0} || node.gpu_context < model::Bytes{0} ||
            node.gpu_reserved > node.gpu_memory || node.gpu_context > node.gpu_memory) {
            return base::invalid("node \"" + node.name +
                                 "\": gpu_reserved and gpu_context are parts of gpu_memory");
        }
        BERTH_TRY_VOID(check_others(node, node.others));
        if (!state_.cluster.resources().has_room_for(node.resources)) {
            return base::invalid("node \"" + node.name +
                                 "\": resources: with the names that nodes " +
                                 "have said before, these are more than the " +
                                 std::to_string(model::kResourcesMax) + " that a cluster may have");
        }
        if (const auto near = model::nearness(node.gpu_links, node.gpus); !near) {
            return base::invalid("node \"" + node.name + "\": " + near.error().message);
        }
        for (const auto& [level, domain] : node.topology) {
            const auto position = state_.cluster.level_named(level);
            if (level == model::kNodeLevel || !position) {
                return base::invalid("node \"" + node.name + "\": topology: " + no_level(level));
            }
        }
        const auto known = state_.cluster.find_node(node.name);
        const int gpus = known.is_valid() ? state_.cluster.nodes()[known.index()].gpus : node.gpus;
        if (gpus != node.gpus && cluster::are_gpus_in_use(state_.cluster, known)) {
            return fail(ErrorCode::Conflict,
                        "node \"" + node.name + "\" has " + std::to_string(gpus) +
                            " GPUs and cannot change to " + std::to_string(node.gpus) +
                            " while jobs use them; drain it first, or give it a new name");
        }
        if (state_.cluster.kinds().has_room_for(node)) return {};
        return base::invalid("node \"" + node.name + "\" would be of one kind more than the " +
                             kinds_of_nodes());
    }

    Status operator()(const model::NodeUsedByOthers& used) const {
        const base::NodeId node = state_.cluster.find_node(used.node);
        if (!node.is_valid()) return no_node(used.node);
        return check_others(state_.cluster.description(node), used.use);
    }

    Status operator()(const model::ProjectSet& set) const {
        const model::Project& project = set.project;
        if (project.name == project.parent) {
            return base::invalid("project \"" + project.name + "\" cannot be its own parent");
        }
        for (const auto& [pool, rights] : project.pools) {
            if (!state_.cluster.find_pool(pool).is_valid()) return no_pool(pool);
        }
        const auto parent = state_.cluster.find_project(project.parent);
        if (!project.parent.empty() && !parent.is_valid()) {
            return fail(ErrorCode::NotFound, "parent \"" + project.parent + "\" of project \"" +
                                                 project.name +
                                                 "\" does not exist; create it first");
        }
        const auto known = state_.cluster.find_project(project.name);
        if (known.is_valid()) {
            const auto& before = state_.cluster.projects()[known.index()].project;
            if (before.parent != project.parent) {
                return fail(ErrorCode::Conflict,
                            "project \"" + project.name + "\" cannot move to another parent");
            }
            return {};
        }
        const bool has_jobs =
            parent.is_valid() && state_.cluster.is_leaf(parent) && has_any_job(parent);
        if (has_jobs) {
            return fail(ErrorCode::Conflict, "project \"" + project.parent +
                                                 "\" has jobs of its own and cannot get children");
        }
        return {};
    }

    Status operator()(const model::ProjectRemoved& removed) const {
        const base::ProjectId id = state_.cluster.find_project(removed.project);
        const std::string who = "project \"" + removed.project + "\" ";
        if (!id.is_valid()) return fail(ErrorCode::NotFound, who + "does not exist");
        const auto& children = state_.cluster.projects()[id.index()].children;
        if (!children.empty()) {
            const auto& child = state_.cluster.projects()[children.front().index()].project;
            return fail(ErrorCode::Conflict, who + "has projects below it such as \"" + child.name +
                                                 "\"; remove them first");
        }
        std::int64_t live = 0;
        model::JobId first;
        for (const auto& [job, entry] : state_.cluster.jobs()) {
            if (entry.project != id) continue;
            if (live++ == 0) first = job;
        }
        if (live == 0) return {};
        const std::string jobs =
            live == 1 ? "1 job that has not ended, job "
                      : std::to_string(live) + " jobs that have not ended, the first is job ";
        return fail(ErrorCode::Conflict, who + "has " + jobs + std::to_string(first.value) +
                                             "; cancel what is left, or wait until it has ended");
    }

    Status operator()(const model::PolicySet& set) const {
        auto changed = model::changed_policy({}, model::under_new_names(set.settings));
        if (!changed) return tl::unexpected(std::move(changed.error()));
        return check_order(set.order);
    }

    // Within the bounds of its settings.
    static Status check_order(const std::optional<model::OrderRules>& rules) {
        model::Policy policy;
        policy.order = rules.value_or(policy.order);
        auto set = model::changed_policy({}, model::changes_between({}, policy));
        return set ? Status() : Status(tl::unexpected(std::move(set.error())));
    }

    Status operator()(const model::JobSubmitted& submitted) const {
        if (submitted.job <= state_.last_job) {
            return fail(ErrorCode::Exists,
                        "job id " + std::to_string(submitted.job.value) + " was given before");
        }
        return check_spec(submitted.spec);
    }

    Status operator()(const model::JobStarting& starting) const {
        if (starting.tasks.empty()) return base::invalid("a start needs tasks");
        const model::JobRecord* job = find(starting.job);
        if (job != nullptr && job->parked_since) return conflict(*job, "is parked; wake it first");
        const bool is_frozen =
            job != nullptr && job->state == JobState::Paused && !job->frozen.empty();
        if (is_frozen && starting.tasks.size() != job->frozen.size())
            return conflict(*job, "goes on with the processes of " +
                                      std::to_string(job->frozen.size()) + " tasks");
        return expect(starting.job, kMayGain);
    }
    Status operator()(const model::JobRunning& running) const {
        return expect(running.job, {JobState::Starting});
    }
    Status operator()(const model::JobReserved& reserved) const {
        if (reserved.tasks.empty()) return base::invalid("a reservation needs tasks");
        const model::JobRecord* job = find(reserved.job);
        if (job != nullptr && !job->reserved.empty()) {
            return conflict(*job, "has a reservation already");
        }
        // One that is asked to leave as a whole may be promised where it goes.
        if (job != nullptr && job->state == JobState::Pausing) return {};
        return expect(reserved.job, kMayGain);
    }
    Status operator()(const model::ReservationDropped& dropped) const {
        const model::JobRecord* job = find(dropped.job);
        if (job == nullptr) return unknown(dropped.job);
        if (job->reserved.empty()) return conflict(*job, "has no reservation");
        return {};
    }
    Status operator()(const model::PauseRequested& request) const {
        return expect(request.job, {JobState::Starting, JobState::Running});
    }
    Status operator()(const model::JobPaused& paused) const {
        const model::JobRecord* job = find(paused.job);
        if (job == nullptr) return unknown(paused.job);
        if (job->releasing.empty()) return conflict(*job, "was not asked to pause");
        return {};
    }
    Status operator()(const model::JobResized& resized) const {
        const model::JobRecord* job = find(resized.job);
        if (job == nullptr) return unknown(resized.job);
        if (!job->is_resizing()) return conflict(*job, "is not about to change its size");
        return {};
    }
    Status operator()(const model::JobSizeSet& set) const {
        const model::JobRecord* job = find(set.job);
        if (job == nullptr) return unknown(set.job);
        if (job->spec.elastic != model::Elastic::Grow)
            return conflict(*job, "is started with the number of tasks it was submitted with");
        if (!job->releasing.empty()) return conflict(*job, "is asked to leave");
        if (!job->frozen.empty()) return conflict(*job, "is frozen with the tasks it has");
        BERTH_TRY_VOID(check_ended(*job, set.ended));
        const int left =
            state_.cluster.job(set.job).tasks_placed() - static_cast<int>(set.ended.size());
        if (set.tasks < left) {
            return conflict(*job, "has " + std::to_string(left) +
                                      " tasks with a place, more than " +
                                      std::to_string(set.tasks));
        }
        model::JobSpec spec = job->spec;
        spec.tasks_min = spec.tasks_max = set.tasks;
        return model::check_limits(spec);
    }
    Status operator()(const model::JobRequestSet& set) const {
        const model::JobRecord* job = find(set.job);
        if (job == nullptr) return unknown(set.job);
        model::JobSpec spec = job->spec;
        spec.request = set.request;
        BERTH_TRY_VOID(model::check_limits(spec));
        BERTH_TRY_VOID(check_spec(spec));
        return check_request_change(state_, *job, set);
    }
    Status operator()(const model::JobParked& parked) const {
        const model::JobRecord* job = find(parked.job);
        if (job != nullptr && !job->releasing.empty()) return conflict(*job, "is asked to leave");
        if (job != nullptr && job->is_resizing()) return conflict(*job, "changes its size");
        if (job != nullptr && !job->spec.companions.empty()) {
            return conflict(*job, "has companions, which may run on other nodes");
        }
        return expect(parked.job, {JobState::Running});
    }
    Status operator()(const model::JobWoken& woken) const {
        return known(woken.job, [](const auto& job) { return !job.parked_since; }, "is not parked");
    }
    Status operator()(const model::JobHeld& held) const {
        return known(
            held.job, [](const auto& job) { return job.held; }, "is paused by a user already");
    }
    Status operator()(const model::JobReleased& released) const {
        return known(
            released.job, [](const auto& job) { return !job.held; }, "is not paused by a user");
    }
    Status operator()(const model::CheckpointSaved& saved) const {
        return expect(saved.job, {JobState::Starting, JobState::Running, JobState::Pausing});
    }
    Status operator()(const model::CancelRequested& cancel) const {
        const auto is_so = [](const auto& job) { return job.state == JobState::Cancelling; };
        return known(cancel.job, is_so, "is being cancelled");
    }
    Status operator()(const model::JobFinished& finished) const {
        if (!model::is_final(finished.state)) return base::invalid("a job ends in a final state");
        if (find(finished.job) == nullptr) return unknown(finished.job);
        return {};
    }
    Status operator()(const model::JobMeasured& measured) const { return exists(measured.job); }
    Status operator()(const model::JobUsed& used) const { return exists(used.job); }
    Status operator()(const model::JobsParted& parted) const {
        const auto is_so = [](const auto& job) { return !job.spec.packed || job.tasks.empty(); };
        return known(parted.job, is_so, "is not packed");
    }
    Status operator()(const model::JobEscaped& escaped) const {
        const auto is_so = [](const auto& job) { return !job.escaped.empty(); };
        return known(escaped.job, is_so, "has escaped its share already");
    }
    Status operator()(const model::JobIdle& idle) const {
        return expect(idle.job, {JobState::Running});
    }
    Status operator()(const model::JobBusy& busy) const {
        const auto is_so = [](const auto& job) { return !job.idle; };
        return known(busy.job, is_so, "was not said to be idle");
    }
    Status operator()(const model::JobKept& kept) const {
        const auto is_so = [](const auto& job) { return job.state == JobState::Cancelling; };
        return known(kept.job, is_so, "is being cancelled");
    }
    Status operator()(const model::AttemptLost& lost) const {
        const model::JobRecord* job = find(lost.job);
        if (job != nullptr && job->state == JobState::Paused && !job->frozen.empty()) return {};
        return expect(lost.job, {JobState::Starting, JobState::Running, JobState::Pausing});
    }

  private:
    // A job that starts or runs may grow: one plan can do both.
    static constexpr std::initializer_list<JobState> kMayGain{
        JobState::Queued, JobState::Paused, JobState::Starting, JobState::Running};

    const model::JobRecord* find(model::JobId job) const { return state_.jobs.get(job); }
    // It is there, and not so.
    Status exists(model::JobId id) const { return find(id) == nullptr ? unknown(id) : Status{}; }
    Status known(model::JobId id, const auto& is_so, const char* what) const {
        const model::JobRecord* job = find(id);
        if (job == nullptr) return unknown(id);
        return is_so(*job) ? conflict(*job, what) : Status{};
    }

    static Status no_node(const std::string& name) {
        return fail(ErrorCode::NotFound, "node \"" + name + "\" does not exist");
    }
    static Status no_pool(const std::string& name) {
        return fail(ErrorCode::NotFound, "pool \"" + name + "\" does not exist");
    }
    Status expect_empty(base::NodeId node) const {
        if (cluster::is_empty(state_.cluster, node)) return {};
        return fail(ErrorCode::Conflict,
                    "node \"" + state_.cluster.node_name(node) + "\" has work");
    }

    // Tasks of it that have a place, not all of them, each once.
    static Status check_ended(const model::JobRecord& job, const std::vector<int>& ended) {
        std::set<int> named(ended.begin(), ended.end());
        const bool are_apart = named.size() == ended.size();
        std::size_t left = 0;
        for (const model::TaskPlacement& task : job.tasks) {
            if (task.task < job.spec.tasks_max) left += named.erase(task.task) == 0 ? 1 : 0;
        }
        if (!named.empty() || !are_apart)
            return base::invalid("ended: wanted ranks of tasks that have a place, each once");
        if (left > 0 || ended.empty()) return {};
        return conflict(job, "has no other task that runs");
    }

    // Else nodes could take each other's place for ever.
    Status check_spares(const model::Pool& pool) const {
        if (pool.spares.empty()) return {};
        const base::PoolId spares = state_.cluster.find_pool(pool.spares);
        const std::string where = "pool \"" + pool.name + "\": ";
        if (!spares.is_valid()) {
            return fail(ErrorCode::NotFound, where + "its spares are in pool \"" + pool.spares +
                                                 "\", which does not exist; declare it before");
        }
        if (pool.spares == pool.name || !state_.cluster.pool(spares).spares.empty()) {
            return base::invalid(where + "its spares are in pool \"" + pool.spares +
                                 "\", which has to be another one without spares of its own");
        }
        for (const cluster::PoolState& other : state_.cluster.pools()) {
            if (other.spares != pool.name) continue;
            return base::invalid(where + "it has the spares of pool \"" + other.name +
                                 "\" and can have none of its own");
        }
        return {};
    }

    static Status unknown(model::JobId job) {
        return fail(ErrorCode::NotFound,
                    "job " + std::to_string(job.value) + " is not known or has ended");
    }

    static Status conflict(const model::JobRecord& job, std::string_view what) {
        return fail(ErrorCode::Conflict,
                    "job " + std::to_string(job.id.value) + " " + std::string(what));
    }

    Status expect(model::JobId id, std::initializer_list<JobState> states) const {
        const model::JobRecord* job = find(id);
        if (job == nullptr) return unknown(id);
        if (std::ranges::find(states, job->state) != states.end()) return {};
        return conflict(*job,
                        "is " + std::string(name(job->state)) + ", which does not allow this");
    }

    bool has_any_job(base::ProjectId project) const {
        return std::ranges::any_of(state_.cluster.jobs(), [&](const auto& entry) {
            return entry.second.project == project;
        });
    }

    Status check_spec(const model::JobSpec& spec) const {
        const auto project = state_.cluster.find_project(spec.project);
        if (!project.is_valid()) {
            return fail(ErrorCode::NotFound, "project \"" + spec.project + "\" does not exist");
        }
        if (!state_.cluster.is_leaf(project)) {
            return base::invalid("\"" + spec.project +
                                 "\" is a department; submit to one of the "
                                 "projects below it");
        }
        for (const std::string& pool : spec.pools) {
            if (!state_.cluster.find_pool(pool).is_valid()) {
                return fail(ErrorCode::NotFound, "pool \"" + pool + "\" does not exist");
            }
        }
        BERTH_TRY_VOID(check_topology(spec.topology));
        const cluster::Cluster& cluster = state_.cluster;
        std::vector<model::NodeTerm> terms = model::terms_of(spec.node_labels, spec.node_filter);
        for (const model::Companion& kind : spec.companions) {
            std::ranges::copy(model::terms_of(kind.node_labels, kind.node_filter),
                              std::back_inserter(terms));
        }
        if (!cluster.kinds().has_room_for(terms, cluster.nodes().size())) {
            return base::invalid("node_labels, node_filter: nodes of more than the " +
                                 kinds_of_nodes() + " could differ in what they ask");
        }
        if (spec.may_share && !model::can_share(spec)) {
            return base::invalid(
                "may_share: wanted a train job that can be paused, of one task "
                "with one whole GPU");
        }
        const bool parks = spec.park_after && *spec.park_after >= model::Duration{0};
        if (parks && !is_parkable(spec)) {
            return base::invalid("park_after: wanted a job of one task with GPUs");
        }
        if (parks && spec.park_after->count() == 0) {
            return base::invalid("park_after: wanted a time such as 30m, or never; found 0");
        }
        return spec.request.gpu_memory_max == model::Bytes{0} ? Status{} : check_burst(spec);
    }

    static std::string kinds_of_nodes() {
        return std::to_string(model::kNodeKindsMax) + " kinds that a cluster may have";
    }

    std::string no_level(const std::string& level) const {
        std::string known;
        for (const std::string& name : state_.cluster.levels()) known += name + ", ";
        return "no level \"" + level + "\"; the levels are " + known + "node";
    }

    Status check_topology(const model::TopologyRequest& topology) const {
        std::array<int, 2> positions{-1, -1};
        const std::array<std::string, 2> levels{topology.required, topology.preferred};
        for (std::size_t i = 0; i < levels.size(); ++i) {
            if (levels[i].empty()) continue;
            const auto position = state_.cluster.level_named(levels[i]);
            if (!position) return base::invalid("topology: " + no_level(levels[i]));
            positions[i] = *position;
        }
        if (positions[1] >= 0 && positions[1] < positions[0]) {
            return base::invalid("topology: wanted a preferred level inside the required one \"" +
                                 levels[0] + "\", found \"" + levels[1] + "\"");
        }
        for (const model::TaskGroup& group : topology.groups) {
            if (group.level.empty()) continue;
            const auto position = state_.cluster.level_named(group.level);
            const std::string where = "groups: \"" + group.name + "\": ";
            if (!position) return base::invalid(where + no_level(group.level));
            if (*position >= positions[0]) continue;
            return base::invalid(where + "wanted a level inside the required one \"" + levels[0] +
                                 "\", found \"" + group.level + "\"");
        }
        return {};
    }

    const State& state_;
};

}  // namespace

Status check_possible(const State& state, const model::EventBody& event) {
    return std::visit(Check(state), event);
}

Status check(const State& state, const model::EventBody& event) {
    BERTH_TRY_VOID(check_limits(state, event));
    return check_possible(state, event);
}

}  // namespace berth::lifecycle
