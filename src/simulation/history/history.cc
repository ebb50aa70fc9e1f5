// SPDX-License-Identifier: Apache-2.0
#include "simulation/history/history.h"

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <utility>

#include "codec/log/event_log.h"

namespace berth::simulation {
namespace {

using base::JobId;
using model::JobState;

template <typename Event, typename... Events>
constexpr bool kIsOneOf = (std::is_same_v<Event, Events> || ...);

bool is_of_cluster(const model::EventBody& body) {
    return std::visit(
        []<typename Event>(const Event&) {
            return kIsOneOf<Event, model::LevelsSet, model::PoolSet, model::PoolRemoved,
                            model::NodeSet, model::NodeUsedByOthers, model::NodeMoved,
                            model::ProjectSet, model::ProjectRemoved, model::PolicySet>;
        },
        body);
}

struct Mean {
    Duration sum{};
    std::int64_t count = 0;

    void add(Duration time) {
        sum += time;
        ++count;
    }
    void add(const Mean& other) {
        sum += other.sum;
        count += other.count;
    }
    Duration or_else(Duration fallback) const { return count == 0 ? fallback : sum / count; }
};

// What the spans of one job come to within the days.
class Sums {
  public:
    Sums(HistoryReader::Days days, const std::deque<model::Span>& spans) : days_(days) {
        for (const model::Span& span : spans) add(span);
    }

    bool is_there = false;  // in these days
    bool had_place_first = false;
    JobRecord record;
    std::vector<RunInterval> intervals;
    Duration ran{};
    std::int64_t lost_gpu_ms = 0;
    Mean starts;
    Mean saves;
    std::int64_t task_ms = 0;
    base::MilliGpu gpus{0};  // as it had them last
    int tasks = 0;

  private:
    void add(const model::Span& span) {
        const TimePoint from = std::max(span.from, days_.from);
        const TimePoint to = std::min(span.to.value_or(days_.to), days_.to);
        if (model::is_final(span.state)) {
            // Nothing is known of one that ended as the days began.
            if (span.from <= days_.to) record.end = span.from - not_in_line_;
            return;
        }
        if (from >= to) return;
        const bool is_first = !is_there;
        is_there = true;
        if (timeline::has_place(span.state)) {
            had_place_first |= is_first && span.from < days_.from;
            hold(span, from, to);
        } else if (span.is_on_hold || span.is_parked) {
            not_in_line_ += to - from;
        }
        if (span.from >= days_.from) begin(span);
        last_ = span.state;
    }

    void hold(const model::Span& span, TimePoint from, TimePoint to) {
        if (!record.first_start) record.first_start = from;
        record.held += to - from;
        intervals.push_back({0, from, to});
        gpus = span.gpus;
        tasks = span.tasks;
        if (span.state == JobState::Starting && span.to) starts.add(*span.to - span.from);
        if (span.state == JobState::Pausing && span.to) saves.add(*span.to - span.from);
        if (span.state != JobState::Running) return;
        ran += to - from;
        task_ms += (to - from).count() * span.tasks;
    }

    void begin(const model::Span& span) {
        lost_gpu_ms += span.lost_gpu_ms;
        const bool is_pause = span.state == JobState::Paused && last_ != JobState::Paused;
        if (!is_pause || !span.beneficiary.is_valid()) return;
        ++record.pauses;
        if (span.rule == model::Rule::Consolidate) ++record.moves;
    }

