// SPDX-License-Identifier: Apache-2.0
//
// Jobs: their place in line, what their projects hold and want, and the changes of both.
#include <algorithm>
#include <utility>

#include "base/check.h"
#include "cluster/cluster.h"
#include "cluster/gang.h"
#include "cluster/regions.h"
#include "model/job/companions.h"
#include "model/job/packing.h"

namespace berth::cluster {
namespace {

// What tasks of the job count for.
Usage usage_of(const Cluster& cluster, const Job& job, std::span<const TaskPlacement> tasks) {
    Usage usage;
    for (const TaskPlacement& task : tasks) {
        usage.allocated += cluster.counted(task);
        usage.host += stated_by(cluster, job, task.task);
    }
    if (!job.preemptible) usage.not_preemptible = usage.allocated;
    if (!job.preemptible) usage.host_not_preemptible = usage.host;
    return usage;
}

// Adds to one project and everything above it.
void add_upwards(std::span<Claim> claims, std::span<const ProjectState> projects, ProjectId project,
                 const Usage& amount, std::int64_t sign) {
    for (ProjectId at = project; at.is_valid(); at = projects[at.index()].parent) {
        Usage& usage = claims[at.index()].usage;
        usage.allocated += amount.allocated * sign;
        usage.not_preemptible += amount.not_preemptible * sign;
        usage.pending += amount.pending * sign;
        usage.host += amount.host * sign;
    }
    if (amount.host_not_preemptible == HostAsk{}) return;  // of most jobs
    for (ProjectId at = project; at.is_valid(); at = projects[at.index()].parent) {
        claims[at.index()].usage.host_not_preemptible += amount.host_not_preemptible * sign;
    }
}

std::span<const TaskPlacement> single(const TaskPlacement& task) { return {&task, 1}; }

// Which ranks of a gang are meant; asked once for each of its tasks.
class RankSet {
  public:
    explicit RankSet(std::span<const int> ranks) : ranks_(ranks) {
        if (ranks.size() <= kFew) return;
        has_.resize(static_cast<std::size_t>(*std::ranges::max_element(ranks)) + 1);
        for (const int rank : ranks) has_[static_cast<std::size_t>(rank)] = true;
    }

    bool contains(int rank) const {
        if (ranks_.size() <= kFew) return std::ranges::find(ranks_, rank) != ranks_.end();
        return static_cast<std::size_t>(rank) < has_.size() && has_[static_cast<std::size_t>(rank)];
    }

