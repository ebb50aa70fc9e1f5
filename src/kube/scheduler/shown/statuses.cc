// SPDX-License-Identifier: Apache-2.0
#include "kube/scheduler/shown/statuses.h"

#include <algorithm>
#include <utility>

#include "codec/text/json_writer.h"
#include "codec/words/timestamp.h"
#include "kube/client/writes.h"
#include "scheduling/shares/fair_share.h"

namespace berth::kube::scheduler {
namespace {

constexpr base::Duration kFirstStatus = std::chrono::seconds(1);
const std::string kKinds = "/apis/berth.dev/v1alpha1/";

bool waits(const model::JobRecord& job) {
    return job.state == model::JobState::Queued || job.state == model::JobState::Paused;
}

// -1 where there is no bound, as in a spec.
void write_gpus(codec::JsonWriter& json, std::string_view name, base::MilliGpu gpus) {
    json.key(name);
    json.raw(gpus >= model::kUnlimited ? "-1" : base::format_thousandths(gpus.value));
}

base::MilliGpu sum(base::MilliGpu left, base::MilliGpu right) {
    return left >= model::kUnlimited || right >= model::kUnlimited ? model::kUnlimited
                                                                   : left + right;
}

void write_use(codec::JsonWriter& json, const auto& use) {
    write_gpus(json, "quota", use.quota);
    write_gpus(json, "fairShare", use.fair_share);
    write_gpus(json, "used", use.used);
    write_gpus(json, "over", use.over);
    json.key("waiting").number(use.waiting);
}

}  // namespace

Statuses::Statuses(client::Requests& requests, client::Timers& timers, const ports::Clock& clock,
                   const control::Controller& controller, const Rights& rights)
    : requests_(requests), controller_(controller), rights_(rights), clock_(clock), timer_(timers) {
    timer_.start(kFirstStatus, [this] { tick(); });
}

void Statuses::tick() {
    const auto& cluster = controller_.state().cluster;
    std::map<std::string, Uses> pools;
    const auto count = [&](const std::string& name) {
        const base::PoolId pool = cluster.find_pool(name);
        if (!pool.is_valid()) return;
        pools[name] = uses_in(pool);
        pools_.insert(name);
    };
    count(model::kDefaultPool);
    const Declarations& declared = rights_.declarations();
    declared.each_pool([&](const std::string& name, objects::Uid) { count(name); });
    const auto waiting_anywhere = waiting([](const model::JobRecord&) { return true; });
    declared.each_project([&](const std::string& name, objects::Uid uid) {
        const base::ProjectId project = cluster.find_project(name);
        std::string status = accepted(name, uid);
        if (project.is_valid()) status += "," + status_of(project, pools, waiting_anywhere);
        tell("projects", name, uid, "{" + status + "}");
    });
    declared.each_pool([&](const std::string& name, objects::Uid uid) {
        const base::PoolId pool = cluster.find_pool(name);
        if (pool.is_valid()) tell("pools", name, uid, status_of(pool));
    });
    const std::set<objects::Uid> seen = std::exchange(seen_, {});
    std::erase_if(written_, [&](const auto& written) { return !seen.contains(written.first); });
    std::erase_if(accepted_, [&](const auto& each) { return !seen.contains(each.first); });
    timer_.start(kStatusEvery, [this] { tick(); });
}

template <typename Counts>
std::vector<std::int64_t> Statuses::waiting(Counts counts) const {
    const auto& cluster = controller_.state().cluster;
    std::vector<std::int64_t> count(cluster.projects().size());
    for (const auto& [id, job] : controller_.state().jobs) {
        if (!waits(job) || !counts(job)) continue;
        for (base::ProjectId at = cluster.job(id).project; at.is_valid();
             at = cluster.projects()[at.index()].parent) {
            ++count[at.index()];
        }
    }
    return count;
}

Statuses::Uses Statuses::uses_in(base::PoolId id) const {
    const auto& state = controller_.state();
    const auto& pool = state.cluster.pool(id);
    const auto shares =
        scheduling::fair_shares(state.cluster, id, controller_.policy(), state.time);
    const auto waiting_here = waiting([&](const model::JobRecord& job) {
        const auto& pools = job.spec.pools;
        return pools.empty() ? pool.name == model::kDefaultPool
                             : std::ranges::find(pools, pool.name) != pools.end();
    });
    Uses uses;
    for (std::size_t at = 0; at < pool.claims.size(); ++at) {
        const auto& claim = pool.claims[at];
        const base::MilliGpu used = claim.usage.allocated;
        uses.push_back({claim.quota, shares.fair[at], used,
                        std::max(used - claim.quota, base::MilliGpu{0}), waiting_here[at]});
    }
    return uses;
}

// The condition of that name, as the first field of a status.
std::string Statuses::accepted(const std::string& project, objects::Uid uid) {
    const std::string problem = rights_.problem_of(project);
    const auto known = accepted_.find(uid);
    const bool is_as_before = known != accepted_.end() && known->second.first == problem.empty();
    if (!is_as_before) accepted_[uid] = {problem.empty(), clock_.now()};
    std::string text;
    codec::JsonWriter json(text);
    json.begin_object();
    json.key("type").string("Accepted");
    json.key("status").string(problem.empty() ? "True" : "False");
    json.key("reason").string(problem.empty() ? "InForce" : "NotInForce");
    json.key("message").string(problem);
    json.key("lastTransitionTime").string(codec::format_time(accepted_[uid].second));
    json.end_object();
    return "\"conditions\":[" + text + "]";
}

std::string Statuses::status_of(base::ProjectId project, const std::map<std::string, Uses>& pools,
                                const std::vector<std::int64_t>& waiting) const {
    Use all;
    all.waiting = waiting[project.index()];
    for (const auto& [name, uses] : pools) {
        const Use& use = uses[project.index()];
        all.quota = sum(all.quota, use.quota);
        all.fair_share = sum(all.fair_share, use.fair_share);
        all.used += use.used;
        all.over += use.over;
    }
    std::string text;
    codec::JsonWriter json(text);
    json.begin_object();
    write_use(json, all);
    json.key("pools");
    json.begin_object();
    for (const std::string& name : pools_) {
        json.text_key(name);
        const auto found = pools.find(name);
        if (found == pools.end()) {
            json.null();  // takes what an earlier one said of it away
            continue;
        }
        json.begin_object();
        write_use(json, found->second[project.index()]);
        json.end_object();
    }
    json.end_object();
    json.end_object();
    return text.substr(1, text.size() - 2);
}

std::string Statuses::status_of(base::PoolId id) const {
    const auto& cluster = controller_.state().cluster;
    const auto& pool = cluster.pool(id);
    std::int64_t nodes = 0;
    for (const auto& node : cluster.nodes()) {
        nodes += node.pool == id && node.health != model::NodeHealth::Down;
    }
    std::string text;
    codec::JsonWriter json(text);
    json.begin_object();
    json.key("nodes").number(nodes);
    json.key("gpus").number(pool.capacity.value / 1000);
    json.key("idle").raw(base::format_thousandths(pool.free_total[0].value));
    json.end_object();
    return text;
}

// A Project that is made again under its name is another one, to which nothing was said.
void Statuses::tell(std::string_view kind, const std::string& name, objects::Uid uid,
                    std::string status) {
    seen_.insert(uid);
    std::string& written = written_[uid];
    if (written == status) return;
    const std::string path = kKinds + std::string(kind) + "/" + name + "/status";
    requests_.send(
        client::merge_patch({path, objects::format(uid), ""}, "{\"status\":" + status + "}", {}),
        [this, here = std::weak_ptr(is_here_), uid](const client::Outcome& outcome) {
            if (!here.expired() && !outcome.is_done()) written_.erase(uid);  // again with the next
        });
    written = std::move(status);
}

}  // namespace berth::kube::scheduler
