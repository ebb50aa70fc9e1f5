// SPDX-License-Identifier: Apache-2.0
//
// A busy cluster over time: ten jobs for each node, most of their GPUs in use, 50 projects in 10
// departments. Each sample is one event (a job arrives, a job ends, paused tasks have left) with
// everything it sets off: the event is applied, a decision is taken, and its plan is applied.
// The jobs that wait at first have run before, and long: under tiers all others go first. What the
// first decision sets off, quotas that are claimed, is over before anything is measured, and twenty
// times a part of what follows is measured.
//
// Two mixes of jobs: `steady-state` asks for GPUs as the jobs of the Philly trace do,
// `steady-state-gangs` has twenty shapes and many more gangs, up to 128 GPUs.
// `steady-state-backlog` is the first with a hundred jobs for each node, nine in ten of which wait.
#include <span>

#include "base/rng.h"
#include "bench/decide/measure.h"
#include "bench/decide/world.h"
#include "scheduling/decide.h"

namespace berth::bench {
namespace {

constexpr int kProjects = 50;
constexpr int kDepartments = 10;
constexpr int kEvents = 2000;
constexpr int kWindows = 20;
// Until then wide jobs gather in the line: few of them find a node that is not kept.
constexpr int kWarmUpOfNode = 40;
constexpr int kWarmUpMin = 20000;
constexpr std::int64_t kBetweenEventsMs = 200;

struct JobShape {
    int weight;  // how often it occurs
    int gpus;
    std::int64_t share;
    int tasks;
    int tasks_max;
    model::JobKind kind = model::JobKind::Train;
};

// GPUs by job in the Philly trace (M. Jeon et al., USENIX ATC 2019; 82,247 jobs), in parts of ten
// thousand: 9,317 of one, 221 of two, 227 of four, 201 of eight, 25 of sixteen, 9 of more. The
// trace does not say who was interactive: one in twenty here, and one in thirty serves.
constexpr JobShape kPhilly[] = {
    {8517, 1, 1000, 1, 1},
    {500, 1, 1000, 1, 1, model::JobKind::Build},
    {300, 1, 1000, 1, 1, model::JobKind::Inference},
    {221, 2, 1000, 1, 1},
    {227, 4, 1000, 1, 1},
    {201, 8, 1000, 1, 1},
    {25, 8, 1000, 2, 2},
    {8, 8, 1000, 4, 4},
    {1, 8, 1000, 8, 8},
};

// A third of the jobs on several GPUs, elastic ones, shares of a GPU, and a long tail of gangs.
constexpr JobShape kGangs[] = {
    {30, 1, 1000, 1, 1},
    {8, 1, 1000, 1, 4},
    {10, 2, 1000, 1, 1},
    {10, 4, 1000, 1, 1},
    {10, 8, 1000, 1, 1},
    {3, 8, 1000, 2, 2},
    {2, 8, 1000, 4, 4},
    {1, 8, 1000, 8, 8},
    {1, 8, 1000, 16, 16},
    {2, 4, 1000, 2, 2},
    {2, 2, 1000, 4, 4},
    {2, 1, 1000, 8, 8},
    {1, 1, 1000, 16, 32},
    {4, 1, 500, 1, 1},
    {4, 1, 250, 1, 1},
    {2, 1, 100, 1, 1},
    {3, 1, 1000, 1, 1, model::JobKind::Build},
    {2, 1, 500, 1, 1, model::JobKind::Build},
    {1, 2, 1000, 1, 1, model::JobKind::Inference},
    {2, 1, 1000, 4, 4, model::JobKind::Inference},
};

// Two programs that print the same number for the same run decided the same, all along.
class Checksum {
  public:
    void add(const model::Plan& plan) {
        for (const model::Start& start : plan.starts) add(start.job, start.tasks);
        for (const model::Reservation& one : plan.reservations) add(one.job, one.tasks);
        for (const model::Pause& pause : plan.pauses) {
            add(pause.job);
            for (const int rank : pause.tasks) add(static_cast<std::uint64_t>(rank));
            add(static_cast<std::uint64_t>(pause.cost.unsaved_gpu_ms));
        }
        for (const model::JobId job : plan.dropped) add(job);
        if (plan.next_wakeup) wakeups_ ^= base::to_ms(*plan.next_wakeup) + wakeups_ * 31;
    }
    std::int64_t wakeups() const { return wakeups_; }
    std::int64_t value() const { return static_cast<std::int64_t>(sum_ >> 1); }

