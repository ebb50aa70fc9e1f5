// SPDX-License-Identifier: Apache-2.0
#include "random_log.h"

#include <iterator>
#include <string>

#include "lifecycle/check.h"
#include "lifecycle/parts.h"
#include "lifecycle/plan_events.h"
#include "scheduling/decide.h"

namespace berth::proof {
namespace {

using model::Duration;
using model::JobState;

constexpr model::TimePoint kBegin = base::at_ms(1'700'000'000'000);
constexpr std::int64_t kHour = 3'600'000;
constexpr int kJobsMax = 40;
constexpr const char* kDepartment = "department";

std::string pick(base::Rng& rng, std::initializer_list<const char*> words) {
    return words.begin()[rng.index(words.size())];
}

}  // namespace

model::Policy policy_of(const lifecycle::State& state) {
    return *model::changed_policy(model::berth_policy(), state.policy);
}

RandomLog::RandomLog(std::uint64_t seed, Listener listener)
    : rng_(seed),
      listener_(std::move(listener)),
      now_(kBegin),
      longest_ms_(rng_.chance(1, 2) ? kHour / 4 : 12 * kHour),
      projects_(static_cast<int>(rng_.between(1, 3))),
      nodes_(static_cast<int>(rng_.between(1, 4))),
      pools_(rng_.chance(1, 3) ? 2 : 1),
      has_department_(rng_.chance(1, 2)) {}

void RandomLog::go_on() {
    if (state_.sequence == 0) return set_up();
    let_time_pass();
    if (rng_.chance(1, 30)) return set_order();
    if (rng_.chance(1, 30)) return set_quota();
    if (rng_.chance(1, 40)) return set_health();
    if (rng_.chance(1, 40)) return set_others();
    if (rng_.chance(1, 3)) return decide();
    const bool is_full = std::ssize(state_.jobs) >= kJobsMax;
    if (state_.jobs.empty() || (rng_.chance(1, 3) && !is_full)) return submit();
    auto job = state_.jobs.begin();
    std::advance(job, rng_.between(0, std::ssize(state_.jobs) - 1));
    something_of((*job).second);
}

void RandomLog::set_up() {
    note(model::LogBegun{"1", {0}, policy_of(state_).order});
    if (pools_ > 1)
        note(model::PoolSet{{.name = "fast", .labels = {{"is", "fast"}}, .exchange = {}}});
    for (int i = 0; i < nodes_; ++i) {
        model::Node node;
        node.name = "n" + std::to_string(i);
        node.gpus = static_cast<int>(rng_.between(1, 4));
        if (rng_.chance(1, 2)) node.gpu_memory = model::Bytes{INT64_C(80'000'000'000)};
        if (rng_.chance(1, 2)) node.labels["is"] = "fast";
        if (rng_.chance(1, 3)) node.resources = {{"pods", rng_.between(1, 6)}};
        if (rng_.chance(1, 3)) node.resources["rdma"] = rng_.between(1, 4);
        if (rng_.chance(1, 4)) node.others = use_of_others();
        if (rng_.chance(1, 6)) node.taints = {{"keep", "", model::TaintEffect::NoSchedule}};
        note(model::NodeSet{node});
    }
    for (int i = 0; i < projects_; ++i) set_quota();
    set_order();
}

// Often at the very moment of what was before, else by any order of magnitude.
void RandomLog::let_time_pass() {
    if (rng_.chance(1, 4)) return;
    std::int64_t most = longest_ms_;
    for (std::int64_t halvings = rng_.between(0, 20); halvings > 0; --halvings) most /= 2;
    now_ += Duration{rng_.between(0, most)};
}

void RandomLog::note(model::EventBody body) {
    if (!lifecycle::check(state_, body)) return;
    const model::Event event{state_.sequence + 1, now_, "a user", std::move(body)};
    lifecycle::apply(state_, event);
    listener_(event);
}

void RandomLog::decide() {
    const model::Policy policy = policy_of(state_);
    const model::Plan plan = scheduling::decide(state_.cluster, policy, now_);
    for (model::EventBody& body : lifecycle::events_of(state_, plan, policy, now_)) {
        note(std::move(body));
    }
}

void RandomLog::submit() {
    model::JobSpec spec;
    spec.name = "train-" + std::to_string(rng_.between(1, 3));
    const auto project = rng_.between(0, projects_ - 1);
    spec.project = std::string(1, static_cast<char>('a' + project));
    switch (rng_.between(0, 5)) {
        case 0: spec.request.gpus = static_cast<int>(rng_.between(0, 4)); break;
        case 1: spec.request.share = base::MilliGpu{rng_.between(1, 9) * 100}; break;
        case 2: spec.request.gpu_memory = model::Bytes{rng_.between(5, 60) * 1'000'000'000}; break;
        default: break;
    }
    if (rng_.chance(1, 4)) spec.tasks_max = spec.tasks_min = static_cast<int>(rng_.between(1, 4));
    if (rng_.chance(1, 4)) spec.tasks_max += static_cast<int>(rng_.between(1, 3));
    if (rng_.chance(1, 2)) spec.elastic = model::Elastic::Restart;
    if (rng_.chance(1, 3)) spec.elastic = model::Elastic::Grow;
    if (rng_.chance(1, 6)) spec.node_filter = {{{{"is", model::NodeOperator::NotIn, {"slow"}}}}};
    if (rng_.chance(1, 6)) spec.request.resources = {{"rdma", rng_.between(1, 2)}};
    if (rng_.chance(1, 3)) spec.tolerations = {{"keep"}};
    if (rng_.chance(1, 6)) {
        spec.companions = {{.name = "head", .count = static_cast<int>(rng_.between(1, 2))}};
        if (rng_.chance(1, 2)) spec.companions[0].request.resources = {{"rdma", 1}};
        if (rng_.chance(1, 2) && spec.request.gpus > 0) spec.companions[0].request.gpus = 1;
    }
    if (rng_.chance(1, 8)) spec.kind = model::JobKind::Build;
    if (rng_.chance(1, 8)) spec.priority = 60;
    spec.preemptible = spec.kind == model::JobKind::Train && !rng_.chance(1, 10);
    spec.restart_cost = Duration{rng_.chance(1, 2) ? 0 : rng_.between(1, kHour / 2)};
    spec.may_share = rng_.chance(1, 4);
    if (pools_ > 1 && rng_.chance(1, 2)) spec.pools = {"fast", "default"};
    const std::string user = pick(rng_, {"ada", "ben", "cleo"});
    const model::JobId id{state_.last_job.value + rng_.between(1, 2)};
    const model::JobSubmitted submitted{id, spec, user, "python train.py"};
    if (spec.may_share && !lifecycle::check(state_, submitted)) spec.may_share = false;
    note(model::JobSubmitted{id, spec, user, "python train.py"});
}

void RandomLog::set_quota() {
    model::Project project;
    if (has_department_ && (state_.cluster.projects().size() == 1 || rng_.chance(1, 4))) {
        project.name = kDepartment;
        set_job_order(project);
        note(model::ProjectSet{project});
    }
    if (has_department_) project.parent = kDepartment;
    const auto known = std::ssize(state_.cluster.projects()) - 1 - (has_department_ ? 1 : 0);
    const std::int64_t number = known < projects_ ? known : rng_.between(0, projects_ - 1);
    project.name = std::string(1, static_cast<char>('a' + number));
    project.rights.quota = base::MilliGpu{rng_.between(0, 6) * 1000};
    set_job_order(project);
    if (rng_.chance(1, 4)) project.preempt_min_run = Duration{rng_.between(0, kHour)};
    if (pools_ > 1) project.pools["fast"].quota = base::MilliGpu{rng_.between(0, 3) * 1000};
    note(model::ProjectSet{project});
}

// Or none, as if it had been taken back.
void RandomLog::set_job_order(model::Project& project) {
    project.job_order.reset();
    project.job_tail.reset();
    if (rng_.chance(1, 3)) project.job_order = static_cast<model::JobOrder>(rng_.between(0, 2));
    if (rng_.chance(1, 3)) project.job_tail = rng_.chance(1, 3) ? 0 : 50;
}

void RandomLog::set_order() {
    model::PolicySet set;
    set.settings["order"] = pick(rng_, {"learned", "learned", "learned", "levels", "age"});
    set.settings["order.tail"] = pick(rng_, {"0", "0", "20", "50"});
    set.settings["order.patience"] = pick(rng_, {"60", "2", "1", "0"});
    set.settings["order.fair"] = pick(rng_, {"9", "2", "1", "0"});
    set.settings["order.hysteresis"] = pick(rng_, {"2", "0"});
    if (rng_.chance(1, 4)) set.settings.erase("order");
    const auto changes = model::merged(state_.policy, set.settings);
    set.order = model::changed_policy(model::berth_policy(), changes)->order;
    note(std::move(set));
}

void RandomLog::set_health() {
    const base::NodeId id{static_cast<base::NodeId::Rep>(rng_.between(0, nodes_ - 1))};
    model::Node node = state_.cluster.description(id);
    const bool was_ready = node.health == model::NodeHealth::Ready;
    node.health = was_ready ? model::NodeHealth::Down : model::NodeHealth::Ready;
    if (rng_.chance(1, 4)) node.labels["is"] = pick(rng_, {"fast", "slow"});
    if (rng_.chance(1, 6)) node.resources = {{"pods", rng_.between(1, 6)}};
    if (rng_.chance(1, 4)) node.gpus = static_cast<int>(rng_.between(1, 4));  // when it is empty
    if (node.others.resources.size() > node.resources.size()) node.others.resources.clear();
    note(model::NodeSet{node});
    if (!was_ready) return;
    std::vector<model::JobId> lost;
    for (const auto& [job, record] : state_.jobs) {
        const auto is_there = [&](const auto& task) { return task.node == id; };
        if (std::ranges::any_of(record.tasks, is_there)) lost.push_back(job);
    }
    for (const model::JobId job : lost) note(model::AttemptLost{job, "its node is gone"});
}

// Of GPUs more than there are, perhaps, and sometimes by their indices.
model::OthersUse RandomLog::use_of_others() {
    model::OthersUse use;
    use.gpus = static_cast<int>(rng_.between(0, 3));
    if (use.gpus > 0 && rng_.chance(1, 4)) use.gpu_indices = {0};
    use.cpu = {rng_.between(0, 4) * 1000};
    use.memory = {rng_.between(0, 4) * 1'000'000'000};
    return use;
}

void RandomLog::set_others() {
    const base::NodeId id{static_cast<base::NodeId::Rep>(rng_.between(0, nodes_ - 1))};
    model::NodeUsedByOthers used{state_.cluster.node_name(id), use_of_others()};
    for (const auto& [name, amount] : state_.cluster.description(id).resources) {
        if (rng_.chance(1, 2)) used.use.resources[name] = rng_.between(0, 2);
    }
    note(std::move(used));
}

// Much of it may be impossible as things are; then nothing happens.
void RandomLog::something_of(const model::JobRecord& job) {
    const model::JobId id = job.id;
    if (rng_.chance(1, 20)) return note(model::JobHeld{id});
    if (job.held && rng_.chance(1, 2)) return note(model::JobReleased{id});
    if (rng_.chance(1, 25)) return note(model::CancelRequested{id, now_ + Duration{60'000}});
    if (rng_.chance(1, 20)) return note(model::AttemptLost{id, "its process is gone"});
    if (rng_.chance(1, 10)) return set_size(job);
    if (rng_.chance(1, 10)) return set_request(job);
    if (!job.releasing.empty() && job.state != JobState::Cancelling && rng_.chance(4, 5)) {
        return note(lifecycle::event_of_leaving(job, {rng_.chance(3, 4), 1000}));
    }
    switch (job.state) {
        case JobState::Starting: return note(model::JobRunning{id});
        case JobState::Running: return something_of_running(job);
        case JobState::Cancelling: return end(job, JobState::Cancelled);
        case JobState::Paused:
            if (job.parked_since) return note(model::JobWoken{id});
            [[fallthrough]];
        default:
            if (rng_.chance(1, 8)) end(job, JobState::Cancelled);
    }
}

void RandomLog::set_size(const model::JobRecord& job) {
    model::JobSizeSet set{job.id, static_cast<int>(rng_.between(1, 6)), {}};
    for (const model::TaskPlacement& task : job.tasks) {
        const bool is_task = task.task < job.spec.tasks_max;
        if (is_task && rng_.chance(1, 3)) set.ended.push_back(task.task);
    }
    note(std::move(set));
}

void RandomLog::set_request(const model::JobRecord& job) {
    model::JobRequestSet set{job.id, job.spec.request, rng_.chance(1, 4), ""};
    if (rng_.chance(1, 4)) set.request.gpus = static_cast<int>(rng_.between(1, 2));
    set.request.share = base::MilliGpu{rng_.between(1, 10) * 100};
    if (rng_.chance(1, 4)) set.request.cap = base::MilliGpu{rng_.between(1, 10) * 100};
    if (rng_.chance(1, 4)) set.request.gpu_memory = {rng_.between(1, 20) * 1'000'000'000};
    if (!set.requeue) set.tasks = lifecycle::as_if_asked(state_, job, set.request).tasks;
    note(std::move(set));
}

void RandomLog::something_of_running(const model::JobRecord& job) {
    const model::JobId id = job.id;
    if (job.is_resizing()) return note(lifecycle::event_of_leaving(job, {true, 0}));
    switch (rng_.between(0, 12)) {
        case 12: {
            const Duration measured{rng_.between(0, 600'000)};
            return note(model::JobUsed{id, measured * rng_.between(0, 4) / 4, measured});
        }
        case 10: {
            const auto act = static_cast<model::IdleAct>(rng_.between(0, 2));
            return note(model::JobIdle{id, {now_, now_, act, now_ + Duration{60'000}, ""}});
        }
        case 11:
            if (job.idle) return note(model::JobBusy{id});
            return note(model::JobKept{id, now_ + Duration{60'000}});
        case 0: return note(model::CheckpointSaved{id});
        case 1: return note(model::JobParked{id, {}});
        case 2: {
            model::GpuProfile profile;
            profile.compute = base::MilliGpu{rng_.between(1, 9) * 100};
            profile.persistent = model::Bytes{rng_.between(1, 12) * 1'000'000'000};
            return note(model::JobMeasured{id, profile});
        }
        case 3:
        case 4:
        case 5:
            return note(model::PauseRequested{
                id, model::Rule::User, {}, {}, now_ + Duration{60'000}, true, {}, false});
        default: return end(job, rng_.chance(3, 4) ? JobState::Succeeded : JobState::Failed);
    }
}

void RandomLog::end(const model::JobRecord& job, JobState state) {
    model::JobFinished finished{job.id, state, 0, {}};
    // While no server was there.
    if (rng_.chance(1, 8)) finished.ended = now_ - Duration{rng_.between(0, 600'000)};
    note(finished);
}

}  // namespace berth::proof