  private:
    static constexpr std::size_t kFew = 8;
    std::span<const int> ranks_;
    base::SmallVector<bool, 256> has_;
};

// The host memory that the processes of a frozen job take.
void count_kept(std::vector<NodeState>& nodes, const Job& job, std::int64_t sign) {
    const Pinned pinned = job.pinned_apart();
    if (pinned.node.is_valid()) nodes[pinned.node.index()].memory.used += pinned.memory() * sign;
}

void count_cpu_only(PoolState& pool, const Shape& shape, ProjectId project, int sign) {
    if (shape.request.gpus > 0) return;
    pool.cpu_only_victims += sign;
    pool.claims[project.index()].cpu_only_victims += sign;
}

void count_running(Job& job, const TaskPlacement& task, int sign) {
    if (!job.is_companion(task.task)) {
        job.active += sign;
        return;
    }
    job.companions = static_cast<std::int16_t>(job.companions + sign);
    job.lacking_companions = static_cast<std::int16_t>(job.lacking_companions - sign);
}

void stamp_promised(std::vector<NodeState>& nodes, const Job& job) {
    if (!job.reservation) return;
    for (const TaskPlacement& task : job.reservation->tasks) ++nodes[task.node.index()].stamp;
}

JobClassKey class_of(const Cluster& cluster, const Job& job, PoolId pool) {
    const Shape& shape = cluster.shape(job.shape);
    const std::vector<PoolId>& pools = shape.pools;
    const auto position = std::ranges::find(pools, pool);
    const bool is_open = job.active == 0 && position != pools.end();
    JobClassKey key{job.queue_priority(),
                    job.gang_phase(),
                    job.shape,
                    job.ask(),
                    job.preemptible,
                    is_open ? int(position - pools.begin()) : 0,
                    job.preemption_delay,
                    0,
                    {},
                    job.declared_minutes()};
    const Region at = cluster::bound_region(cluster, job);
    // Where each of its groups has to stay is its own affair.
    const bool has_homes = job.active > 0 && !shape.groups.empty();
    // And which of its companions run.
    const bool lacks_some = job.is_short() && job.has_companions();
    const bool is_pinned = job.pinned.node.is_valid();
    if (job.grows_by_restart() || has_homes || lacks_some || is_pinned) key.singleton = job.id;
    key.bound_region = at.node.is_valid() ? at.node.value + 1 : at.domain.value;
    return key;
}

}  // namespace

const Job& Cluster::job(JobId id) const {
    const Job* found = find_job(id);
    BERTH_CHECK(found != nullptr, "the job is known");
    return *found;
}

Job& Cluster::mutable_job(JobId id) {
    Job* found = jobs_.get(id);
    BERTH_CHECK(found != nullptr, "the job is known");
    return *found;
}

void Cluster::add_usage(PoolId pool, ProjectId project, const Usage& amount, std::int64_t sign) {
    add_upwards(pools_[pool.index()].claims, projects_, project, amount, sign);
}

MilliGpu Cluster::counted(const TaskPlacement& task) const {
    const MilliGpu gpus = task.gpus();
    const NodeState& node = nodes_[task.node.index()];
    return {gpus.value * pools_[node.pool.index()].weight_of(node) / 1000};
}

void Cluster::recount() {
    for (PoolState& pool : pools_) {
        for (Claim& claim : pool.claims) claim.usage = {};
    }
    for (const auto& [id, job] : jobs_) {
        count_pending(job, +1);
        for (const PlacedTask& task : job.placed) {
            if (!task.is_releasing) add_allocated(job, single(task.place), +1);
        }
        if (job.reservation) add_allocated(job, job.reservation->tasks, +1);
    }
}

void Cluster::add_allocated(const Job& job, std::span<const TaskPlacement> tasks,
                            std::int64_t sign) {
    add_usage(job.pool, job.project, usage_of(*this, job, tasks), sign);
}

std::span<const PoolId> Cluster::pools_wanted(const Job& job) const {
    const bool is_settled = job.pool.is_valid() && (job.active > 0 || job.reservation.has_value());
    return is_settled ? std::span<const PoolId>(&job.pool, 1) : pools_of(job);
}

void Cluster::count_pending(const Job& job, std::int64_t sign) {
    if (!job.may_run) return;
    for (const PoolId pool : pools_wanted(job)) {
        const MilliGpu pending = pending_gpus(*this, job, pool);
        if (pending > MilliGpu{0}) add_usage(pool, job.project, {{}, {}, pending, {}}, sign);
    }
}

void Cluster::dequeue(const Job& job) {
    count_kept(nodes_, job, -1);
    stamp_promised(nodes_, job);
    count_pending(job, -1);
    if (job.is_waiting()) {
        for (const PoolId pool : pools_wanted(job)) {
            Claim& claim = pools_[pool.index()].claims[job.project.index()];
            const auto job_class = claim.queue.find(class_of(*this, job, pool));
            job_class->second.erase({job.created, job.id});
            if (job_class->second.empty()) free_classes_.close(claim.queue, job_class);
            claim.queue_stamp = ++last_stamp_;
        }
    }
    if (job.is_victim()) {
        pools_[job.pool.index()].claims[job.project.index()].victims.erase(victim_key(job));
        count_cpu_only(pools_[job.pool.index()], shape(job.shape), job.project, -1);
        count_loss(job, -1);
    }
}

void Cluster::enqueue(const Job& job) {
    count_kept(nodes_, job, +1);
    stamp_promised(nodes_, job);
    count_pending(job, +1);
    if (job.is_waiting()) {
        for (const PoolId pool : pools_wanted(job)) {
            Claim& claim = pools_[pool.index()].claims[job.project.index()];
            free_classes_.at(claim.queue, class_of(*this, job, pool)).insert({job.created, job.id});
            claim.queue_stamp = ++last_stamp_;
        }
    }
    if (job.is_victim()) {
        pools_[job.pool.index()].claims[job.project.index()].victims.insert(victim_key(job));
        count_cpu_only(pools_[job.pool.index()], shape(job.shape), job.project, +1);
        count_loss(job, +1);
    }
}

void Cluster::change(JobId id, auto&& change) {
    Job& job = mutable_job(id);
    const bool is_real = open_trials_ == 0;
    if (is_real) count_attained(*this, id);
    const bool had_reservation = job.reservation.has_value();
    dequeue(job);
    change(job);
    job.lacking = lacking(shape(job.shape), job);
    if (job.placed.empty() && !job.reservation) job.pool = {};
    if (job.placed.empty()) {
        job.fresh_tasks = 0;
        undo_.take_memory_of(job.placed);
    }
    if (had_reservation && !job.reservation) reserved_jobs_.erase(id);
    if (!had_reservation && job.reservation) reserved_jobs_.insert(id);
    enqueue(job);
    if (is_real) settle_rank(*this, id);
}

void Cluster::count_loss(const Job& job, int sign) {
    Losses& losses = pools_[job.pool.index()].claims[job.project.index()].losses;
    const auto in_trial = open_trials_ > 0 ? LossBook::InTrial::Yes : LossBook::InTrial::No;
    loss_book_.count(losses, shape(job.shape), job, sign, in_trial);
}

// Nothing but what its pause would destroy.
void Cluster::change_loss(JobId id, auto&& change) {
    BERTH_CHECK(open_trials_ == 0, "jobs do not start or save inside a trial");
    Job& job = mutable_job(id);
    if (job.is_victim()) count_loss(job, -1);
    change(job);
    if (job.is_victim()) count_loss(job, +1);
}

void Cluster::touch(NodeId node) {
    ++nodes_[node.index()].stamp;
    note_work(node);
}

void Cluster::set_attained(JobId id, const Attained& attained, Rank rank) {
    BERTH_CHECK(open_trials_ == 0, "ranks do not change inside a trial");
    Job& job = mutable_job(id);
    job.attained = attained;
    if (job.rank == rank) return;
    dequeue(job);
    job.rank = rank;
    enqueue(job);
    for (const auto& task : job.placed) changed_.ranks.add(task.place.node, 2 * nodes_.size());
}

void Cluster::add_job(JobId id, const model::JobSpec& spec, TimePoint created,
                      const Origin& origin) {
    BERTH_CHECK(open_trials_ == 0, "jobs do not arrive inside a trial");
    Job job = job_of(id, spec, created);
    job.project = find_project(spec.project);
    Shape shape{model::asked(spec), spec.gpu_model, spec.node_labels, {}, {}};
    for (const std::string& name : spec.pools) shape.pools.push_back(find_pool(name));
    if (shape.pools.empty()) shape.pools.push_back({0});
    shape.filter = spec.node_filter;
    shape.tolerations = spec.tolerations;
    shape.topology = spec.topology;
    shape.placement = spec.placement;
    shape.may_share = spec.may_share;
    shape.tensor_skew_ppm = spec.tensor_skew_ppm.value_or(0);
    resolve_levels(*this, shape);
    for (int first = spec.tasks_max; const model::Companion& kind : spec.companions) {
        Shape of_kind{kind.request, kind.gpu_model, kind.node_labels, shape.pools, {}};
        of_kind.filter = kind.node_filter;
        of_kind.tolerations = kind.tolerations;
        shape.companions.push_back({first, kind.count, intern(std::move(of_kind)), kind.name});
        first += kind.count;
    }
    BERTH_CHECK(job.project.is_valid() && std::ranges::all_of(shape.pools, &PoolId::is_valid),
                "a job names a project and pools that exist");
    job.shape = intern(std::move(shape));
    if (job.min_run != kOfProject) ++minimum_runs_;
    enqueue(jobs_.emplace(id, std::move(job)));
    enter_ranks(*this, id,
                ordering::likenesses_of(spec.project, origin.user, spec.name, origin.command));
}

void Cluster::set_request(JobId id, const model::TaskRequest& request) {
    BERTH_CHECK(open_trials_ == 0 && !job(id).reservation, "requests do not change in a trial");
    Shape other = shape(job(id).shape);
    other.request = request;
    const ShapeId shape = intern(std::move(other));
    change(id, [&](Job& job) {
        for (const PlacedTask& task : job.placed) add_allocated(job, single(task.place), -1);
        const ShapeId before = std::exchange(job.shape, shape);
        for (PlacedTask& task : job.placed) {
            BERTH_CHECK(!task.is_releasing, "a task that leaves stays what it is");
            const int rank = task.place.task;
            if (job.is_companion(rank)) {
                add_allocated(job, single(task.place), +1);
                continue;
            }
            change_task(before, task.place, Use::Used, -1);
            touch(task.place.node);
            task.place = task_on(shape, task.place.node, task.place.gpu_mask);
            task.place.task = rank;
            change_task(shape, task.place, Use::Used, +1);
            add_allocated(job, single(task.place), +1);
        }
    });
}

void Cluster::set_size(JobId id, int tasks_min, int tasks_max) {
    const Job& known = job(id);
    BERTH_CHECK(open_trials_ == 0 && !known.reservation && !known.is_releasing(),
                "the size of a job changes while nothing of it comes or goes");
    const int shift = tasks_max - known.tasks_max;
    ShapeId shape = known.shape;
    if (known.has_companions()) {
        Shape other = this->shape(shape);
        for (Companions& kind : other.companions) kind.first += shift;
        shape = intern(std::move(other));
    }
    Ranks ranks = known.ranks();
    std::ranges::sort(ranks);
    change(id, [&](Job& job) {
        for (PlacedTask& task : job.placed) {
            int& rank = task.place.task;
            note_work(task.place.node);
            const auto position = std::ranges::lower_bound(ranks, rank) - ranks.begin();
            rank = job.is_companion(rank) ? rank + shift : static_cast<int>(position);
        }
        job.shape = shape;
        job.tasks_min = tasks_min;
        job.tasks_max = tasks_max;
    });
}

void Cluster::remove_job(JobId id) {
    BERTH_CHECK(open_trials_ == 0, "jobs do not end inside a trial");
    const Job& job = this->job(id);
    leave_ranks(*this, id);
    dequeue(job);
    for (const PlacedTask& task : job.placed) vacate(job, task);
    if (job.reservation) {
        for (const TaskPlacement& task : job.reservation->tasks) {
            change_task(job.shape, task, Use::Held, -1);
        }
        add_allocated(job, job.reservation->tasks, -1);
        reserved_jobs_.erase(id);
    }
    history_.stale.erase(id);
    undo_.take_memory_of(mutable_job(id).placed);
    const ProjectId project = job.project;
    if (job.min_run != kOfProject) --minimum_runs_;
    jobs_.erase(id);
    count_held(*this, project);
    settle_others();
}

void Cluster::set_may_run(JobId id, bool may_run, bool is_parked) {
    change(id, [&](Job& job) {
        job.may_run = may_run;
        job.is_parked = is_parked;
    });
}

void Cluster::set_started(JobId id, TimePoint time) {
    const auto start = [&](Job& job) {
        job.last_start = job.last_saved = time;
        job.fresh_tasks = 0;
    };
    // Whether it has fresh tasks matters to what a job asks that grows by restarts, to no other.
    job(id).elastic == model::Elastic::Restart ? change(id, start) : change_loss(id, start);
    for (const PlacedTask& task : job(id).placed) touch(task.place.node);
    settle_rank(*this, id);
}

void Cluster::set_saved(JobId id, TimePoint time, bool when_asked) {
    change_loss(id, [&](Job& job) {
        job.last_saved = time;
        job.saves_when_asked = when_asked;
    });
    for (const PlacedTask& task : job(id).placed) note_work(task.place.node);
}

void Cluster::set_paused(JobId id, TimePoint time) {
    mutable_job(id).last_pause = time;
    settle_rank(*this, id);
}

void Cluster::set_waiting(JobId id, TimePoint since) {
    mutable_job(id).waiting_since = since;
    settle_rank(*this, id);
}

void Cluster::set_pinned(JobId id, Pinned pinned) {
    BERTH_CHECK(open_trials_ == 0, "processes are not kept inside a trial");
    if (!job(id).pinned.node.is_valid() && !pinned.node.is_valid()) return;
    change(id, [&](Job& job) { job.pinned = pinned; });
}

void Cluster::leave_node(JobId id, NodeId node) {
    std::vector<JobId>& jobs = jobs_on_[node.index()];
    const auto last = std::ranges::find(jobs.rbegin(), jobs.rend(), id);
    BERTH_CHECK(last != jobs.rend(), "a task stands on its node");
    jobs.erase(last.base() - 1);
    touch(node);
}

void Cluster::vacate(JobId id, std::span<const int> ranks) {
    BERTH_CHECK(open_trials_ == 0, "tasks do not end inside a trial");
    const RankSet leaving(ranks);
    change(id, [&](Job& job) {
        std::erase_if(job.placed, [&](const PlacedTask& task) {
            if (!leaving.contains(task.place.task)) return false;
            vacate(job, task);
            if (!task.is_releasing) count_running(job, task.place, -1);
            return true;
        });
    });
    settle_others();
}

void Cluster::vacate(const Job& job, const PlacedTask& task) {
    leave_node(job.id, task.place.node);
    change_task(job.shape, task.place, task.is_releasing ? Use::Releasing : Use::Used, -1);
    if (!task.is_releasing) add_allocated(job, single(task.place), -1);
}

namespace {

// A record may be of a time when the node did not say how much memory its GPUs have, or when it was
// not counted.
TaskPlacement with_memory(const Cluster& cluster, TaskPlacement task) {
    if (task.share == base::kWholeGpu || task.gpu_memory != base::Bytes{0}) return task;
    const std::int64_t memory = cluster.whole_gpu(task.node).memory.value;
    task.gpu_memory = {memory / 1000 * task.share.value};
    return task;
}

}  // namespace

void Cluster::place(JobId id, PoolId pool, std::span<const TaskPlacement> tasks) {
    Undo undo{Undo::What::Place, id, job(id).pool};
    undo.count = tasks.size();
    let_others_yield(tasks);
    change(id, [&](Job& job) {
        job.pool = pool;
        job.fresh_tasks += static_cast<int>(tasks.size());
        undo_.give_memory_to(job.placed);
        for (const TaskPlacement& task : tasks) {
            job.placed.push_back({with_memory(*this, task), false});
            change_task(job.shape, job.placed.back().place, Use::Used, +1);
            jobs_on_[task.node.index()].push_back(id);
            touch(task.node);
            count_running(job, task, +1);
        }
        add_allocated(job, tasks, +1);
    });
    record(undo);
    settle_others();
}

void Cluster::release(JobId id, std::span<const int> ranks) {
    const RankSet leaving(ranks);
    Undo undo{Undo::What::Release, id, job(id).pool};
    undo.first = undo_.ranks.size();
    change(id, [&](Job& job) {
        for (PlacedTask& task : job.placed) {
            if (task.is_releasing || !leaving.contains(task.place.task)) continue;
            set_releasing(job, task, true);
            if (open_trials_ > 0) undo_.ranks.push_back(task.place.task);
        }
    });
    undo.count = undo_.ranks.size() - undo.first;
    record(undo);
    settle_others();
}

void Cluster::undo_release(Job& job, const Undo& entry) {
    const std::span<const int> ranks(undo_.ranks);
    const RankSet staying(ranks.subspan(entry.first, entry.count));
    for (PlacedTask& task : job.placed) {
        if (staying.contains(task.place.task)) set_releasing(job, task, false);
    }
    undo_.ranks.resize(entry.first);
}

void Cluster::set_releasing(Job& job, PlacedTask& task, bool releasing) {
    const std::int64_t sign = releasing ? +1 : -1;
    // Freed before taken again, so that no GPU is counted twice on the way.
    change_task(job.shape, task.place, releasing ? Use::Used : Use::Releasing, -1);
    change_task(job.shape, task.place, releasing ? Use::Releasing : Use::Used, +1);
    add_allocated(job, single(task.place), -sign);
    count_running(job, task.place, releasing ? -1 : +1);
    task.is_releasing = releasing;
    touch(task.place.node);
}

void Cluster::reserve(JobId id, PoolId pool, std::span<const TaskPlacement> tasks,
                      TimePoint deadline, model::Rule rule) {
    const Undo undo{Undo::What::Hold, id, job(id).pool};
    let_others_yield(tasks);
    change(id, [&](Job& job) {
        job.pool = pool;
        Reservation& reservation = job.reservation.emplace(Reservation{{}, deadline, rule});
        if (!undo_.free_tasks.empty()) {
            reservation.tasks = std::move(undo_.free_tasks.back());
            undo_.free_tasks.pop_back();
        }
        reservation.tasks.assign(tasks.begin(), tasks.end());
        for (TaskPlacement& task : reservation.tasks) {
            task = with_memory(*this, task);
            change_task(job.shape, task, Use::Held, +1);
        }
        add_allocated(job, reservation.tasks, +1);
    });
    record(undo);
    settle_others();
}

void Cluster::drop_reservation(JobId id) {
    const Undo undo{Undo::What::DropHold, id, job(id).pool};
    change(id, [&](Job& job) {
        for (const TaskPlacement& task : job.reservation->tasks) {
            change_task(job.shape, task, Use::Held, -1);
        }
        add_allocated(job, job.reservation->tasks, -1);
        open_trials_ > 0 ? undo_.reservations.push_back(std::move(*job.reservation))
                         : undo_.free_tasks.push_back(std::move(job.reservation->tasks));
        job.reservation.reset();
    });
    record(undo);
    settle_others();
}

void Cluster::undo(const Undo& entry) {
    if (entry.what == Undo::What::Others) return undo_others();
    if (entry.what == Undo::What::Take || entry.what == Undo::What::GiveBack) {
        change_task(entry.shape, undo_.tasks.back(),
                    entry.view == View::Idle ? Use::Used : Use::Held,
                    entry.what == Undo::What::Take ? -1 : +1);
        undo_.tasks.pop_back();
        return;
    }
    change(entry.job, [&](Job& job) {
        switch (entry.what) {
            case Undo::What::Place:
                for (std::size_t i = 0; i < entry.count; ++i) {
                    change_task(job.shape, job.placed.back().place, Use::Used, -1);
                    leave_node(job.id, job.placed.back().place.node);
                    add_allocated(job, single(job.placed.back().place), -1);
                    count_running(job, job.placed.back().place, -1);
                    job.placed.pop_back();
                }
                job.pool = entry.pool;
                job.fresh_tasks -= static_cast<int>(entry.count);
                break;
            case Undo::What::Release: undo_release(job, entry); break;
            case Undo::What::Hold:
                for (const TaskPlacement& task : job.reservation->tasks) {
                    change_task(job.shape, task, Use::Held, -1);
                }
                add_allocated(job, job.reservation->tasks, -1);
                undo_.free_tasks.push_back(std::move(job.reservation->tasks));
                job.reservation.reset();
                job.pool = entry.pool;
                break;
            case Undo::What::DropHold:
                job.reservation = std::move(undo_.reservations.back());
                undo_.reservations.pop_back();
                job.pool = entry.pool;
                for (const TaskPlacement& task : job.reservation->tasks) {
                    change_task(job.shape, task, Use::Held, +1);
                }
                add_allocated(job, job.reservation->tasks, +1);
                break;
            case Undo::What::Take:
            case Undo::What::GiveBack:
            case Undo::What::Others: break;
        }
    });
}

}  // namespace berth::cluster
