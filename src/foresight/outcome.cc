// SPDX-License-Identifier: Apache-2.0
#include "foresight/outcome.h"

#include "lifecycle/plan_events.h"
#include "scheduling/shares/fair_share.h"

namespace berth::foresight {
namespace {

using base::PoolId;
using base::ProjectId;
using lifecycle::State;

class Player {
  public:
    Player(State& state, model::TimePoint now) : state_(state), now_(now) {}

    // What cannot be any more, after what was played before it, is left out.
    void play(model::EventBody body) {
        const auto played =
            lifecycle::try_apply(state_, {state_.sequence + 1, now_, "what-if", std::move(body)});
        (void)played;
    }
    void leave(model::JobId job) {
        const auto found = state_.jobs.find(job);
        if (found != state_.jobs.end()) play(lifecycle::event_of_leaving(found->second, {}));
    }

  private:
    State& state_;
    model::TimePoint now_;
};

model::ShareThen share_of(const cluster::Cluster& cluster, const scheduling::Shares& shares,
                          PoolId pool, ProjectId project) {
    const cluster::Claim& claim = cluster.claim(pool, project);
    return {claim.quota,           claim.limit,
            claim.rights.weight,   shares.fair[project.index()],
            claim.usage.allocated, claim.usage.pending};
}

}  // namespace

void carry_out(State& copy, const model::Plan& plan, const model::Policy& policy,
               model::TimePoint now) {
    Player player(copy, now);
    for (model::EventBody& body : lifecycle::events_of(copy, plan, policy, now)) {
        player.play(std::move(body));
    }
    for (const model::Pause& pause : plan.pauses) player.leave(pause.job);
    for (const model::Move& move : plan.moves) player.leave(move.job);
}

std::vector<model::ShareChange> share_changes(const State& now_then, const State& supposed_then,
                                              const model::Policy& policy, model::TimePoint now) {
    const cluster::Cluster& one = now_then.cluster;
    const cluster::Cluster& other = supposed_then.cluster;
    std::vector<model::ShareChange> changes;
    for (std::size_t p = 0; p < one.pools().size(); ++p) {
        const PoolId pool{static_cast<PoolId::Rep>(p)};
        if (one.pool(pool).name.empty()) continue;  // removed
        const auto shares = scheduling::fair_shares(one, pool, policy, now);
        const auto shares_then = scheduling::fair_shares(other, pool, policy, now);
        for (std::size_t i = 1; i < one.projects().size(); ++i) {
            const ProjectId project{static_cast<ProjectId::Rep>(i)};
            const std::string& name = one.projects()[i].project.name;
            model::ShareChange change{name, one.pool(pool).name,
                                      share_of(one, shares, pool, project),
                                      share_of(other, shares_then, pool, project)};
            if (!name.empty() && change.now != change.then) changes.push_back(std::move(change));
        }
    }
    return changes;
}

}  // namespace berth::foresight
