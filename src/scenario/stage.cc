// SPDX-License-Identifier: Apache-2.0
#include "scenario/stage.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>

#include "lifecycle/describe.h"
#include "lifecycle/invariants.h"
#include "lifecycle/plan_events.h"
#include "scenario/answers.h"
#include "scenario/fields.h"
#include "scenario/render.h"
#include "scheduling/decide.h"
#include "scheduling/explain/explain.h"
#include "scheduling/explain/suggestion.h"
#include "scheduling/shares/fair_share.h"

namespace berth::scenario {
namespace {

using base::Result;
using base::Status;
using model::Duration;
using model::JobState;

// Scenarios start at noon of nowhere; jobs of the setting were submitted an hour before, one
// second after the other.
constexpr model::TimePoint kNoon = base::at_ms(12 * 3600 * 1000);
constexpr Duration kSettingAge{3600 * 1000};
constexpr int kRoundsMax = 50;

Result<model::TaskDescription> read_place(const std::string& text, bool releasing) {
    model::TaskDescription task;
    task.state = releasing ? model::TaskState::Releasing : model::TaskState::Running;
    const auto colon = text.find(':');
    task.node = text.substr(0, colon);
    for (std::size_t at = colon; at < text.size();) {
        const auto end = std::min(text.find(',', at + 1), text.size());
        int gpu = 0;
        const char* last = text.data() + end;
        if (std::from_chars(text.data() + at + 1, last, gpu).ptr != last) {
            return base::invalid("on: wanted node:0,1, found \"" + text + "\"");
        }
        task.gpu_indices.push_back(gpu);
        at = end;
    }
    return task;
}

// What a verb that names only a job tells the state; none where `verb` is not of that kind.
std::optional<model::EventBody> event_of(const std::string& verb, model::JobId job) {
    if (verb == "killed") return model::JobPaused{job, false};
    if (verb == "finish") return model::JobFinished{job, JobState::Succeeded, 0, {}};
    if (verb == "cancel") return model::JobFinished{job, JobState::Cancelled, 0, {}};
    if (verb == "park") return model::JobParked{job, {}};
    if (verb == "wake") return model::JobWoken{job};
    if (verb == "lose") return model::AttemptLost{job, {}};
    if (verb == "save") return model::CheckpointSaved{job};
    if (verb == "hold") return model::JobHeld{job};
    if (verb == "resume") return model::JobReleased{job};
    return {};
}

}  // namespace

Stage::Stage() : policy_(model::berth_policy()), now_(kNoon) { description_.now = kNoon; }

Result<std::vector<std::string>> Stage::play(const Command& command) {
    static constexpr std::array<std::string_view, 7> kSetting{
        "node", "pool", "project", "running", "policy", "levels", "profile"};
    const bool is_setting = std::ranges::find(kSetting, command.verb) != kSetting.end();
    if (is_setting || (command.verb == "submit" && !is_built_)) {
        BERTH_TRY_VOID(set_up(command));
        return Lines{};
    }
    BERTH_TRY_VOID(build());
    last_verdicts_.clear();
    BERTH_TRY(lines, act(command));
    for (const std::string& violation : lifecycle::violations(state_.cluster)) {
        lines.push_back("BROKEN " + violation);
    }
    return lines;
}

Status Stage::set_up(const Command& command) {
    if (command.verb == "policy") {
        BERTH_TRY(policy, read_policy(command, policy_));
        policy_ = policy;
        memory_.forget();
        return {};
    }
    if (command.verb == "levels" && is_built_) return happen(model::LevelsSet{command.names});
    if (command.verb == "pool" && is_built_) {
        BERTH_TRY(pool, read_pool(command));
        return happen(model::PoolSet{pool});
    }
    if (command.verb == "node" && is_built_) {
        BERTH_TRY(node, read_node(command));
        return happen(model::NodeSet{node});
    }
    if (is_built_) return base::invalid(command.verb + ": belongs before the first action");
    if (command.verb == "levels") {
        description_.levels = command.names;
    } else if (command.verb == "node") {
        BERTH_TRY(node, read_node(command));
        description_.nodes.push_back(node);
    } else if (command.verb == "profile") {
        BERTH_TRY(profile, read_profile(command));
        description_.profiles.push_back(profile);
    } else if (command.verb == "pool") {
        BERTH_TRY(pool, read_pool(command));
        description_.pools.push_back(pool);
    } else if (command.verb == "project") {
        const auto known =
            std::ranges::find(description_.projects, command.names.empty() ? "" : command.names[0],
                              &model::Project::name);
        model::Project before;
        before.order = static_cast<std::int64_t>(description_.projects.size());
        const bool is_known = known != description_.projects.end();
        BERTH_TRY(project, read_project(command, is_known ? *known : before));
        if (is_known) {
            *known = project;
        } else {
            description_.projects.push_back(project);
        }
    } else {
        return add_job(command, command.verb == "running");
    }
    return {};
}

Status Stage::add_job(const Command& command, bool is_running) {
    BERTH_TRY(line, read_job(command));
    model::JobDescription job;
    job.spec = line.spec;
    job.held = line.is_held;
    job.created = line.age ? now_ - *line.age : kNoon - kSettingAge + Duration{1000} * created_++;
    if (line.waiting) job.waiting_since = now_ - *line.waiting;
    if (line.started) job.last_start = now_ - *line.started;
    if (line.saved) job.last_checkpoint = now_ - *line.saved;
    job.saves_when_asked = line.saves;
    if (line.parked) job.parked_since = now_ - *line.parked;
    if (line.paused) job.last_pause = now_ - *line.paused;
    job.attained = line.attained;
    if (line.stale) job.stale_since = now_ - *line.stale;
    if (is_running && line.on.empty()) {
        return base::invalid("running: say where with on=node or on=node:0,1;node:2");
    }
    if (line.running > model::kTasksMax) {
        return base::invalid("running: wanted at most " + std::to_string(model::kTasksMax) +
                             " tasks, found " + std::to_string(line.running));
    }
    const auto run = [&](int tasks, const std::vector<std::string>& on) -> Status {
        for (int task = 0; task < tasks; ++task) {
            const std::size_t at = std::min(static_cast<std::size_t>(task), on.size() - 1);
            if (on.empty() || on[at] == "-") {  // this task does not run
                job.tasks.emplace_back();
                continue;
            }
            BERTH_TRY(place, read_place(on[at], line.is_releasing));
            job.tasks.push_back(place);
        }
        return {};
    };
    if (is_running) BERTH_TRY_VOID(run(line.running, line.on));
    for (std::size_t kind = 0; is_running && kind < job.spec.companions.size(); ++kind) {
        if (kind == 0) job.tasks.resize(static_cast<std::size_t>(job.spec.tasks_max));
        BERTH_TRY_VOID(run(job.spec.companions[kind].count, line.companions_on[kind]));
    }
    description_.jobs.push_back(std::move(job));
    return {};
}

Status Stage::build() {
    if (is_built_) return {};
    BERTH_TRY(state, lifecycle::from_description(description_));
    state_ = std::move(state);
    memory_.forget();
    is_built_ = true;
    return {};
}

Status Stage::happen(model::EventBody body) {
    BERTH_TRY_VOID(lifecycle::check(state_, body));
    const auto ended =
        lifecycle::apply(state_, {state_.sequence + 1, now_, "scenario", std::move(body)});
    if (ended) run_times_.learn(*ended);
    return {};
}

Result<model::JobId> Stage::job_named(const std::string& name) const {
    for (const auto& [id, record] : state_.jobs) {
        if (name_of(state_, id) == name) return id;
    }
    return base::invalid("there is no job \"" + name + "\"");
}

Result<std::vector<std::string>> Stage::act(const Command& command) {
    const std::string& verb = command.verb;
    const auto nothing_to_tell = [] { return Lines{}; };
    const std::string name = command.names.empty() ? "" : command.names[0];
    if (verb == "decide") return decide();
    if (verb == "plan") return plan();
    if (verb == "settle") return settle();
    if (verb == "shares") return shares();
    if (verb == "jobs") return jobs();
    if (verb == "wakeup") return wakeup();
    if (verb == "advance") {
        BERTH_TRY(step, base::parse_duration(name));
        now_ += step;
        return Lines{};
    }
    if (verb == "submit") {
        BERTH_TRY(line, read_job(command));
        const model::JobId id{state_.last_job.value + 1};
        return happen(model::JobSubmitted{id, line.spec, {}, {}}).map(nothing_to_tell);
    }
    if (verb == "quota") {
        const auto id = state_.cluster.find_project(name);
        if (!id.is_valid()) return base::invalid("there is no project \"" + name + "\"");
        BERTH_TRY(project, read_project(command, state_.cluster.projects()[id.index()].project));
        return happen(model::ProjectSet{project}).map(nothing_to_tell);
    }
    if (verb == "remove") return happen(model::ProjectRemoved{name}).map(nothing_to_tell);
    if (verb == "ready" || verb == "drain" || verb == "fail") {
        const auto id = state_.cluster.find_node(name);
        if (!id.is_valid()) return base::invalid("there is no node \"" + name + "\"");
        model::Node node = state_.cluster.description(id);
        node.health = verb == "ready"   ? model::NodeHealth::Ready
                      : verb == "drain" ? model::NodeHealth::Drained
                                        : model::NodeHealth::Down;
        BERTH_TRY_VOID(happen(model::NodeSet{node}));
        return Lines{};
    }
    if (verb == "others") {
        BERTH_TRY(used, read_others(command));
        return happen(std::move(used)).map(nothing_to_tell);
    }
    if (verb == "account") return account_lines(state_, policy_, now_, command);
    BERTH_TRY(job, job_named(name));
    if (verb == "when") return when(job);
    if (verb == "why") return why(job);
    if (verb == "sum")
        return why(job).map([this](auto&&) { return sum_lines(state_, last_verdicts_.front()); });
    if (verb == "suggestion") return suggestion(job);
    if (verb == "order") return order_lines(state_, policy_, now_, job);
    Status status = base::invalid("unknown command \"" + verb + "\"");
    if (verb == "pause") status = pause(job);
    if (verb == "measured") status = measured(command, job);
    if (verb == "parted") status = part(command, job);
    if (verb == "size") status = set_size(command, job);
    if (verb == "left") status = leave(job);
    if (auto body = event_of(verb, job)) status = happen(std::move(*body));
    return status.map(nothing_to_tell);
}

// Its processes have saved and ended; one that only changes its size has started again.
Status Stage::leave(model::JobId job) {
    const model::JobRecord& record = state_.jobs.at(job);
    const bool goes_on = record.is_resizing();
    BERTH_TRY_VOID(happen(lifecycle::event_of_leaving(record, {true, 0})));
    return goes_on ? happen(model::JobRunning{job}) : Status{};
}

// Everyone who was asked to leave is gone.
Status Stage::let_leave() {
    std::vector<model::JobId> leaving;
    for (const auto& [id, record] : state_.jobs) {
        if (!record.releasing.empty()) leaving.push_back(id);
    }
    for (const model::JobId job : leaving) BERTH_TRY_VOID(leave(job));
    return {};
}

Status Stage::carry_out(const model::Plan& plan) {
    std::set<model::JobId> started;
    for (model::EventBody& body : lifecycle::events_of(state_, plan, policy_, now_)) {
        const auto* starting = std::get_if<model::JobStarting>(&body);
        if (starting != nullptr) started.insert(starting->job);
        BERTH_TRY_VOID(happen(std::move(body)));
    }
    for (const model::JobId job : started) {
        const bool stops_first = state_.jobs.at(job).is_resizing();
        BERTH_TRY_VOID(stops_first ? leave(job) : happen(model::JobRunning{job}));
    }
    for (const model::JobId job : plan.give_ups) {
        BERTH_TRY_VOID(happen(model::AttemptLost{job, {}}));
    }
    return {};
}

Status Stage::pause(model::JobId job) {
    BERTH_TRY_VOID(happen(model::JobHeld{job}));
    if (state_.cluster.job(job).active == 0) return {};
    return happen(model::PauseRequested{
        job, model::Rule::User, {}, {}, now_ + policy_.pause_grace, true, {}, false});
}

Status Stage::measured(const Command& command, model::JobId job) {
    BERTH_TRY(known, read_profile(command));
    return happen(model::JobMeasured{job, known.profile});
}

Status Stage::set_size(const Command& command, model::JobId job) {
    BERTH_TRY(set, read_size(command, state_.jobs.at(job).spec.tasks_max));
    set.job = job;
    return happen(std::move(set));
}

// parted JOB beside=JOB: it leaves, and is asked to save.
Status Stage::part(const Command& command, model::JobId job) {
    const auto beside = command.values.find("beside");
    if (beside == command.values.end()) return base::invalid("parted: wanted beside=JOB");
    BERTH_TRY(other, job_named(beside->second));
    BERTH_TRY_VOID(happen(model::JobsParted{job, other}));
    return happen(model::PauseRequested{
        job, model::Rule::Part, other, {}, now_ + policy_.pause_grace, true, {}, false});
}

std::vector<std::string> Stage::plan() {
    cluster::keep_ranks(state_.cluster, policy_.order, now_);
    const std::string before = lifecycle::dump(state_.cluster);
    last_plan_ = scheduling::decide(state_.cluster, policy_, now_, memory_);
    const model::Plan& plan = last_plan_;
    Lines lines = render(state_, plan);
    if (!plan.node_moves.empty()) return lines;  // who waits is looked at when they are carried out
    last_verdicts_ = scheduling::explain_all(state_.cluster, policy_, plan, now_);
    for (std::string& line : render_backfill(state_, plan, now_)) lines.push_back(std::move(line));
    for (const model::Verdict& verdict : last_verdicts_) {
        if (verdict.reason != model::Reason::Starting) lines.push_back(render(state_, verdict));
    }
    if (lines.empty()) lines.push_back("nothing");
    if (lifecycle::dump(state_.cluster) != before) lines.push_back("BROKEN deciding left a trace");
    return lines;
}

std::vector<std::string> Stage::decide() {
    Lines lines = plan();
    if (const Status status = carry_out(last_plan_); !status) {
        lines.push_back("BROKEN the plan cannot be carried out: " + status.error().message);
    }
    return lines;
}

Result<std::vector<std::string>> Stage::why(model::JobId job) {
    if (!state_.jobs.at(job).tasks.empty()) return base::invalid("why: the job does not wait");
    last_verdicts_ = {scheduling::explain(state_.cluster, policy_, {}, now_, job)};
    return Lines{render(state_, last_verdicts_.front())};
}

scheduling::Outlook Stage::outlook(model::JobId job) {
    const auto verdict = scheduling::explain(state_.cluster, policy_, {}, now_, job);
    const auto work = [&](model::JobId id) { return run_times_.left(state_.jobs.at(id), now_); };
    return scheduling::outlook(state_.cluster, policy_, now_, verdict, state_.jobs.at(job).spec,
                               work);
}

Result<std::vector<std::string>> Stage::suggestion(model::JobId job) {
    if (!state_.jobs.at(job).tasks.empty()) return base::invalid("suggestion: it does not wait");
    const auto found = outlook(job).suggestion;
    if (!found) return Lines{name_of(state_, job) + " no single change would do"};
    return Lines{name_of(state_, job) + " would start if " +
                 scheduling::suggestion_text(
                     *found, [&](model::JobId other) { return name_of(state_, other); })};
}

Result<std::vector<std::string>> Stage::when(model::JobId job) {
    if (!state_.jobs.at(job).tasks.empty()) return base::invalid("when: the job does not wait");
    return Lines{name_of(state_, job) + " " +
                 scheduling::estimate_text(outlook(job).estimate, now_, [&](model::JobId other) {
                     return name_of(state_, other);
                 })};
}

Result<std::vector<std::string>> Stage::settle() {
    Lines lines;
    for (int round = 1; round <= kRoundsMax; ++round) {
        BERTH_TRY_VOID(let_leave());
        last_plan_ = scheduling::decide(state_.cluster, policy_, now_, memory_);
        const model::Plan& plan = last_plan_;
        if (plan.is_empty()) {
            last_verdicts_ = scheduling::explain_all(state_.cluster, policy_, plan, now_);
            for (const model::Verdict& verdict : last_verdicts_) {
                lines.push_back(render(state_, verdict));
            }
            if (lines.empty()) lines.push_back("nothing");
            return lines;
        }
        for (std::string& line : render(state_, plan)) lines.push_back(std::move(line));
        BERTH_TRY_VOID(carry_out(plan));
    }
    lines.push_back("BROKEN no fixed point within " + std::to_string(kRoundsMax) + " rounds");
    return lines;
}

std::vector<std::string> Stage::shares() {
    Lines lines;
    for (std::size_t i = 0; i < state_.cluster.pools().size(); ++i) {
        const base::PoolId pool{static_cast<base::PoolId::Rep>(i)};
        const auto fair = scheduling::fair_shares(state_.cluster, pool, policy_, now_);
        for (std::size_t j = 1; j < state_.cluster.projects().size(); ++j) {
            if (state_.cluster.projects()[j].project.name.empty()) continue;  // removed
            const auto& claim = state_.cluster.claim(pool, {static_cast<base::ProjectId::Rep>(j)});
            lines.push_back((i > 0 ? state_.cluster.pools()[i].name + " " : "") +
                            state_.cluster.projects()[j].project.name + " fair " +
                            base::format(fair.fair[j]) + " held " +
                            base::format(claim.usage.allocated) + " wanted " +
                            base::format(claim.usage.pending));
        }
    }
    return lines;
}

std::vector<std::string> Stage::wakeup() const {
    if (!last_plan_.next_wakeup) return {"never"};
    const Duration left = *last_plan_.next_wakeup - now_;
    return {left <= Duration{0} ? "at once" : "in " + base::format(left)};
}

std::vector<std::string> Stage::jobs() const {
    Lines lines;
    for (const auto& [id, record] : state_.jobs) {
        std::string line = name_of(state_, id) + " " + std::string(lifecycle::name(record.state));
        if (!record.tasks.empty()) line += " " + places(state_.cluster, record.tasks);
        if (!record.reserved.empty()) line += " hold " + places(state_.cluster, record.reserved);
        lines.push_back(line);
    }
    return lines;
}

}  // namespace berth::scenario
