// SPDX-License-Identifier: Apache-2.0
#include "scheduling/remedy.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "scheduling/decide.h"
#include "scheduling/jobs_to_end.h"
#include "scheduling/node_moves.h"

namespace berth::scheduling {
namespace {

using cluster::Cluster;
using cluster::Job;
using model::MilliGpu;
using model::Plan;
using model::Reason;
using model::Remedy;
using model::RemedyKind;
using model::Verdict;

constexpr int kWakeupsTried = 3;
constexpr int kNodesTried = 8;
constexpr int kDoublings = 3;
constexpr std::int64_t kRemedyWork = 1'000'000;  // jobs and nodes looked at by all tries together

bool is_served(const Plan& plan, const Job& job) {
    const bool is_dropped = std::ranges::find(plan.dropped, job.id) != plan.dropped.end();
    return std::ranges::find(plan.starts, job.id, &model::Start::job) != plan.starts.end() ||
           std::ranges::find(plan.reservations, job.id, &model::Reservation::job) !=
               plan.reservations.end() ||
           (job.hold && !is_dropped);
}

void end_job(Cluster& cluster, JobId id) {
    std::vector<int> ranks;
    for (const auto& task : cluster.job(id).placed) ranks.push_back(task.place.task);
    cluster.vacate(id, ranks);
    if (cluster.job(id).hold) cluster.drop_hold(id);
    cluster.remove_job(id);
}

model::Entitlement& rights_of(model::Project& project, const std::string& pool) {
    if (pool == model::kDefaultPool) return project.rights;
    return project.pools.try_emplace(pool, model::rights_in(project, pool)).first->second;
}

// The change itself, on a copy.
void apply(Cluster& cluster, const Remedy& remedy, const Job& job, model::TimePoint now) {
    switch (remedy.kind) {
        case RemedyKind::Wait: return;
        case RemedyKind::Resume:
            cluster.set_waiting(job.id, now);
            cluster.set_parked(job.id, false);
            return cluster.set_may_run(job.id, true);
        case RemedyKind::NodeBack: {
            model::Node node = cluster.description(cluster.find_node(remedy.name));
            node.health = model::NodeHealth::Ready;
            return cluster.set_node(node);
        }
        case RemedyKind::RaiseLimit:
        case RemedyKind::RaiseQuota: {
            const ProjectId id = cluster.find_project(remedy.name);
            model::Project project = cluster.projects()[id.index()].project;
            const base::PoolId pool = cluster.pools_of(job).front();
            model::Entitlement& rights = rights_of(project, cluster.pool(pool).name);
            if (remedy.kind == RemedyKind::RaiseLimit) rights.limit = remedy.gpus;
            if (remedy.kind == RemedyKind::RaiseQuota) rights.quota = remedy.gpus;
            return cluster.set_project(project);
        }
        case RemedyKind::JobsEnd:
            for (const JobId other : remedy.jobs) end_job(cluster, other);
            return;
        case RemedyKind::Apart:
        case RemedyKind::AskLess:
        case RemedyKind::AnyKind: {
            const model::JobSpec spec = asked_instead(cluster, remedy, job);
            const model::TimePoint created = job.created;
            const model::TimePoint last_start = job.last_start;
            const model::TimePoint last_pause = job.last_pause;
            const cluster::Attained attained = job.attained;
            if (job.hold) cluster.drop_hold(job.id);
            cluster.remove_job(job.id);
            cluster.add_job(job.id, spec, created);
            cluster.set_paused(job.id, last_pause);
            cluster::note_attained(cluster, job.id, attained.gpu_ms, attained.counted);
            return cluster.set_started(job.id, last_start);
        }
        case RemedyKind::MoreGpus: return cluster.set_node(added_node(cluster, remedy, job));
    }
}

class RemedySearch {
  public:
    RemedySearch(const Cluster& cluster, const model::Policy& policy, model::TimePoint now,
                 const Verdict& verdict, int tries)
        : cluster_(cluster),
          policy_(policy),
          now_(now),
          verdict_(verdict),
          job_(cluster.job(verdict.job)),
          pool_(cluster.pools_of(job_).front()),
          tries_(tries) {}

