// SPDX-License-Identifier: Apache-2.0
#include "scheduling/victims/cheapest_nodes.h"

#include <algorithm>
#include <array>
#include <bit>
#include <functional>
#include <limits>
#include <numeric>
#include <tuple>
#include <utility>

#include "scheduling/place/place.h"

namespace berth::scheduling {
namespace {

bool may_take(const VictimQuery& query, const NodeWork::JobPart& part) {
    const Terms& terms = query.terms;
    if (terms.from_own) {
        const cluster::Job& job = query.view.cluster.job(part.loss.job);
        return part.project == terms.project && reaches(query.view, terms, job);
    }
    if (!query.ledger.may_take(part.project, part.size)) return false;
    const bool keeps = terms.minimum_run && !terms.asks_who && part.loss.is_protectable;
    return !keeps || part.protected_until(query.view.policy) <= query.view.now ||
           has(query.view.started_now, part.loss.job);
}

// Whether all that the job has stops with the next of its units.
bool is_only_unit(const cluster::LossKey& next) {
    return next.is_protectable && next.stopped == next.gpus;
}

// How many jobs have to leave, to free this number of GPUs? `with`: jobs by how many they have.
int fewest_jobs(std::span<const std::uint16_t> with, int gpus) {
    int jobs = 0;
    for (std::size_t has = with.size() - 1; has > 0 && gpus > 0; --has) {
        const int of_these = std::min<int>(with[has], (gpus - 1) / static_cast<int>(has) + 1);
        jobs += of_these;
        gpus -= of_these * static_cast<int>(has);
    }
    return jobs;
}

// The least that a slot on the node may cost, as far as the compute of its GPUs tells; nothing when
// too few of them could be freed. What a job has on several GPUs is shared out between them: a job
// that needs only some of them pays for it in full.
std::optional<Cost> least_price(const VictimQuery& query, NodeId node) {
    const cluster::Cluster& cluster = query.view.cluster;
    const ShapeId shape = query.beneficiary.job.shape;
    const std::int64_t wanted = cluster.part_on(shape, node).compute.value;
    struct Gpu {
        std::int64_t freed;
        std::int64_t all;  // that leave together
        std::int64_t least;
    };
    std::array<Gpu, model::kGpusPerNodeMax> gpus;
    const auto count = static_cast<std::size_t>(cluster.nodes()[node.index()].gpus);
    std::fill_n(gpus.begin(), count, Gpu{0, 0, std::numeric_limits<std::int64_t>::max()});
    bool has_work = false;
    bool stop_alone = true;
    std::array<std::uint16_t, model::kGpusPerNodeMax + 1> with{};
    for (const NodeWork::JobPart& part : query.work.jobs_on(node)) {
        if (!may_take(query, part)) continue;
        has_work = true;
        const int gpus_here = std::popcount(part.gpu_mask);
        ++with[static_cast<std::size_t>(gpus_here)];
        stop_alone &= is_only_unit(part.loss);
        if (part.gpu_mask == 0) continue;
        const std::int64_t cost = query.lost(part) / gpus_here;
        for (std::uint64_t mask = part.gpu_mask; mask != 0; mask &= mask - 1) {
            Gpu& gpu = gpus[static_cast<std::size_t>(std::countr_zero(mask))];
            gpu.freed += part.freed.value;
            gpu.all += cost;
            gpu.least = std::min(gpu.least, cost);
        }
    }
    if (!has_work) return {};
    std::array<std::int64_t, model::kGpusPerNodeMax> prices;
    std::size_t priced = 0;
    int missing = query.request().gpus;
    for (std::size_t at = 0; at < count; ++at) {
        const Gpu& gpu = gpus[at];
        const auto left = cluster.compute_left(View::Coming, node, static_cast<int>(at)).value;
        if (left + gpu.freed < wanted) continue;
        // All users leave a whole GPU; for a part of one, one leaves or none.
        const bool is_whole = wanted == base::kWholeGpu.value;
        prices[priced++] = left >= wanted ? 0 : is_whole ? gpu.all : gpu.least;
        if (left >= wanted) --missing;
    }
    const auto needed = static_cast<std::size_t>(query.request().gpus);
    if (priced < needed) return {};
    const auto cheapest = std::span(prices).first(priced);
    std::ranges::nth_element(cheapest, cheapest.begin() + static_cast<std::ptrdiff_t>(needed));
    const std::int64_t lost =
        std::reduce(cheapest.begin(), cheapest.begin() + static_cast<std::ptrdiff_t>(needed));
    const int jobs = fewest_jobs(std::span(with).first(count + 1), missing);
    return Cost{lost, stop_alone ? jobs : 0, jobs};
}

// The least that a slot costs where each of its GPUs is paid to a unit that loses for each of its
// own as much as this one, or more; where they lose the same, to units that have no more of them.
// `lost`: by this one, the next unit of its job.
Cost least_of_slot(const VictimQuery& query, const cluster::LossKey& next, std::int64_t lost) {
    const model::TaskRequest& request = query.request();
    if (!is_only_unit(next)) return {.lost = lost, .stopped = 0, .touched = 1};
    if (!request.is_whole() || request.gpus < 2) return {.lost = lost, .stopped = 1, .touched = 1};
    const std::int64_t wanted = request.gpus;
    const std::int64_t whole = base::kWholeGpu.value;
    const std::int64_t gpus =
        std::clamp((next.gpus.value + whole - 1) / whole, std::int64_t{1}, wanted);
    const int units = static_cast<int>((wanted + gpus - 1) / gpus);
    return {.lost = lost * wanted / gpus, .stopped = units, .touched = units};
}

int price_falls(const VictimQuery& query) {
    int falls = 0;
    for (const ProjectId project : query.projects) {
        falls += query.prices.falls(query.terms, project);
    }
    return falls;
}

}  // namespace

bool CheapestNodes::NodePrice::operator<(const NodePrice& other) const {
    return std::tie(other.cost, other.node) < std::tie(cost, node);
}

void CheapestNodes::reopen(const VictimQuery& query) {
    query.work.bring_up_to_date(query.view);
    ReclaimLedger::Headrooms headrooms = query.ledger.headrooms();
    const bool is_looser = !std::ranges::includes(projects_, query.projects) ||
                           !std::ranges::equal(headrooms, headrooms_, std::ranges::less_equal{}) ||
                           !std::ranges::equal(takes_back_, query.takes_back) ||
                           price_falls_ != price_falls(query);
    price_falls_ = price_falls(query);
    headrooms_ = headrooms;
    takes_back_ = query.takes_back;
    projects_ = query.projects;
    const base::ChangeLog<NodeId>& log = query.view.cluster.changed_nodes().capacity;
    if (!is_open_ || is_looser || !log.reaches_back_to(mark_)) {
        open(query);
    } else {
        log.visit_since(mark_, [&](NodeId node) { update(query, node); });
        for (const NodeId node : to_offer_) update(query, node);
    }
    to_offer_.clear();
    mark_ = log.read();
}

void CheapestNodes::open(const VictimQuery& query) {
    is_open_ = true;
    versions_.assign(query.view.cluster.nodes().size(), 0);
    heap_.clear();
    candidates_.clear();
    if (const Region& bound_to = query.beneficiary.bound_to; !bound_to.is_whole_pool()) {
        cluster::visit_nodes(query.view.cluster, query.view.pool, bound_to,
                             [&](NodeId node) { update(query, node); });
        return;
    }
    if (query.nodes) {
        for (const NodeId node : *query.nodes) update(query, node);
        return;
    }
    update_unlike_nodes(query);
    for (const JobSet* starting : {query.view.started_now, query.view.started_reserved}) {
        if (starting == nullptr) continue;
        for (const JobId job : *starting) look_at(query, job);
    }
    for (const ProjectId project : query.projects) {
        for (const UnitPrices::Group& group : query.prices.groups(query.terms, project)) {
            Candidate candidate{{}, project, group};
            if (settle(query, candidate)) candidates_.push_back(candidate);
        }
    }
    std::ranges::make_heap(candidates_, std::less{});
}

bool CheapestNodes::settle(const VictimQuery& query, Candidate& candidate) {
    UnitPrices::Group& left = candidate.left;
    // Who lost too much to lose another one of these keeps them all.
    const bool is_bounded = query.asks_ledger() && !left.is_over();
    if (is_bounded && !query.ledger.may_take(candidate.project, {left.like.gpus})) return false;
    while (!left.is_over() && !query.units.allows_any(query.terms, left.at->job, left.is_protected))
        ++left.at;
    if (left.is_over()) return false;
    candidate.least = least_of_slot(query, *left.at, query.least_lost(candidate.project, *left.at));
    return true;
}

void CheapestNodes::look_at_next(const VictimQuery& query) {
    std::ranges::pop_heap(candidates_, std::less{});
    Candidate& candidate = candidates_.back();
    look_at(query, candidate.left.at->job);
    ++candidate.left.at;
    if (settle(query, candidate)) {
        std::ranges::push_heap(candidates_, std::less{});
    } else {
        candidates_.pop_back();
    }
}

void CheapestNodes::look_at(const VictimQuery& query, JobId id) {
    for (const auto& [place, is_releasing] : query.view.cluster.job(id).placed) {
        if (!is_releasing) update_once(query, place.node);
    }
}

// Those for which least_of_slot does not hold: GPUs that idle cost nothing, and one that is shared
// is paid to units that have parts of it.
void CheapestNodes::update_unlike_nodes(const VictimQuery& query) {
    if (query.request().gpus < 2) return;
    const auto& pool = query.view.cluster.pool(query.view.pool);
    const auto& free = pool.free[static_cast<std::size_t>(View::Coming)];
    for (int idle = 1; idle <= pool.gpus_per_node_max; ++idle) {
        for (const NodeId node : free.nodes_with(idle)) update_once(query, node);
    }
    for (const NodeId node : query.work.shared_nodes()) update_once(query, node);
}

void CheapestNodes::update_once(const VictimQuery& query, NodeId node) {
    if (versions_[node.index()] == 0) update(query, node);
}

void CheapestNodes::push(const NodePrice& update) {
    heap_.push_back(update);
    std::ranges::push_heap(heap_, std::less{});
}

bool CheapestNodes::Candidate::operator<(const Candidate& other) const {
    if (least != other.least) return other.least < least;
    if (project != other.project) return other.project < project;
    return left.at->job < other.left.at->job;
}

bool CheapestNodes::may_be_beaten() const {
    if (candidates_.empty() || heap_.empty()) return !candidates_.empty();
    return candidates_.front().least < heap_.front().cost;
}

std::optional<CheapestNodes::NodePrice> CheapestNodes::pop(const VictimQuery& query) {
    while (true) {
        while (may_be_beaten()) look_at_next(query);
        if (heap_.empty()) return {};
        std::ranges::pop_heap(heap_, std::less{});
        const NodePrice top = heap_.back();
        heap_.pop_back();
        if (top.version == versions_[top.node.index()]) return top;
    }
}

void CheapestNodes::update(const VictimQuery& query, NodeId node) {
    const std::uint32_t version = ++versions_[node.index()];
    if (const auto least = least_price(query, node)) push({*least, node, version});
}

std::optional<Choice> CheapestNodes::take_cheapest(const VictimQuery& query) {
    const PoolView& view = query.view;
    const ShapeId shape = query.beneficiary.job.shape;
    ReclaimLedger ledger = query.ledger;
    Choice choice;
    slots_ = place_fitting(view, query.beneficiary.job, query.beneficiary.tasks, View::Coming,
                           query.beneficiary.bound_to);
    for (const auto& slot : slots_) view.cluster.take(View::Coming, shape, slot);
    const auto needed = static_cast<std::size_t>(query.beneficiary.tasks);
    while (slots_.size() < needed) {
        const std::optional<NodePrice> top = pop(query);
        if (!top) break;
        const SlotCost& now = cheapest_slot(query, ledger, top->node);
        if (!now.is_possible) {
            to_offer_.push_back(top->node);
        } else if (now.cost != top->cost) {
            push({now.cost, top->node, top->version});
        } else {
            accept(query, ledger, top->node, now, choice);
        }
    }
    for (const auto& slot : slots_) view.cluster.give_back(View::Coming, shape, slot);
    for (const std::size_t unit : choice) query.scratch.is_chosen[unit] = false;
    if (slots_.size() < needed) {
        is_open_ = false;  // what it learnt was true with the ledger it had come to
        return {};
    }
    std::ranges::sort(choice);
    return choice;
}

void CheapestNodes::accept(const VictimQuery& query, ReclaimLedger& ledger, NodeId node,
                           const SlotCost& slot, Choice& choice) {
    cluster::Cluster& cluster = query.view.cluster;
    base::SmallVector<NodeId, 16> touched{node};
    std::vector<bool>& is_chosen = query.scratch.is_chosen;
    is_chosen.resize(std::max(is_chosen.size(), query.units.size()));
    for (const std::size_t position : slot.units) {
        const VictimUnit& unit = query.units[position];
        is_chosen[position] = true;
        choice.push_back(position);
        if (query.asks_ledger()) ledger.take(unit.project, unit);
        cluster.release(unit.job, unit.ranks);
        for (const model::TaskPlacement& task : unit.tasks) touched.push_back(task.node);
    }
    const ShapeId shape = query.beneficiary.job.shape;
    const auto place = place_on(query.view, shape, node, View::Coming);
    if (place) {
        cluster.take(View::Coming, shape, *place);
        slots_.push_back(*place);
    }
    std::ranges::sort(touched);
    const auto repeated = std::ranges::unique(touched);
    touched.erase(repeated.begin(), repeated.end());
    for (const NodeId changed : touched) {
        if (!cluster::is_in(cluster, query.beneficiary.bound_to, changed)) continue;
        // What was freed there may be room enough for another slot.
        push({{}, changed, ++versions_[changed.index()]});
    }
}

}  // namespace berth::scheduling