  private:
    void add(std::uint64_t word) { sum_ = (sum_ ^ word) * 0x100000001b3; }
    void add(model::JobId job) { add(static_cast<std::uint64_t>(job.value)); }
    void add(model::JobId job, const std::vector<model::TaskPlacement>& tasks) {
        add(job);
        for (const model::TaskPlacement& task : tasks) {
            add(task.node.value);
            add(task.gpu_mask);
        }
    }

    std::int64_t wakeups_ = 0;
    std::uint64_t sum_ = 0xcbf29ce484222325;
};

class Busy {
  public:
    Busy(Run& run, std::span<const JobShape> shapes, int jobs_of_node = 10)
        : run_(run), shapes_(shapes), world_(run.nodes) {
        const std::int64_t capacity = std::int64_t{run.nodes} * kGpusPerNode;
        for (int i = 0; i < kDepartments; ++i) world_.add_project(department(i), capacity / 10);
        for (int i = 0; i < kProjects; ++i) {
            world_.add_project(project(i), capacity / kProjects, department(i % kDepartments));
        }
        for (const JobShape& shape : shapes_) weights_ += shape.weight;
        for (int i = 0; i < run.nodes * jobs_of_node; ++i) arrive(dice_.between(0, kNowMs / 2));
        now_ms_ = kNowMs / 2;
        decide();
        // Those who run have done so for a while: minimum runs are over, work is unsaved.
        now_ms_ = kNowMs;
        for (auto&& [id, job] : world_.state.jobs) {
            if (!job.tasks.empty()) continue;
            world_.has_run_before(id);
        }
        while (!leaving_.empty()) step();
        for (int i = 0; i < warm_up() / 2; ++i) step();
    }

    // Whether a decision is to ask for no memory but its plan's, in a pool of some size: in a small
    // one there are more promises and searches for moves in a decision.
    void measure(bool expects_none) {
        std::vector<std::int64_t> samples;
        const int events = run_.samples_max > 0 ? run_.samples_max : kEvents;
        samples.reserve(static_cast<std::size_t>(events));
        const int windows = std::min(kWindows, events);
        std::int64_t made = 0;
        // What waits differs from hour to hour, and an event of one costs twice that of another.
        for (int window = 0; window < windows; ++window) {
            for (int i = 0; i < warm_up() / 2 / windows; ++i) step();
            // A new belief about many jobs at once has thousands of them leave: while they do,
            // nothing else happens, and events are cheaper than most.
            while (!leaving_.empty()) step();
            is_measured_ = true;
            const std::int64_t before = allocations();
            while (std::ssize(samples) < events * (window + 1) / windows)
                samples.push_back(run_.timed([this] { step(); }));
            made += allocations() - before;
            is_measured_ = false;
        }
        made -= copied_;
        run_.print_times("one event", 1, samples);
        run_.print_number("allocations of an event", "allocations", made / events);
        run_.print_number("allocations of 1000 decisions, their plans left aside", "allocations",
                          asked_ * 1000 / events);
        run_.print_number("decisions of 1000 that ask for memory but their plans'", "decisions",
                          asking_ * 1000 / events);
        if (expects_none && run_.nodes >= 1000 && events >= kWarmUpMin / 20) {
            run_.expect(asked_ < events, "decisions at rest that ask for no memory");
        }
        run_.print_number("jobs", "jobs", std::ssize(world_.state.jobs));
        run_.print_number("starts", "jobs", starts_);
        run_.print_number("pauses", "jobs", pauses_);
        const auto& pool = world_.state.cluster.pool({0});
        run_.print_number("idle", "GPUs", pool.free_total[0].value / 1000);
        run_.print_number("plans", "checksum", plans_.value());
        run_.print_number("wake-ups", "checksum", plans_.wakeups());
    }

  private:
    int warm_up() const { return std::max(kWarmUpMin, kWarmUpOfNode * run_.nodes); }
    static std::string department(int i) { return "department" + std::to_string(i); }
    static std::string project(int i) { return "project" + std::to_string(i); }