    // What was not tried might have been cheaper or smaller: then nothing is said.
    std::optional<Remedy> run() {
        Cluster copy = cluster_;
        move_nodes(copy);
        const Plan plan = decide(copy, policy_, now_);
        if (is_served(plan, copy.job(job_.id))) return {};
        auto found = first_of_reason(plan);
        return tries_ > 0 ? found : std::nullopt;
    }

  private:
    std::optional<Remedy> first_of_reason(const Plan& plan) {
        switch (verdict_.reason) {
            case Reason::Held:
            case Reason::Parked:
            case Reason::Paused: return resume();
            case Reason::NeverFits:
            case Reason::ModelMismatch:
                if (auto found = apart()) return found;
                if (auto found = ask_less()) return found;
                if (auto found = any_kind()) return found;
                return more_gpus();
            case Reason::QuotaHard:
                if (auto found = raise_bound()) return found;
                return end_or_less();
            case Reason::QuotaFair:
                if (auto found = wait(plan)) return found;
                if (auto found = node_back()) return found;
                if (auto found = raise_quota()) return found;
                if (auto found = end_or_less()) return found;
                return more_gpus();
            default:
                if (auto found = wait(plan)) return found;
                if (auto found = node_back()) return found;
                if (auto found = apart()) return found;
                if (auto found = end_or_less()) return found;
                if (auto found = any_kind()) return found;
                return more_gpus();
        }
    }

    bool helps(const Remedy& remedy, std::optional<model::TimePoint> at = {}) {
        if (--tries_ <= 0) return false;
        Cluster copy = cluster_;
        apply(copy, remedy, job_, now_);
        move_nodes(copy);
        return is_served(decide(copy, policy_, at.value_or(now_)), copy.job(job_.id));
    }

    std::optional<Remedy> if_it_helps(Remedy remedy) {
        if (!helps(remedy)) return {};
        return remedy;
    }

    // Between a number that helps and one that does not; returns one that helps whose neighbour
    // does not. `with` makes the remedy of a number.
    template <typename With>
    Remedy closest(std::int64_t helping, std::int64_t failing, With&& with) {
        while (std::abs(helping - failing) > 1) {
            const std::int64_t middle = std::midpoint(helping, failing);
            (helps(with(middle)) ? helping : failing) = middle;
        }
        return with(helping);
    }

    std::optional<Remedy> resume() { return if_it_helps({.kind = RemedyKind::Resume}); }

    std::optional<Remedy> wait(const Plan& plan) {
        std::optional<model::TimePoint> at = plan.next_wakeup;
        for (int i = 0; i < kWakeupsTried && at && *at > now_; ++i) {
            if (--tries_ <= 0) return {};
            Cluster copy = cluster_;
            move_nodes(copy);
            const Plan later = decide(copy, policy_, *at);
            if (is_served(later, copy.job(job_.id))) {
                return Remedy{.kind = RemedyKind::Wait, .at = *at};
            }
            if (later.next_wakeup && *later.next_wakeup <= *at) return {};
            at = later.next_wakeup;
        }
        return {};
    }

    std::optional<Remedy> node_back() {
        int tried = 0;
        const auto nodes = cluster_.nodes();
        for (std::size_t i = 0; i < nodes.size() && tried < kNodesTried; ++i) {
            if (nodes[i].is_ready || !cluster_.allows(job_.shape, nodes[i].kind)) continue;
            const NodeId id{static_cast<NodeId::Rep>(i)};
            const Remedy remedy{.kind = RemedyKind::NodeBack, .name = cluster_.node_name(id)};
            ++tried;
            if (helps(remedy)) return remedy;
        }
        return {};
    }

    std::optional<Remedy> raise_bound() {
        const auto kind =
            verdict_.detail == "limit" ? RemedyKind::RaiseLimit : RemedyKind::RaiseQuota;
        return raise(kind, verdict_.scope, verdict_.bound, verdict_.used + verdict_.asks);
    }

    // So that it may take back what was lent.
    std::optional<Remedy> raise_quota() {
        const cluster::Claim& claim = cluster_.claim(pool_, job_.project);
        return raise(RemedyKind::RaiseQuota, cluster_.projects()[job_.project.index()].project.name,
                     claim.quota, claim.usage.allocated + verdict_.asks);
    }

