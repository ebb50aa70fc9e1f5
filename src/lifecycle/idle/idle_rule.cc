// SPDX-License-Identifier: Apache-2.0
#include "lifecycle/idle/idle_rule.h"

#include <algorithm>

namespace berth::lifecycle {
namespace {

using model::Duration;
using model::IdleAct;

// Why it stays where it is although the rule says that it is parked; empty = it is parked.
std::string why_not_parked(const model::JobRecord& record) {
    if (!is_parkable(record.spec)) return "only jobs of one task are parked";
    const model::PauseWay& way = record.pause_way;
    if (!way.why_not_parked.empty()) return way.why_not_parked;
    if (way.rung != model::PauseRung::Checkpoint) return "no checkpoint: " + way.why_not;
    return way.may_park ? "" : "its calls to GPUs were not watched when it was started";
}

// It runs, and goes on with the tasks it has.
bool stays(const model::JobRecord& record) {
    return record.state == model::JobState::Running && record.releasing.empty() &&
           !record.is_resizing();
}

}  // namespace

bool is_parkable(const model::JobSpec& spec) {
    return spec.tasks_max == 1 && spec.companions.empty() && spec.request.gpus > 0;
}

bool may_be_parked(const model::JobRecord& record, Duration idle) {
    return stays(record) && record.spec.park_after && *record.spec.park_after > Duration{0} &&
           idle >= *record.spec.park_after &&
           record.pause_way.rung == model::PauseRung::Checkpoint &&
           record.pause_way.why_not_parked.empty();
}

std::optional<IdleRule> idle_rule(const cluster::Cluster& cluster, const model::Policy& policy,
                                  model::JobId job) {
    std::optional<Duration> after;
    std::optional<IdleAct> act;
    for (base::ProjectId at = cluster.job(job).project; at != cluster::kRoot;
         at = cluster.projects()[at.index()].parent) {
        const model::Project& project = cluster.projects()[at.index()].project;
        if (!after) after = project.idle_after;
        if (!act) act = project.idle_act;
    }
    if (!after) after = policy.idle_after;
    if (!after || *after == Duration{0}) return std::nullopt;
    return IdleRule{*after, policy.idle_warning, act.value_or(policy.idle_act)};
}

std::optional<Duration> shortest_idle_time(const cluster::Cluster& cluster,
                                           const model::Policy& policy) {
    std::optional<Duration> shortest = policy.idle_after;
    for (const cluster::ProjectState& state : cluster.projects()) {
        const Duration after = state.project.idle_after.value_or(Duration{0});
        if (after > Duration{0}) shortest = std::min(shortest.value_or(after), after);
    }
    if (shortest) shortest = std::min(*shortest, policy.idle_warning);
    return shortest;
}

IdleStep idle_step(const model::JobRecord& record, const std::optional<IdleRule>& rule,
                   Duration idle, model::TimePoint now) {
    const IdleStep over = record.idle ? IdleStep::Over : IdleStep::None;
    const bool is_kept = record.kept_until && now < *record.kept_until;
    // Also where the rule gives more time by now, or a server that has just begun has not seen it
    // idle for that time.
    if (!stays(record) || !rule || is_kept || idle < rule->after) return over;
    if (!record.idle) return IdleStep::Warn;
    if (idle_warning(record, *rule, idle, now).act != record.idle->act) return IdleStep::Warn;
    if (!record.idle->acts_at || now < *record.idle->acts_at) return IdleStep::None;
    return IdleStep::Act;
}

model::IdleWarning idle_warning(const model::JobRecord& record, const IdleRule& rule, Duration idle,
                                model::TimePoint now) {
    model::IdleWarning warning;
    warning.since = now - idle;
    warning.said = now;
    warning.act = rule.act;
    if (rule.act == IdleAct::Park) warning.why_not = why_not_parked(record);
    if (!warning.why_not.empty()) warning.act = IdleAct::Warn;
    if (warning.act != IdleAct::Warn) warning.acts_at = now + rule.warning;
    return warning;
}

}  // namespace berth::lifecycle
