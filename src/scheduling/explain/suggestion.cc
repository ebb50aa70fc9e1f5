// SPDX-License-Identifier: Apache-2.0
#include "scheduling/explain/suggestion.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "scheduling/decide.h"
#include "scheduling/explain/blocking_jobs.h"

namespace berth::scheduling {
namespace {

using cluster::Cluster;
using cluster::Job;
using model::MilliGpu;
using model::Plan;
using model::Reason;
using model::Suggestion;
using model::SuggestionKind;
using model::Verdict;

constexpr int kNodesTried = 8;
constexpr int kDoublings = 3;
constexpr std::int64_t kSuggestionWork =
    1'000'000;  // jobs and nodes looked at by all tries together

bool is_served(const Plan& plan, const Job& job) {
    const bool is_dropped = std::ranges::find(plan.dropped, job.id) != plan.dropped.end();
    return std::ranges::find(plan.starts, job.id, &model::Start::job) != plan.starts.end() ||
           std::ranges::find(plan.reservations, job.id, &model::Reservation::job) !=
               plan.reservations.end() ||
           (job.reservation && !is_dropped);
}

void end_job(Cluster& cluster, JobId id) {
    std::vector<int> ranks;
    for (const auto& task : cluster.job(id).placed) ranks.push_back(task.place.task);
    cluster.vacate(id, ranks);
    if (cluster.job(id).reservation) cluster.drop_reservation(id);
    cluster.remove_job(id);
}

model::Entitlement& rights_of(model::Project& project, const std::string& pool) {
    if (pool == model::kDefaultPool) return project.rights;
    return project.pools.try_emplace(pool, model::rights_in(project, pool)).first->second;
}

// The job asks something else, and is otherwise as it was.
void change_request(Cluster& cluster, const Job& job, const model::JobSpec& spec) {
    const Job before = job;
    if (before.reservation) cluster.drop_reservation(before.id);
    cluster.remove_job(before.id);
    cluster.add_job(before.id, spec, before.created);
    cluster.set_paused(before.id, before.last_pause);
    cluster::note_attained(cluster, before.id, before.attained.gpu_ms, before.attained.counted);
    cluster.set_started(before.id, before.last_start);
}

// The change itself, on a copy.
void apply(Cluster& cluster, const Suggestion& suggestion, const Job& job,
           const model::JobSpec& spec, model::TimePoint now) {
    switch (suggestion.kind) {
        case SuggestionKind::Resume:
            cluster.set_waiting(job.id, now);
            return cluster.set_may_run(job.id, true);
        case SuggestionKind::NodeBack: {
            model::Node node = cluster.description(cluster.find_node(suggestion.name));
            node.health = model::NodeHealth::Ready;
            return cluster.set_node(node);
        }
        case SuggestionKind::RaiseLimit:
        case SuggestionKind::RaiseQuota: {
            const ProjectId id = cluster.find_project(suggestion.name);
            model::Project project = cluster.projects()[id.index()].project;
            const base::PoolId pool = cluster.pools_of(job).front();
            model::Entitlement& rights = rights_of(project, cluster.pool(pool).name);
            if (suggestion.kind == SuggestionKind::RaiseLimit) rights.limit = suggestion.gpus;
            if (suggestion.kind == SuggestionKind::RaiseQuota) rights.quota = suggestion.gpus;
            return cluster.set_project(project);
        }
        case SuggestionKind::JobsEnd:
            for (const JobId other : suggestion.jobs) end_job(cluster, other);
            return;
        case SuggestionKind::Apart:
        case SuggestionKind::AskLess:
        case SuggestionKind::AnyKind:
            return change_request(cluster, cluster.job(job.id), changed_request(suggestion, spec));
        case SuggestionKind::MoreGpus:
            return cluster.set_node(added_node(cluster, suggestion, job));
    }
}

class SuggestionSearch {
  public:
    SuggestionSearch(const Cluster& cluster, const model::Policy& policy, model::TimePoint now,
                     const Verdict& verdict, const model::JobSpec& spec, int tries)
        : cluster_(cluster),
          policy_(policy),
          now_(now),
          verdict_(verdict),
          spec_(spec),
          job_(cluster.job(verdict.job)),
          pool_(cluster.pools_of(job_).front()),
          tries_(tries) {}