    // `from` is what it has; `to` does unless others of the project come first.
    std::optional<Remedy> raise(RemedyKind kind, const std::string& project, MilliGpu from,
                                MilliGpu to) {
        if (to <= from) return {};
        const std::int64_t whole = base::kWholeGpu.value;
        const bool is_whole = from.value % whole == 0 && to.value % whole == 0;
        const std::int64_t unit =
            is_whole ? whole : std::gcd(std::gcd(from.value, to.value), whole);
        const auto with = [&](std::int64_t units) {
            return Remedy{.kind = kind, .name = project, .gpus = {units * unit}};
        };
        std::int64_t failing = from.value / unit;
        std::int64_t helping = to.value / unit;
        for (int i = 0; !helps(with(helping)); ++i) {
            if (i == kDoublings) return {};
            helping += std::exchange(failing, helping) == 0 ? 1 : verdict_.asks.value / unit << i;
        }
        return closest(helping, failing, with);
    }

    std::optional<Remedy> end_or_less() {
        if (auto found = jobs_end()) return found;
        return ask_less();
    }

    std::optional<Remedy> jobs_end() {
        Remedy remedy{.kind = RemedyKind::JobsEnd,
                      .jobs = jobs_to_end(cluster_, policy_, now_, verdict_)};
        if (remedy.jobs.empty() || remedy.jobs.size() > kRemedyJobsMax || !helps(remedy)) return {};
        for (std::size_t i = 0; i < remedy.jobs.size() && remedy.jobs.size() > 1;) {
            Remedy fewer = remedy;
            fewer.jobs.erase(fewer.jobs.begin() + static_cast<std::ptrdiff_t>(i));
            if (helps(fewer)) {
                remedy = std::move(fewer);
                i = 0;
            } else {
                ++i;
            }
        }
        return remedy;
    }

    std::optional<Remedy> ask_less() {
        const int gpus_each = cluster_.shape(job_.shape).request.gpus;
        const auto with_tasks = [&](std::int64_t tasks) {
            return Remedy{.kind = RemedyKind::AskLess,
                          .gpus = base::gpus(gpus_each),
                          .tasks = static_cast<int>(tasks)};
        };
        if (job_.active > 0 || job_.is_releasing()) return {};
        // How many tasks it has is said by its groups, if it has any.
        const bool has_groups = !cluster_.shape(job_.shape).groups.empty();
        if (job_.tasks_min > 1 && !has_groups && helps(with_tasks(1))) {
            return closest(1, job_.tasks_min, with_tasks);
        }
        const auto with_gpus = [&](std::int64_t gpus) {
            return Remedy{
                .kind = RemedyKind::AskLess, .gpus = base::gpus(gpus), .tasks = job_.tasks_min};
        };
        if (gpus_each < 2 || !helps(with_gpus(1))) return {};
        return closest(1, gpus_each, with_gpus);
    }

    std::optional<Remedy> apart() {
        const model::TopologyRequest& topology = cluster_.shape(job_.shape).topology;
        const bool is_bound = !topology.required.empty() ||
                              std::ranges::any_of(topology.groups, [](const auto& group) {
                                  return !group.level.empty();
                              });
        if (!is_bound || job_.active > 0 || job_.is_releasing()) return {};
        return if_it_helps({.kind = RemedyKind::Apart});
    }

    std::optional<Remedy> any_kind() {
        const cluster::Shape& shape = cluster_.shape(job_.shape);
        const bool is_any =
            shape.gpu_model.empty() && shape.labels.empty() && shape.filter.any_of.empty();
        if (is_any || job_.active > 0) return {};
        return if_it_helps({.kind = RemedyKind::AnyKind});
    }

    std::optional<Remedy> more_gpus() {
        const model::TaskRequest& request = cluster_.shape(job_.shape).request;
        const std::int64_t all = std::int64_t{request.gpus} * job_.ask();
        if (all < 1 || all > model::kGpusPerNodeMax) return {};
        if (!cluster_.resources().has_room_for(request.resources)) return {};
        const auto with = [&](std::int64_t gpus) {
            return Remedy{.kind = RemedyKind::MoreGpus,
                          .name = cluster_.pool(pool_).name,
                          .gpus = base::gpus(gpus)};
        };
        Cluster copy = cluster_;
        apply(copy, with(all), job_, now_);
        if (copy.nodes().back().pool != pool_ || !helps(with(all))) return {};
        return closest(all, 0, with);
    }

