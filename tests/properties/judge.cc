// SPDX-License-Identifier: Apache-2.0
#include "judge.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <map>

#include "group_rule.h"

namespace berth::proof {
namespace {

__extension__ using Wide = __int128;

using cluster::View;

template <typename Visit>
void for_each_gpu(const model::TaskPlacement& task, Visit&& visit) {
    for (std::uint64_t mask = task.gpu_mask; mask != 0; mask &= mask - 1) {
        visit(static_cast<std::size_t>(std::countr_zero(mask)));
    }
}

// The greatest share, of both alike, that is left.
std::int64_t greatest_share(const Part& left, std::int64_t given) {
    if (given == 0 || left.compute == 1000) return left.compute;
    std::int64_t share = left.compute;
    while (share > 0 && Wide{given} * share > Wide{left.memory} * 1000) --share;
    return share;
}

// How many such parts what is left of a GPU holds.
std::int64_t how_many(const Part& left, const Part& part) {
    const std::int64_t by_compute = left.compute / part.compute;
    return part.memory == 0 ? by_compute : std::min(by_compute, left.memory / part.memory);
}

void leave(Room& room, const model::TaskRequest& request, const model::TaskPlacement& task,
           std::int64_t sign) {
    Room::Node& node = room.nodes[task.node.index()];
    give_back(node.resources, request, sign);
    for_each_gpu(task, [&](std::size_t gpu) {
        node.gpus[gpu].compute += task.share.value * sign;
        node.gpus[gpu].memory += task.gpu_memory.value * sign;
    });
    node.cpu += task.cpu.value * sign;
    node.memory += task.memory.value * sign;
}

}  // namespace

Judge::Judge(const cluster::Cluster& cluster, const model::Policy& policy, model::TimePoint now,
             base::PoolId pool, RuleShares shares, const std::set<JobId>& fresh,
             const std::set<JobId>& started_reserved)
    : cluster_(cluster),
      policy_(policy),
      now_(now),
      pool_(pool),
      shares_(std::move(shares)),
      fresh_(fresh),
      started_reserved_(started_reserved) {
    for (std::size_t i = 0; i < cluster.nodes().size(); ++i) {
        const base::NodeId id{static_cast<base::NodeId::Rep>(i)};
        given_.push_back(given_memory(cluster.description(id)));
    }
}

std::int64_t Judge::gpus_of(const model::TaskPlacement& task) const {
    const Part part{task.share.value, task.gpu_memory.value};
    return least_share(part, given_[task.node.index()]) * std::popcount(task.gpu_mask);
}

std::vector<ProjectId> Judge::path(ProjectId project) const {
    std::vector<ProjectId> path;
    for (ProjectId at = project; at != cluster::kRoot;
         at = cluster_.projects()[at.index()].parent) {
        path.push_back(at);
    }
    return path;
}

std::int64_t Judge::counted(const model::TaskPlacement& task) const {
    return gpus_of(task) * exchange_weight(cluster_, task.node) / 1000;
}

std::int64_t given_memory(const model::Node& node) {
    return std::max<std::int64_t>(node.gpu_memory.value - node.gpu_reserved.value, 0);
}

std::optional<Part> rule_part(const model::TaskRequest& request, const model::Node& node) {
    const bool is_by_memory = request.gpu_memory.value > 0;
    const bool is_by_share = request.share.value < 1000;
    if (!is_by_memory && !is_by_share) return Part{1000, 0};
    const Wide given = given_memory(node);
    const Wide context = node.gpu_context.value;
    if (!is_by_memory) {
        const Wide granted = given * request.share.value / 1000;
        // A share has to hold more than the context alone.
        if (node.gpu_memory.value > 0 && context > 0 && granted <= context) return {};
        return Part{request.share.value, static_cast<std::int64_t>(granted)};
    }
    const Wide wanted = context + request.gpu_memory.value;
    if (wanted > given) return {};
    Part part{request.share.value, static_cast<std::int64_t>(wanted)};
    if (is_by_share) return part;
    // Memory alone: the greatest share whose memory is not more.
    while (part.compute > 1 && given * part.compute > wanted * 1000) --part.compute;
    return part;
}

std::int64_t least_share(const Part& part, std::int64_t given) {
    if (given == 0) return part.compute;
    std::int64_t share = part.compute;
    while (Wide{given} * share < Wide{part.memory} * 1000) ++share;
    return share;
}

std::int64_t Judge::counts_at_most(const cluster::Job& job) const {
    const model::TaskRequest& request = cluster_.shape(job.shape).request;
    std::int64_t gpus = request.share.value;
    if (request.gpu_memory > model::Bytes{0}) {
        model::Node worst;  // a GPU with the least memory and the largest context of the pool
        for (std::size_t i = 0; i < cluster_.nodes().size(); ++i) {
            const base::NodeId id{static_cast<base::NodeId::Rep>(i)};
            const model::Node node = cluster_.description(id);
            if (cluster_.nodes()[i].pool != pool_ || node.gpu_memory.value == 0) continue;
            const model::Bytes given = node.gpu_memory - node.gpu_reserved;
            const bool is_less = worst.gpu_memory.value == 0 || given < worst.gpu_memory;
            if (is_less) worst.gpu_memory = given;
            worst.gpu_context = std::max(worst.gpu_context, node.gpu_context);
        }
        const auto part = rule_part(request, worst);
        gpus = part ? least_share(*part, given_memory(worst)) : 1000;
    }
    std::int64_t weight = 0;
    for (std::size_t i = 0; i < cluster_.nodes().size(); ++i) {
        const auto& node = cluster_.nodes()[i];
        const base::NodeId id{static_cast<base::NodeId::Rep>(i)};
        if (node.pool != pool_ || !cluster_.allows(job.shape, node.kind)) continue;
        weight = std::max(weight, exchange_weight(cluster_, id));
    }
    if (weight == 0) weight = 1000;
    return gpus * cluster_.shape(job.shape).request.gpus * weight / 1000;
}

std::int64_t Judge::room_of_pool(const Room& room) const {
    const bool is_exchanged = !cluster_.pool(pool_).exchange.empty();
    std::int64_t there = is_exchanged ? -room.allocated[0] : 0;
    for (std::size_t i = 0; i < room.nodes.size(); ++i) {
        const base::NodeId id{static_cast<base::NodeId::Rep>(i)};
        const auto& node = cluster_.nodes()[i];
        for (const Part& gpu :
             beside_others(room.nodes[i].gpus, room.nodes[i].owed, WhileOwed::Counted)) {
            there += is_exchanged ? 0 : greatest_share(gpu, given_[i]);
        }
        const bool is_there = node.pool == pool_ && node.is_ready;
        if (is_exchanged && is_there)
            there += gpus_left_by_others(cluster_, id) * exchange_weight(cluster_, id);
    }
    return there;
}

Want Judge::want(const cluster::Job& job, model::Rule rule) const {
    const int tasks = next_step(cluster_, job);
    return {&job, tasks, counts_at_most(job) * tasks, rule};
}

namespace {

std::int64_t capacity_of(const cluster::HostUse& use) {
    const bool counts = use.capacity != cluster::kUnaccounted;
    return counts ? use.capacity : std::numeric_limits<int>::max() * 1000LL;
}

}  // namespace

void Judge::credit(Room& room, const cluster::Job& job, const model::TaskPlacement& task) const {
    if (job.pool != pool_) return;
    for (ProjectId at = job.project; at.is_valid(); at = cluster_.projects()[at.index()].parent) {
        room.allocated[at.index()] += counted(task);
        if (!job.preemptible) room.not_preemptible[at.index()] += counted(task);
        for (auto& [host, used] : room.host) {
            used.all[at.index()] += named(job, host);
            if (!job.preemptible) used.not_preemptible[at.index()] += named(job, host);
        }
    }
}

// Coming: what is neither used nor reserved. Idle: of that, what is not being left either;
// what is promised and still being left counts once.
Room Judge::room(cluster::View view) const {
    Room room;
    Room leaving;
    Room promised;
    for (std::size_t i = 0; i < cluster_.nodes().size(); ++i) {
        const auto& node = cluster_.nodes()[i];
        const bool is_there = node.pool == pool_ && node.is_ready;
        const Part whole = is_there ? Part{1000, given_[i]} : Part{};
        const model::Node said = cluster_.description({static_cast<base::NodeId::Rep>(i)});
        const model::OthersUse& others = said.others;
        room.nodes.push_back(
            {std::vector<Part>(node.gpus, whole), others.gpus - int(others.gpu_indices.size()),
             capacity_of(node.cpu) - others.cpu.value,
             capacity_of(node.memory) - others.memory.value, left_by_others(said)});
        for (const int gpu : others.gpu_indices) {
            room.nodes.back().gpus[static_cast<std::size_t>(gpu)] = {};
        }
        Amounts none = said.resources;
        for (auto& [name, amount] : none) amount = 0;
        leaving.nodes.push_back({std::vector<Part>(node.gpus), 0, 0, 0, std::move(none)});
        promised.nodes.push_back(leaving.nodes.back());
    }
    const std::size_t projects = cluster_.projects().size();
    for (auto* sums : {&room.allocated, &room.not_preemptible}) sums->resize(projects);
    for (const Host host : {Host::Cpu, Host::Memory}) {
        room.host[host] = {std::vector<std::int64_t>(projects),
                           std::vector<std::int64_t>(projects)};
    }
    for (const auto& [id, job] : cluster_.jobs()) {
        const cluster::Pinned pinned = job.pinned_apart();
        if (pinned.node.is_valid()) room.nodes[pinned.node.index()].memory -= pinned.memory();
        const model::TaskRequest& request = cluster_.shape(job.shape).request;
        for (const auto& task : job.placed) {
            Room& where = task.is_releasing ? leaving : room;
            leave(where, request, task.place, task.is_releasing ? +1 : -1);
            if (!task.is_releasing) credit(room, job, task.place);
        }
        for (const auto& task :
             job.reservation ? job.reservation->tasks : std::vector<model::TaskPlacement>{}) {
            leave(promised, request, task, +1);
            credit(room, job, task);
        }
    }
    const bool idle = view == cluster::View::Idle;
    for (std::size_t i = 0; i < room.nodes.size(); ++i) {
        const auto less = [&](std::int64_t gone, std::int64_t kept) {
            return idle ? std::max(gone, kept) : kept;
        };
        for (std::size_t gpu = 0; gpu < room.nodes[i].gpus.size(); ++gpu) {
            const Part& gone = leaving.nodes[i].gpus[gpu];
            const Part& kept = promised.nodes[i].gpus[gpu];
            Part& free = room.nodes[i].gpus[gpu];
            free.compute = std::max(free.compute - less(gone.compute, kept.compute), {});
            free.memory = std::max(free.memory - less(gone.memory, kept.memory), {});
        }
        room.nodes[i].cpu -= less(leaving.nodes[i].cpu, promised.nodes[i].cpu);
        room.nodes[i].memory -= less(leaving.nodes[i].memory, promised.nodes[i].memory);
        for (auto& [name, amount] : room.nodes[i].resources) {
            amount -= less(leaving.nodes[i].resources[name], promised.nodes[i].resources[name]);
        }
    }
    return room;
}

// What topmost fixed projects below the roof do not use.
std::int64_t Judge::set_aside_below(const Room& room, ProjectId roof) const {
    std::int64_t sum = 0;
    for (const ProjectId child : cluster_.projects()[roof.index()].children) {
        const cluster::Claim& claim = cluster_.claim(pool_, child);
        if (claim.rights.kind == model::QuotaKind::Fixed) {
            sum += std::max<std::int64_t>(
                shares_.quota[child.index()] - room.allocated[child.index()], 0);
        } else {
            sum += set_aside_below(room, child);
        }
    }
    return sum;
}

bool Judge::passes_gates(const Room& room, const Want& want) const {
    if (!is_within_host_bounds(room, want)) return false;
    if (want.amount == 0) return true;
    std::vector<ProjectId> sheltered;  // the project, and the fixed ones above it, upwards
    for (const ProjectId at : path(want.job->project)) {
        const cluster::Claim& claim = cluster_.claim(pool_, at);
        if (room.allocated[at.index()] + want.amount > claim.limit.value) return false;
        const std::int64_t bound = room.not_preemptible[at.index()] + want.amount;
        if (!want.job->preemptible && bound > claim.quota.value) return false;
        const bool is_fixed = claim.rights.kind == model::QuotaKind::Fixed;
        if (is_fixed || sheltered.empty()) sheltered.push_back(at);
    }
    sheltered.push_back(cluster::kRoot);
    for (std::size_t i = 0; i + 1 < sheltered.size(); ++i) {
        const ProjectId asker = sheltered[i];
        const ProjectId roof = sheltered[i + 1];
        std::int64_t own = 0;  // set aside for the asker itself
        if (cluster_.claim(pool_, asker).rights.kind == model::QuotaKind::Fixed) {
            own = std::max<std::int64_t>(
                shares_.quota[asker.index()] - room.allocated[asker.index()], 0);
            if (want.amount <= own) continue;
        }
        const std::int64_t aside = set_aside_below(room, roof) - own;
        const std::int64_t there =
            roof == cluster::kRoot
                ? room_of_pool(room)
                : cluster_.claim(pool_, roof).limit.value - room.allocated[roof.index()];
        if (aside > 0 && want.amount > there - aside) return false;
    }
    return true;
}

// Tasks of one job are alike, so what fits on each node adds up. k tasks of g GPUs each, a part
// of every GPU, fit when the GPUs offer k * g parts of which no task takes two from one GPU.
std::int64_t Judge::fitting_on(const Room::Node& node, const Want& want, base::NodeId id) const {
    const auto& state = cluster_.nodes()[id.index()];
    if (state.pool != pool_ || !state.is_ready) return 0;
    if (!cluster_.allows(want.job->shape, state.kind)) return 0;
    // Who is frozen goes on where its processes are, and their memory is its own.
    const cluster::Pinned& pinned = want.job->pinned;
    if (pinned.node.is_valid() && pinned.node != id) return 0;
    const int each = cluster_.shape(want.job->shape).request.gpus;
    const model::TaskRequest& request = cluster_.shape(want.job->shape).request;
    const auto part = rule_part(request, cluster_.description(id));
    const std::int64_t cpu = cluster_.cpu_on(want.job->shape, id);
    const std::int64_t memory = cluster_.memory_on(want.job->shape, id);
    const std::vector<Part> gpus = beside_others(node.gpus, node.owed, WhileOwed::Full);
    std::int64_t count = 0;
    for (std::int64_t k = 1; k <= want.tasks; ++k) {
        std::int64_t parts = 0;
        for (const Part& free : gpus) parts += std::min(how_many(free, *part), k);
        const std::int64_t host_memory = node.memory + want.job->pinned_apart().memory();
        if (parts < k * each || cpu * k > node.cpu || memory * k > host_memory) break;
        if (!has_enough(node.resources, request, k)) break;
        count = k;
    }
    return count;
}

std::optional<std::string> Judge::domain_of(base::NodeId node, const std::string& level) const {
    const model::Node description = cluster_.description(node);
    if (level.empty()) return "";
    if (level == "node") return description.name;
    std::string path;
    for (const std::string& outer : cluster_.levels()) {
        const bool is_stated = description.topology.contains(outer);
        const model::Labels& names = is_stated ? description.topology : description.labels;
        const auto found = names.find(outer);
        path += ">" + (found == names.end() ? "" : found->second);
        if (outer == level) return path.back() == '>' ? std::nullopt : std::optional(path);
    }
    return {};
}

std::string Judge::preferred_by(const cluster::Job& job) const {
    const cluster::Shape& shape = cluster_.shape(job.shape);
    if (shape.placement == model::Placement::Any) return "";
    if (!shape.topology.preferred.empty() || job.tasks_max == 1) {
        return shape.topology.preferred;
    }
    const bool is_skewed = shape.tensor_skew_ppm > policy_.consolidate_above_ppm;
    const bool is_asked = shape.placement == model::Placement::Consolidate;
    return is_asked || is_skewed ? "node" : "";
}

bool Judge::are_together(const std::string& level, const std::set<base::NodeId>& nodes) const {
    std::set<std::optional<std::string>> domains;
    for (const base::NodeId node : nodes) domains.insert(domain_of(node, level));
    return domains.empty() || (domains.size() == 1 && domains.begin()->has_value());
}

bool Judge::fits(const Room& room, const Want& want) const {
    return fits_at(cluster_.shape(want.job->shape).topology.required, room, want);
}

bool Judge::fits_at(const std::string& level, const Room& room, const Want& want) const {
    std::set<base::NodeId> running;
    for (const auto& task : want.job->placed) {
        if (!task.is_releasing) running.insert(task.place.node);
    }
    if (!are_together(level, running)) return false;
    const std::string& required = cluster_.shape(want.job->shape).topology.required;
    std::map<std::string, std::map<base::NodeId, std::int64_t>> slots;  // by domain
    for (std::size_t i = 0; i < room.nodes.size(); ++i) {
        const base::NodeId node{static_cast<base::NodeId::Rep>(i)};
        const auto domain = domain_of(node, level);
        const bool is_allowed = domain_of(node, required).has_value();
        const bool is_home = domain && is_allowed &&
                             (running.empty() || domain_of(*running.begin(), level) == domain);
        if (is_home) slots[*domain][node] = fitting_on(room.nodes[i], want, node);
    }
    const DomainOf domain = [&](base::NodeId node, const std::string& of) {
        return domain_of(node, of);
    };
    return std::ranges::any_of(slots, [&](const auto& here) {
        return groups_fit(cluster_, *want.job, here.second, domain);
    });
}

bool Judge::is_owner(const Room& room, const Want& want) const {
    if (want.amount == 0) return true;  // else it may not ask
    return std::ranges::all_of(path(want.job->project), [&](ProjectId at) {
        return room.allocated[at.index()] + want.amount <= shares_.quota[at.index()];
    });
}

bool Judge::is_delayed(const Want& want) const {
    auto delay = want.job->preemption_delay;
    for (const ProjectId at : path(want.job->project)) {
        const auto& project = cluster_.projects()[at.index()].project;
        if (delay < model::Duration{0}) delay = project.preemption_delay.value_or(delay);
    }
    const bool is_new = now_ < want.job->created + delay;
    return is_new || now_ < want.job->last_pause + delay;
}

bool Judge::is_out_of_budget(const Room& room, const Want& want, std::int64_t planned) const {
    if (!policy_.waste_budget) return false;
    if (want.rule == model::Rule::Reclaim && is_owner(room, want)) return false;
    const auto& pool = cluster_.pool(pool_);
    const cluster::Waste& waste = cluster_.history().pools[pool_.index()].waste;
    const std::int64_t day = base::to_ms(now_) / 86'400'000;
    const std::int64_t spent = planned + (waste.day == day ? waste.gpu_ms : 0);
    const Wide budget = Wide{pool.capacity.value} * *policy_.waste_budget * 86'400;
    return Wide{spent} * 1000 >= budget;
}

bool Judge::may_ask(const Room& room, const Want& want) const {
    if (want.rule == model::Rule::Preempt) return true;
    for (std::size_t levels = path(want.job->project).size(); want.amount == 0; --levels) {
        if (levels == 0 || has_host_right(room, want, levels)) return levels > 0;
    }
    const std::size_t project = want.job->project.index();
    const bool crosses = room.allocated[project] + want.amount > shares_.fair[project];
    const bool may_cross = policy_.gang_reclaim && room.allocated[project] < shares_.fair[project];
    if (crosses && !may_cross) return false;
    return want.job->preemptible ||
           room.not_preemptible[project] + want.amount <= shares_.quota[project];
}

std::optional<std::string> Judge::objection(const Room& before, const Want& want,
                                            const std::vector<JudgedPiece>& taken) const {
    if (want.rule == model::Rule::Preempt) return {};
    if (const auto host = host_objection(before, want, taken)) return host;
    const std::vector<ProjectId> asking = path(want.job->project);
    std::map<std::pair<ProjectId, ProjectId>, std::map<JobId, std::int64_t>>
        sides;  // asking, losing
    for (const JudgedPiece& piece : taken) {
        if (piece.gpus == 0) continue;
        std::vector<ProjectId> losing = path(piece.project);
        std::size_t level = 1;  // from the top, where the paths part
        while (level < std::min(asking.size(), losing.size()) &&
               asking[asking.size() - level] == losing[losing.size() - level]) {
            ++level;
        }
        sides[{asking[asking.size() - level], losing[losing.size() - level]}][piece.job] +=
            piece.gpus;
    }
    for (const auto& [side, lost_by] : sides) {
        const std::size_t gains = side.first.index();
        const std::size_t loses = side.second.index();
        const bool stays_within = before.allocated[gains] + want.amount <= shares_.quota[gains];
        // The order of the walk is free; with the largest job last all others come from more.
        std::vector<std::int64_t> gpus;
        for (const auto& [job, lost] : lost_by) gpus.push_back(lost);
        std::ranges::sort(gpus);
        std::int64_t held = before.allocated[loses];
        for (const std::int64_t of_job : gpus) {
            const bool above_share = held > shares_.allocatable[loses];
            const bool above_quota = held > shares_.quota[loses];
            if (!above_share && !(stays_within && above_quota)) {
                return "R6: a side that holds no more than its due loses";
            }
            held -= of_job;
        }
        const Wide gained = before.allocated[gains] + want.amount;
        const Wide fair = shares_.fair[gains];
        const Wide fair_of_loser = shares_.fair[loses];
        if (gained > fair && fair_of_loser > 0 && gained * fair_of_loser >= held * fair) {
            return "I4: the side that gains is left better off than the side that loses";
        }
    }
    return {};
}

bool Judge::helps(const Room& before, const Want& want,
                  const std::vector<JudgedPiece>& taken) const {
    Room room = before;
    for (const JudgedPiece& piece : taken) {
        const auto& request = cluster_.shape(cluster_.job(piece.job).shape).request;
        for (const auto& task : piece.tasks) {
            if (cluster_.nodes()[task.node.index()].is_ready) leave(room, request, task, +1);
        }
        for (ProjectId at = piece.project; at.is_valid();
             at = cluster_.projects()[at.index()].parent) {
            room.allocated[at.index()] -= piece.gpus;
            const auto tasks = static_cast<std::int64_t>(piece.tasks.size());
            for (auto& [host, used] : room.host)
                used.all[at.index()] -= named(cluster_.job(piece.job), host) * tasks;
        }
    }
    // What own work leaves is for those who have a right to it.
    const std::size_t own = want.job->project.index();
    const std::int64_t most = std::max(before.allocated[own], shares_.fair[own]);
    const bool preempts = want.rule == model::Rule::Preempt;
    if (preempts && room.allocated[own] + want.amount > most) return false;
    return passes_gates(room, want) && fits(room, want);
}

std::optional<Price> Judge::cheapest(const Room& before, const Want& want,
                                     const std::set<JobId>& spared) const {
    std::optional<Price> best;
    const std::vector<JudgedPiece> all = pieces(want);
    const Comebacks back = comebacks(before, want);
    any_set(all, [&](const std::vector<JudgedPiece>& taken) {
        const bool is_spared = std::ranges::any_of(
            taken, [&](const JudgedPiece& piece) { return spared.contains(piece.job); });
        if (is_spared) return false;
        const Price cost = price(taken, all, back);
        if (best && *best <= cost) return false;
        if (!objection(before, want, taken) && helps(before, want, taken)) best = cost;
        return false;
    });
    return best;
}

Room without_kept(Room room, const model::Plan& plan, JobId job) {
    for (const model::BackfillReservation& backfill_reservation : plan.backfill) {
        if (backfill_reservation.job == job) continue;
        for (const auto& task : backfill_reservation.kept) {
            auto& gpus = room.nodes[task.node.index()].gpus;
            for (std::size_t gpu = 0; gpu < gpus.size(); ++gpu) {
                if ((task.gpu_mask >> gpu & 1) != 0) gpus[gpu] = {};
            }
        }
    }
    return room;
}

}  // namespace berth::proof