    // What was not tried might have been cheaper or smaller: then nothing is said.
    std::optional<Suggestion> run() {
        Cluster copy = cluster_;
        if (is_served(decide_on(copy, policy_, now_), copy.job(job_.id))) return {};
        std::optional<Suggestion> found;
        for (const Try next : tries_against(verdict_.reason)) {
            if ((found = (this->*next)())) break;
        }
        return tries_ > 0 ? found : std::nullopt;
    }

  private:
    // What could help against each reason, the cheapest first.
    using Try = std::optional<Suggestion> (SuggestionSearch::*)();
    static std::vector<Try> tries_against(Reason reason) {
        using S = SuggestionSearch;
        switch (reason) {
            case Reason::Held:
            case Reason::Parked:
            case Reason::Paused: return {&S::resume};
            case Reason::NeverFits:
            case Reason::ModelMismatch:
                return {&S::apart, &S::ask_less, &S::any_kind, &S::more_gpus};
            case Reason::QuotaHard: return {&S::raise_bound, &S::jobs_end, &S::ask_less};
            case Reason::QuotaFair:
                return {&S::node_back, &S::raise_quota, &S::jobs_end, &S::ask_less, &S::more_gpus};
            default:
                return {&S::node_back, &S::apart,    &S::jobs_end,
                        &S::ask_less,  &S::any_kind, &S::more_gpus};
        }
    }

    bool helps(const Suggestion& suggestion) {
        if (--tries_ <= 0) return false;
        Cluster copy = cluster_;
        apply(copy, suggestion, job_, spec_, now_);
        return is_served(decide_on(copy, policy_, now_), copy.job(job_.id));
    }

    std::optional<Suggestion> if_it_helps(Suggestion suggestion) {
        if (!helps(suggestion)) return {};
        return suggestion;
    }

    // Between a number that helps and one that does not; returns one that helps whose neighbour
    // does not. `with` makes the suggestion of a number.
    template <typename With>
    Suggestion closest(std::int64_t helping, std::int64_t failing, With&& with) {
        while (std::abs(helping - failing) > 1) {
            const std::int64_t middle = std::midpoint(helping, failing);
            (helps(with(middle)) ? helping : failing) = middle;
        }
        return with(helping);
    }

    std::optional<Suggestion> resume() { return if_it_helps({.kind = SuggestionKind::Resume}); }

    std::optional<Suggestion> node_back() {
        int tried = 0;
        const auto nodes = cluster_.nodes();
        for (std::size_t i = 0; i < nodes.size() && tried < kNodesTried; ++i) {
            if (nodes[i].is_ready || !cluster_.allows(job_.shape, nodes[i].kind)) continue;
            const NodeId id{static_cast<NodeId::Rep>(i)};
            const Suggestion suggestion{.kind = SuggestionKind::NodeBack,
                                        .name = cluster_.node_name(id)};
            ++tried;
            if (helps(suggestion)) return suggestion;
        }
        return {};
    }

    std::optional<Suggestion> raise_bound() {
        const bool is_limit = verdict_.cause == model::Cause::LimitReached;
        return raise(is_limit ? SuggestionKind::RaiseLimit : SuggestionKind::RaiseQuota,
                     verdict_.scope, verdict_.bound, verdict_.used + verdict_.asks);
    }

    // So that it may take back what was lent.
    std::optional<Suggestion> raise_quota() {
        const cluster::Claim& claim = cluster_.claim(pool_, job_.project);
        return raise(SuggestionKind::RaiseQuota,
                     cluster_.projects()[job_.project.index()].project.name, claim.quota,
                     claim.usage.allocated + verdict_.asks);
    }