    const Cluster& cluster_;
    const model::Policy& policy_;
    model::TimePoint now_;
    const Verdict& verdict_;
    const Job& job_;
    base::PoolId pool_;
    int tries_;
};

}  // namespace

int tries_for(const cluster::Cluster& cluster) {
    const auto size = static_cast<std::int64_t>(cluster.jobs().size() + cluster.nodes().size());
    return static_cast<int>(std::clamp<std::int64_t>(kRemedyWork / (size + 1), 8, 64));
}

std::optional<Remedy> find_remedy(const cluster::Cluster& cluster, const model::Policy& policy,
                                  model::TimePoint now, const Verdict& verdict, int tries) {
    switch (verdict.reason) {
        case Reason::Invalid:
        case Reason::Dependency:
        case Reason::NotBefore:
        case Reason::WaitingForPause:
        case Reason::Starting: return {};
        default: return RemedySearch(cluster, policy, now, verdict, tries).run();
    }
}

model::Node added_node(const cluster::Cluster& cluster, const Remedy& remedy, const Job& job) {
    const cluster::Shape& shape = cluster.shape(job.shape);
    model::Node node;
    for (node.name = "new"; cluster.find_node(node.name).is_valid();) node.name += '+';
    node.gpus = static_cast<int>(remedy.gpus.value / base::kWholeGpu.value);
    node.gpu_model = shape.gpu_model.substr(0, shape.gpu_model.find('|'));
    node.gpu_memory = shape.request.gpu_memory;
    for (const auto& [name, amount] : shape.request.resources) {
        node.resources[name] = amount * model::kGpusPerNodeMax;
    }
    node.labels = shape.labels;
    const base::PoolId pool = cluster.find_pool(remedy.name);
    for (const auto& [label, value] : cluster.pool(pool).labels) {
        node.labels.insert_or_assign(label, value);
    }
    return node;
}

model::JobSpec asked_instead(const cluster::Cluster& cluster, const Remedy& remedy,
                             const Job& job) {
    const cluster::Shape& shape = cluster.shape(job.shape);
    model::JobSpec spec;
    spec.project = cluster.projects()[job.project.index()].project.name;
    spec.kind = job.kind;
    spec.priority = job.priority;
    spec.preemptible = job.preemptible;
    for (const base::PoolId pool : shape.pools) spec.pools.push_back(cluster.pool(pool).name);
    spec.tasks_min = job.tasks_min;
    spec.tasks_max = job.tasks_max;
    spec.request = shape.request;
    spec.gpu_model = shape.gpu_model;
    spec.node_labels = shape.labels;
    spec.node_filter = shape.filter;
    spec.tolerations = shape.tolerations;
    spec.topology = shape.topology;
    for (const cluster::Companions& kind : shape.companions) {
        const cluster::Shape& of_kind = cluster.shape(kind.shape);
        spec.companions.push_back({kind.name, kind.count, of_kind.request, of_kind.labels,
                                   of_kind.filter, of_kind.tolerations});
    }
    spec.placement = shape.placement;
    spec.tensor_skew_ppm = shape.tensor_skew_ppm;
    spec.elastic = job.elastic;
    if (job.min_run != cluster::kOfProject) spec.min_run = job.min_run;
    if (job.preemption_delay != cluster::kOfProject) spec.preemption_delay = job.preemption_delay;
    spec.restart_cost = job.restart_cost;
    if (job.declared_minutes() > 0) spec.expected_runtime = job.expected_runtime;
    if (remedy.kind == RemedyKind::AskLess) {
        if (spec.tasks_max == spec.tasks_min) spec.tasks_max = remedy.tasks;
        spec.tasks_min = remedy.tasks;
        spec.request.gpus = static_cast<int>(remedy.gpus.value / base::kWholeGpu.value);
    } else if (remedy.kind == RemedyKind::Apart) {
        spec.topology.required.clear();
        for (model::TaskGroup& group : spec.topology.groups) group.level.clear();
    } else {
        spec.gpu_model.clear();
        spec.node_labels.clear();
        spec.node_filter = {};
    }
    return spec;
}

}  // namespace berth::scheduling
