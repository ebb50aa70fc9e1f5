// SPDX-License-Identifier: Apache-2.0
//
// Every small cluster: at most two nodes of at most two GPUs, two projects, three jobs, with sizes,
// states, rights and priorities from small sets, under both profiles. Each is decided, held
// against decision_check.h, which tries every set of victims by the rules' text, carried out and
// decided again until nothing more is to be done.
//   exhaustive [PART OF]    all, or one of OF parts of them, by its number from 0
#include <array>
#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include "decision_check.h"
#include "idle_check.h"
#include "judge.h"
#include "lifecycle/describe.h"
#include "lifecycle/invariants.h"
#include "lifecycle/plan_events.h"
#include "model/job/task_groups.h"
#include "scenario/render.h"
#include "scheduling/decide.h"

namespace {

using namespace berth;

constexpr model::TimePoint kNow = base::at_ms(12 * 3600 * 1000);
constexpr model::Bytes kGpuMemory{80};
constexpr int kRoundsMax = 8;
constexpr int kFailuresShown = 3;

enum class Size { One, Two, Gang, Elastic, Half, Groups, Large, Busy };
enum class Rank { Train, Urgent, Build };

struct JobChoice {
    int project = 0;
    Size size = Size::One;
    Rank rank = Rank::Train;
    int node = -1;  // where it runs; -1 = it waits
};

struct Rights {
    int quota_a = 0;
    int quota_b = 0;
    bool is_b_fixed = false;
    bool has_b_weight = true;
};

// A set of cases: all combinations of its parts.
struct Family {
    const char* name;
    std::vector<std::vector<int>> nodes;  // GPUs of each
    std::vector<Rights> rights;
    std::vector<Size> sizes;
    std::vector<Rank> ranks;
};

std::vector<Rights> all_rights() {
    std::vector<Rights> rights;
    for (const int a : {0, 1, 2}) {
        for (const int b : {0, 1, 2}) rights.push_back({a, b});
    }
    return rights;
}

std::vector<Rights> odd_rights() {
    return {{0, 1, true}, {0, 2, true}, {1, 1, true}, {2, 2, true}, {1, 0, false, false}};
}

std::vector<Rights> some_rights() { return {{0, 1}, {1, 0}, {1, 1}, {2, 1}, {0, 2}, {1, 1, true}}; }

std::vector<Family> families() {
    return {{"sizes",
             {{1}, {2}, {1, 1}, {2, 1}, {2, 2}},
             all_rights(),
             {Size::One, Size::Two, Size::Gang},
             {Rank::Train}},
            {"fixed",
             {{2}, {1, 1}, {2, 1}},
             odd_rights(),
             {Size::One, Size::Two, Size::Gang},
             {Rank::Train}},
            {"ranks",
             {{2}, {1, 1}},
             some_rights(),
             {Size::One, Size::Two},
             {Rank::Train, Rank::Urgent, Rank::Build}},
            {"elastic",
             {{2}, {1, 1}, {2, 1}},
             all_rights(),
             {Size::One, Size::Elastic},
             {Rank::Train, Rank::Urgent}},
            {"shares", {{1}, {2}, {1, 1}}, all_rights(), {Size::Half, Size::One}, {Rank::Train}},
            {"parts",
             {{1}, {2}},
             some_rights(),
             {Size::Large, Size::Busy, Size::Half, Size::One},
             {Rank::Train}},
            {"groups",
             {{2, 1}, {2, 2}},
             all_rights(),
             {Size::One, Size::Groups},
             {Rank::Train, Rank::Urgent}}};
}

std::vector<JobChoice> job_choices(const Family& family, std::size_t nodes) {
    std::vector<JobChoice> choices;
    for (const int project : {0, 1}) {
        for (const Size size : family.sizes) {
            for (const Rank rank : family.ranks) {
                for (int node = -1; node < static_cast<int>(nodes); ++node) {
                    choices.push_back({project, size, rank, node});
                }
            }
        }
    }
    return choices;
}

model::JobDescription describe(const JobChoice& choice, int number) {
    model::JobDescription job;
    job.spec.name = "j" + std::to_string(number);
    job.spec.project = choice.project == 0 ? "a" : "b";
    if (choice.size == Size::Two) job.spec.request.gpus = 2;
    if (choice.size == Size::Half) job.spec.request.share = {500};
    if (choice.size == Size::Large) {
        job.spec.request.share = {200};
        job.spec.request.gpu_memory = {60};
    }
    if (choice.size == Size::Busy) {
        job.spec.request.share = {700};
        job.spec.request.gpu_memory = {10};
    }
    if (choice.size == Size::Gang) job.spec.tasks_min = 2;
    if (choice.size == Size::Gang || choice.size == Size::Elastic) job.spec.tasks_max = 2;
    if (choice.size == Size::Groups) {  // a pair on one node, and one or two more
        job.spec.topology.groups = {{"pair", 2, 2, model::kNodeLevel}, {"rest", 1, 2, ""}};
        model::count_tasks(job.spec);
    }
    if (choice.rank == Rank::Urgent) job.spec.priority = 60;
    if (choice.rank == Rank::Build) {
        job.spec.kind = model::JobKind::Build;
        job.spec.priority = model::default_priority(model::JobKind::Build);
        job.spec.preemptible = false;
    }
    // Older jobs have saved later, except that the second one saved last of all.
    static constexpr std::array<int, 3> kMinutesUnsaved{20, 5, 30};
    job.created = kNow - model::Duration{(100 - number) * 60'000};
    job.last_checkpoint =
        kNow - model::Duration{kMinutesUnsaved[static_cast<std::size_t>(number)] * 60'000};
    return job;
}

using FreeGpus = std::vector<std::vector<proof::Part>>;  // by node

// Whether the running jobs fit. Tasks take the lowest free GPUs of the first node with room, the
// named one first.
bool place(model::Description& description, const JobChoice& choice, model::JobDescription& job,
           FreeGpus& free) {
    if (choice.node < 0) return true;
    const int each = job.spec.request.gpus;
    const proof::Part part = *proof::rule_part(job.spec.request, description.nodes[0]);
    for (int task = 0; task < job.spec.tasks_max; ++task) {
        bool is_placed = false;
        for (std::size_t i = 0; i < free.size() && !is_placed; ++i) {
            const std::size_t node = (static_cast<std::size_t>(choice.node) + i) % free.size();
            std::vector<int> gpus;
            for (int gpu = 0; gpu < static_cast<int>(free[node].size()); ++gpu) {
                const bool fits = free[node][static_cast<std::size_t>(gpu)].holds(part);
                if (fits && std::ssize(gpus) < each) gpus.push_back(gpu);
            }
            if (std::ssize(gpus) < each) continue;
            for (const int gpu : gpus) {
                proof::Part& left = free[node][static_cast<std::size_t>(gpu)];
                left = {left.compute - part.compute, left.memory - part.memory};
            }
            job.tasks.push_back({model::TaskState::Running, description.nodes[node].name, gpus});
            is_placed = true;
        }
        if (!is_placed && task < job.spec.tasks_min) return false;
    }
    // A pair that stood apart was never placed so.
    return choice.size != Size::Groups || job.tasks[0].node == job.tasks[1].node;
}

// Which of the cases are checked.
struct Slice {
    std::int64_t part = 0;
    std::int64_t of = 1;
};

class Exhaustion {
  public:
    explicit Exhaustion(Slice slice) : slice_(slice) {}

    int run() {
        for (const Family& family : families()) {
            const std::int64_t before = cases_;
            for (const auto& nodes : family.nodes) {
                for (const Rights& rights : family.rights) run(family, nodes, rights);
            }
            std::cout << family.name << ": " << cases_ - before << " cases\n";
        }
        std::cout << "part " << slice_.part << " of " << slice_.of << " of " << cases_ << " cases, "
                  << stats_.decisions << " decisions, " << stats_.starts << " starts, "
                  << stats_.preemptions << " preemptions (" << stats_.sets_tried
                  << " against all other sets), " << stats_.refusals_proved << " refusals proved, "
                  << cycles_ << " cycles without a minimum run, " << failed_ << " cases failed\n";
        return failed_ == 0 ? 0 : 1;
    }

  private:
    void run(const Family& family, const std::vector<int>& nodes, const Rights& rights) {
        model::Description base;
        base.now = kNow;
        for (std::size_t i = 0; i < nodes.size(); ++i) {
            model::Node node;
            node.name = "n" + std::to_string(i);
            node.gpus = nodes[i];
            node.gpu_memory = kGpuMemory;
            base.nodes.push_back(node);
        }
        model::Project a;
        a.name = "a";
        a.rights.quota = base::gpus(rights.quota_a);
        model::Project b;
        b.name = "b";
        b.order = 1;
        b.rights.quota = base::gpus(rights.quota_b);
        if (rights.is_b_fixed) b.rights.kind = model::QuotaKind::Fixed;
        if (!rights.has_b_weight) b.rights.weight = 0;
        base.projects = {a, b};
        FreeGpus free;
        for (const int gpus : nodes) {
            free.emplace_back(static_cast<std::size_t>(gpus), proof::Part{1000, kGpuMemory.value});
        }
        add_jobs(base, job_choices(family, nodes.size()), free, false);
    }

    // All cases with up to three more jobs.
    void add_jobs(const model::Description& description, const std::vector<JobChoice>& choices,
                  const FreeGpus& free, bool somebody_waits) {
        if (somebody_waits) check(description);
        if (description.jobs.size() == 3) return;
        for (const JobChoice& choice : choices) {
            model::Description more = description;
            auto room = free;
            model::JobDescription job = describe(choice, static_cast<int>(description.jobs.size()));
            if (!place(more, choice, job, room)) continue;
            more.jobs.push_back(std::move(job));
            add_jobs(more, choices, room, somebody_waits || choice.node < 0);
        }
    }

    void check(const model::Description& description) {
        if (cases_++ % slice_.of != slice_.part) return;
        const auto state = lifecycle::from_description(description);
        if (!state) {
            fail(description, {"refused: " + state.error().message});
            return;
        }
        for (const bool classic : {false, true}) {
            model::Policy policy = classic ? model::classic_policy() : model::berth_policy();
            policy.backfill_max = 0;  // they are for starvation.cc and properties.cc
            const auto found = live(*state, policy);
            if (!found.empty()) fail(description, found);
        }
    }

    // Decides, carries out and lets leave until nothing more is decided.
    std::vector<std::string> live(lifecycle::State state, const model::Policy& policy) {
        const auto happen = [&](model::EventBody body) {
            lifecycle::apply(state, {state.sequence + 1, kNow, "proof", std::move(body)});
        };
        cluster::keep_ranks(state.cluster, policy.order, kNow);
        for (int round = 1; round <= kRoundsMax; ++round) {
            const lifecycle::State before = state;
            const std::string dump = lifecycle::dump(state.cluster);
            const model::Plan plan = scheduling::decide(state.cluster, policy, kNow);
            std::vector<std::string> found;
            if (lifecycle::dump(state.cluster) != dump) found.push_back("deciding left a trace");
            for (auto& event : lifecycle::events_of(state, plan, policy, kNow)) {
                happen(std::move(event));
            }
            for (const auto& start : plan.starts) {
                if (state.jobs.at(start.job).state == model::JobState::Starting) {
                    happen(model::JobRunning{start.job});
                }
            }
            for (auto& finding : proof::check_decision(before, policy, kNow, plan, state, stats_)) {
                found.push_back(std::move(finding));
            }
            for (auto& violation : lifecycle::violations(state.cluster)) {
                found.push_back(std::move(violation));
            }
            if (plan.is_empty()) {
                for (auto& finding : proof::check_idle(state, policy, kNow, plan)) {
                    found.push_back(std::move(finding));
                }
            }
            if (!found.empty() || plan.is_empty()) return found;
            let_leave(state, happen);
        }
        if (policy.min_run > model::Duration{0}) return {"I5: no fixed point"};
        ++cycles_;
        return {};
    }

    template <typename Happen>
    static void let_leave(const lifecycle::State& state, Happen&& happen) {
        std::vector<model::JobId> leaving;
        for (const auto& [id, record] : state.jobs) {
            if (!record.releasing.empty()) leaving.push_back(id);
        }
        for (const model::JobId job : leaving) happen(model::JobPaused{job, true});
    }

    void fail(const model::Description& description, const std::vector<std::string>& found) {
        if (++failed_ > kFailuresShown) return;
        for (const auto& node : description.nodes) {
            std::cout << "node " << node.name << " gpus=" << node.gpus
                      << " gpu_memory=" << kGpuMemory.value << '\n';
        }
        for (const auto& project : description.projects) {
            const model::Entitlement& rights = project.rights;
            std::cout << "project " << project.name << " quota=" << base::format(*rights.quota)
                      << " weight=" << base::format_thousandths(rights.weight)
                      << (rights.kind == model::QuotaKind::Fixed ? " kind=fixed" : "") << '\n';
        }
        for (const auto& job : description.jobs) print(job);
        std::cout << "decide\n";
        for (const std::string& finding : found) std::cout << "# " << finding << '\n';
        std::cout << '\n';
    }

    static void print(const model::JobDescription& job) {
        std::cout << (job.tasks.empty() ? "submit " : "running ") << job.spec.project << '/'
                  << job.spec.name << " priority=" << job.spec.priority
                  << " preemptible=" << (job.spec.preemptible ? "yes" : "no")
                  << " min=" << job.spec.tasks_min << " max=" << job.spec.tasks_max
                  << (job.spec.topology.groups.empty() ? "" : " groups=")
                  << model::format_task_groups(job.spec.topology) << " gpus="
                  << (job.spec.request.share < base::kWholeGpu
                          ? base::format(job.spec.request.share)
                          : std::to_string(job.spec.request.gpus))
                  << (job.spec.request.gpu_memory > model::Bytes{0}
                          ? " gpu_memory=" + std::to_string(job.spec.request.gpu_memory.value)
                          : "")
                  << " age=" << base::format(kNow - job.created)
                  << " saved=" << base::format(kNow - *job.last_checkpoint);
        for (std::size_t task = 0; task < job.tasks.size(); ++task) {
            std::cout << (task == 0 ? " running=" + std::to_string(job.tasks.size()) + " on=" : ";")
                      << job.tasks[task].node;
            for (std::size_t i = 0; i < job.tasks[task].gpu_indices.size(); ++i) {
                std::cout << (i == 0 ? ":" : ",") << job.tasks[task].gpu_indices[i];
            }
        }
        std::cout << '\n';
    }

    Slice slice_;
    std::int64_t cases_ = 0;
    std::int64_t cycles_ = 0;
    std::int64_t failed_ = 0;
    proof::DecisionStats stats_;
};

}  // namespace

int main(int count, char** words) {
    Slice slice;
    if (count == 3) slice = {std::atoll(words[1]), std::atoll(words[2])};
    if (slice.part < 0 || slice.part >= slice.of) {
        std::cerr << "exhaustive [PART OF] wants a PART below OF\n";
        return 2;
    }
    return Exhaustion(slice).run();
}