    // `from` is what it has; `to` does unless others of the project come first.
    std::optional<Suggestion> raise(SuggestionKind kind, const std::string& project, MilliGpu from,
                                    MilliGpu to) {
        if (to <= from) return {};
        const std::int64_t whole = base::kWholeGpu.value;
        const bool is_whole = from.value % whole == 0 && to.value % whole == 0;
        const std::int64_t unit =
            is_whole ? whole : std::gcd(std::gcd(from.value, to.value), whole);
        const auto with = [&](std::int64_t units) {
            return Suggestion{.kind = kind, .name = project, .gpus = {units * unit}};
        };
        const std::int64_t maximum = most_of(kind, cluster_.find_project(project)).value / unit;
        std::int64_t failing = from.value / unit;
        std::int64_t helping = std::min(to.value / unit, maximum);
        for (int i = 0; helping <= failing || !helps(with(helping)); ++i) {
            if (i == kDoublings || helping >= maximum) return {};
            const std::int64_t step = failing == 0 ? 1 : verdict_.asks.value / unit << i;
            failing = std::exchange(helping, std::min(helping + step, maximum));
        }
        return closest(helping, failing, with);
    }

    // No limit is raised above the machine, and no quota above what the quotas beside it leave, as
    // far as these are used by their owners.
    MilliGpu most_of(SuggestionKind kind, ProjectId project) const {
        const cluster::PoolState& pool = cluster_.pool(pool_);
        MilliGpu maximum = pool.exchange.empty() ? pool.capacity : pool.counted_capacity;
        if (kind == SuggestionKind::RaiseLimit) return maximum;
        const ProjectId parent = cluster_.projects()[project.index()].parent;
        if (parent != cluster::kRoot)
            maximum = std::min(maximum, cluster_.claim(pool_, parent).quota);
        for (const ProjectId sibling : cluster_.projects()[parent.index()].children) {
            const cluster::Claim& claim = cluster_.claim(pool_, sibling);
            if (sibling != project) maximum -= std::min(claim.quota, claim.usage.allocated);
        }
        return maximum;
    }

    std::optional<Suggestion> jobs_end() {
        Suggestion suggestion{.kind = SuggestionKind::JobsEnd,
                              .jobs = blocking_jobs(cluster_, policy_, now_, verdict_)};
        if (suggestion.jobs.empty() || suggestion.jobs.size() > kSuggestedJobsMax ||
            !helps(suggestion))
            return {};
        for (std::size_t i = 0; i < suggestion.jobs.size() && suggestion.jobs.size() > 1;) {
            Suggestion fewer = suggestion;
            fewer.jobs.erase(fewer.jobs.begin() + static_cast<std::ptrdiff_t>(i));
            if (helps(fewer)) {
                suggestion = std::move(fewer);
                i = 0;
            } else {
                ++i;
            }
        }
        return suggestion;
    }