    // A few projects submit most of the work.
    int busy_project() { return static_cast<int>(dice_.index(1 + dice_.index(kProjects))); }

    const JobShape& any_shape() {
        std::int64_t at = dice_.between(1, weights_);
        for (const JobShape& shape : shapes_) {
            if ((at -= shape.weight) <= 0) return shape;
        }
        return shapes_.front();
    }

    void arrive(std::int64_t time_ms) {
        const JobShape& shape = any_shape();
        model::JobSpec spec = world_.spec(project(busy_project()), shape.gpus, shape.tasks);
        spec.tasks_max = shape.tasks_max;
        spec.request.share = model::MilliGpu{shape.share};
        spec.kind = shape.kind;
        spec.priority = model::default_priority(shape.kind);
        spec.preemptible = shape.kind == model::JobKind::Train;
        world_.submit(spec, time_ms);
    }

    void decide() {
        const model::TimePoint now = base::at_ms(now_ms_);
        // A job whose rank has changed since moves to another job class, which may be new.
        cluster::keep_ranks(world_.state.cluster, run_.policy.order, now);
        const std::int64_t before = allocations();
        const model::Plan plan =
            scheduling::decide(world_.state.cluster, run_.policy, now, memory_);
        const std::int64_t after = allocations();
        const model::Plan copy = plan;
        const std::int64_t copied = allocations() - after;
        if (is_measured_) {
            copied_ += copied;
            asked_ += after - before - copied;
            asking_ += after - before > copied;
            starts_ += std::ssize(plan.starts);
            pauses_ += std::ssize(plan.pauses);
        }
        plans_.add(plan);
        world_.carry_out(plan, run_.policy, now);
        for (const model::Start& start : plan.starts) running_.push_back(start.job);
        for (const model::Pause& pause : plan.pauses) leaving_.push_back(pause.job);
        for (const model::Move& move : plan.moves) leaving_.push_back(move.job);
    }

    // A job that runs and is not leaving; those that are not are forgotten on the way.
    model::JobId take_running() {
        while (true) {
            const std::size_t at = dice_.index(running_.size());
            const model::JobId id = running_[at];
            running_[at] = running_.back();
            running_.pop_back();
            const auto found = world_.state.jobs.find(id);
            if (found != world_.state.jobs.end() &&
                found->second.state == model::JobState::Running) {
                return id;
            }
        }
    }

    void step() {
        now_ms_ += kBetweenEventsMs;
        const model::TimePoint now = base::at_ms(now_ms_);
        if (!leaving_.empty()) {
            const model::JobId id = leaving_.back();
            leaving_.pop_back();
            const auto found = world_.state.jobs.find(id);
            if (found == world_.state.jobs.end() || found->second.releasing.empty()) return;
            world_.apply(now, model::JobPaused{id, true});
        } else if (turn_ = !turn_; turn_) {
            arrive(now_ms_);
        } else {
            world_.apply(now,
                         model::JobFinished{take_running(), model::JobState::Succeeded, 0, {}});
        }
        decide();
    }

    Run& run_;
    std::span<const JobShape> shapes_;
    World world_;
    scheduling::DecisionCache memory_;  // as the server keeps one
    base::Rng dice_{11};
    int weights_ = 0;
    std::int64_t now_ms_ = 0;
    bool turn_ = false;
    std::vector<model::JobId> running_;
    std::vector<model::JobId> leaving_;
    bool is_measured_ = false;
    std::int64_t asking_ = 0;  // decisions that asked for more than their plans hold
    std::int64_t asked_ = 0;  // allocations of the decisions beyond what their plans hold
    std::int64_t copied_ = 0;  // what their plans hold
    std::int64_t starts_ = 0;
    std::int64_t pauses_ = 0;
    Checksum plans_;
};

}  // namespace

void add_steady_state(std::map<std::string, Scenario>& scenarios) {
    scenarios["steady-state"] = [](Run& run) { Busy(run, kPhilly).measure(true); };
    scenarios["steady-state-backlog"] = [](Run& run) { Busy(run, kPhilly, 100).measure(false); };
    scenarios["steady-state-gangs"] = [](Run& run) { Busy(run, kGangs).measure(false); };
}

}  // namespace berth::bench