    HistoryReader::Days days_;
    Duration not_in_line_{};
    JobState last_ = JobState::Queued;
};

int companions_of(const model::JobSpec& spec) {
    int count = 0;
    for (const model::Companion& each : spec.companions) count += each.count;
    return count;
}

// Of one size, which no decision changes: the simulator knows no other jobs.
void make_rigid(model::JobSpec& spec, const Sums& sums) {
    const auto tasks = static_cast<int>(
        std::lround(static_cast<double>(sums.task_ms) / static_cast<double>(sums.ran.count())));
    const int own = std::clamp(tasks - companions_of(spec), spec.tasks_min, spec.tasks_max);
    spec.tasks_min = spec.tasks_max = spec.topology.groups.empty() ? own : spec.tasks_max;
    for (model::TaskGroup& group : spec.topology.groups) group.tasks_min = group.tasks_max;
    spec.topology.groups_min = 0;
    spec.may_share = false;
    spec.packed.reset();
}

// GPUs that it holds something of.
std::int32_t gpus_of(const model::JobSpec& spec) {
    std::int32_t gpus = spec.tasks_max * spec.request.gpus;
    for (const model::Companion& each : spec.companions) gpus += each.count * each.request.gpus;
    return gpus;
}

TraceJob trace_job(const model::JobSubmitted& submitted, const Sums& sums) {
    auto spec = std::make_shared<model::JobSpec>(submitted.spec);
    make_rigid(*spec, sums);
    TraceJob job{.submitted = {},
                 .work = sums.ran,
                 .gpus = gpus_of(*spec),
                 .project = spec->project,
                 .user = submitted.user,
                 .name = spec->name,
                 .command = submitted.command,
                 .kind = spec->kind,
                 .pool = spec->pools.empty() ? "" : spec->pools.front()};
    job.work = Duration{sums.task_ms / (spec->tasks_max + companions_of(*spec))};
    if (sums.gpus.value > 0) job.work -= Duration{sums.lost_gpu_ms * 1000 / sums.gpus.value};
    job.work = std::max(job.work, Duration{1});
    if (!spec->request.is_whole() && job.gpus > 0) {
        job.share = base::MilliGpu{sums.gpus.value / (sums.tasks * spec->request.gpus)};
    }
    job.spec = std::move(spec);
    return job;
}

}  // namespace

void HistoryReader::read(model::Event&& event) {
    if (!std::exchange(has_begun_, true)) days_.from = std::max(days_.from, event.time);
    if (event.time > days_.to) return;
    if (const JobId job = codec::job_of(event.body); job.is_valid()) {
        read_job(job, std::move(event));
    } else if (is_of_cluster(event.body)) {
        read_cluster(std::move(event));
    }
}

void HistoryReader::read_cluster(model::Event&& event) {
    // By which rules jobs are ordered follows from the policy.
    if (auto* set = std::get_if<model::PolicySet>(&event.body)) set->order.reset();
    if (event.time <= days_.from) {
        history_.before.push_back(std::move(event.body));
    } else if (!std::holds_alternative<model::NodeMoved>(event.body)) {
        // That is decided, and will be decided again.
        history_.changes.push_back({event.time, std::move(event.body)});
    }
}

void HistoryReader::read_job(JobId id, model::Event&& event) {
    auto found = lives_.find(id);
    if (const auto* submitted = std::get_if<model::JobSubmitted>(&event.body)) {
        found = lives_.emplace(id, Life{*submitted, event.time}).first;
    }
    if (found == lives_.end()) return;
    model::JobSpec& spec = found->second.submitted.spec;
    if (const auto* set = std::get_if<model::JobRequestSet>(&event.body)) {
        spec.request = set->request;
    }
    if (const auto* set = std::get_if<model::JobSizeSet>(&event.body)) {
        spec.tasks_min = std::min(spec.tasks_min, set->tasks);
        spec.tasks_max = set->tasks;
    }
    found->second.spans.read(event);
    const bool is_over = std::holds_alternative<model::JobFinished>(event.body);
    if (is_over && event.time <= days_.from) lives_.erase(found);
}

History HistoryReader::take() {
    struct Known {
        TraceJob job;
        Sums sums;
    };
    std::vector<Known> known;
    Mean starts;
    Mean saves;
    for (const auto& [id, life] : lives_) {
        Sums sums(days_, life.spans.list());
        if (sums.is_there && sums.ran == Duration{}) ++history_.never_ran;
        if (sums.ran == Duration{}) continue;
        starts.add(sums.starts);
        saves.add(sums.saves);
        TraceJob job = trace_job(life.submitted, sums);
        job.submitted = life.at;
        if (life.at <= days_.from) {
            job.submitted = days_.from + Duration{sums.had_place_first ? 0 : 1};
        }
        known.push_back({std::move(job), std::move(sums)});
    }
    lives_.clear();
    std::ranges::stable_sort(known, {}, [](const Known& one) { return one.job.submitted; });
    history_.from = days_.from;
    history_.to = days_.to;
    history_.restart_cost = starts.or_else(history_.restart_cost);
    history_.save_time = saves.or_else(history_.save_time);
    for (Known& one : known) {
        const auto ticket = static_cast<reference::JobIndex>(history_.jobs.size());
        for (RunInterval& interval : one.sums.intervals) {
            interval.job = ticket;
            history_.really.intervals.push_back(interval);
        }
        auto spec = std::make_shared<model::JobSpec>(*one.job.spec);
        spec->restart_cost = std::max(spec->restart_cost, history_.restart_cost);
        one.job.spec = std::move(spec);
        history_.jobs.push_back(std::move(one.job));
        history_.really.jobs.push_back(one.sums.record);
    }
    return std::move(history_);
}

}  // namespace berth::simulation