    std::optional<Suggestion> ask_less() {
        const int gpus_each = cluster_.shape(job_.shape).request.gpus;
        const auto with_tasks = [&](std::int64_t tasks) {
            return Suggestion{.kind = SuggestionKind::AskLess,
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
            return Suggestion{
                .kind = SuggestionKind::AskLess, .gpus = base::gpus(gpus), .tasks = job_.tasks_min};
        };
        if (gpus_each < 2 || !helps(with_gpus(1))) return {};
        return closest(1, gpus_each, with_gpus);
    }

    std::optional<Suggestion> apart() {
        const model::TopologyRequest& topology = cluster_.shape(job_.shape).topology;
        const bool is_bound = !topology.required.empty() ||
                              std::ranges::any_of(topology.groups, [](const auto& group) {
                                  return !group.level.empty();
                              });
        if (!is_bound || job_.active > 0 || job_.is_releasing()) return {};
        return if_it_helps({.kind = SuggestionKind::Apart});
    }

    std::optional<Suggestion> any_kind() {
        const cluster::Shape& shape = cluster_.shape(job_.shape);
        const bool is_any =
            shape.gpu_model.empty() && shape.labels.empty() && shape.filter.any_of.empty();
        if (is_any || job_.active > 0) return {};
        return if_it_helps({.kind = SuggestionKind::AnyKind});
    }

    std::optional<Suggestion> more_gpus() {
        const model::TaskRequest& request = cluster_.shape(job_.shape).request;
        const std::int64_t all = std::int64_t{request.gpus} * job_.ask();
        if (all < 1 || all > model::kGpusPerNodeMax) return {};
        if (!cluster_.resources().has_room_for(request.resources)) return {};
        const auto with = [&](std::int64_t gpus) {
            return Suggestion{.kind = SuggestionKind::MoreGpus,
                              .name = cluster_.pool(pool_).name,
                              .gpus = base::gpus(gpus)};
        };
        Cluster copy = cluster_;
        apply(copy, with(all), job_, spec_, now_);
        if (copy.nodes().back().pool != pool_ || !helps(with(all))) return {};
        return closest(all, 0, with);
    }

    const Cluster& cluster_;
    const model::Policy& policy_;
    model::TimePoint now_;
    const Verdict& verdict_;
    const model::JobSpec& spec_;
    const Job& job_;
    base::PoolId pool_;
    int tries_;
};

}  // namespace

int tries_for(const cluster::Cluster& cluster) {
    const auto size = static_cast<std::int64_t>(cluster.jobs().size() + cluster.nodes().size());
    return static_cast<int>(std::clamp<std::int64_t>(kSuggestionWork / (size + 1), 8, 64));
}

std::optional<Suggestion> find_suggestion(const cluster::Cluster& cluster,
                                          const model::Policy& policy, model::TimePoint now,
                                          const Verdict& verdict, const model::JobSpec& spec,
                                          int tries) {
    const bool starts =
        verdict.reason == Reason::Starting || verdict.reason == Reason::WaitingForPause;
    if (starts) return {};
    return SuggestionSearch(cluster, policy, now, verdict, spec, tries).run();
}

model::Node added_node(const cluster::Cluster& cluster, const Suggestion& suggestion,
                       const Job& job) {
    const cluster::Shape& shape = cluster.shape(job.shape);
    model::Node node;
    for (node.name = "new"; cluster.find_node(node.name).is_valid();) node.name += '+';
    node.gpus = static_cast<int>(suggestion.gpus.value / base::kWholeGpu.value);
    node.gpu_model = shape.gpu_model.substr(0, shape.gpu_model.find('|'));
    node.gpu_memory = shape.request.gpu_memory;
    for (const auto& [name, amount] : shape.request.resources) {
        node.resources[name] = amount * model::kGpusPerNodeMax;
    }
    node.labels = shape.labels;
    const base::PoolId pool = cluster.find_pool(suggestion.name);
    for (const auto& [label, value] : cluster.pool(pool).labels) {
        node.labels.insert_or_assign(label, value);
    }
    return node;
}

model::JobSpec changed_request(const Suggestion& suggestion, model::JobSpec spec) {
    if (suggestion.kind == SuggestionKind::AskLess) {
        if (spec.tasks_max == spec.tasks_min) spec.tasks_max = suggestion.tasks;
        spec.tasks_min = suggestion.tasks;
        spec.request.gpus = static_cast<int>(suggestion.gpus.value / base::kWholeGpu.value);
    } else if (suggestion.kind == SuggestionKind::Apart) {
        spec.topology.required.clear();
        for (model::TaskGroup& group : spec.topology.groups) group.level.clear();
    } else if (suggestion.kind == SuggestionKind::AnyKind) {
        spec.gpu_model.clear();
        spec.node_labels.clear();
        spec.node_filter = {};
    }
    return spec;
}

}  // namespace berth::scheduling
