// SPDX-License-Identifier: Apache-2.0
//
// Are verdicts true? Plays random lives and all scenario files:
//   suggestions [--seeds N] FOLDER...
// At every stop each waiting job is asked why, and
//   1. its suggestion is carried out on a copy, by events as they would really happen: the job must
//      start or be promised its GPUs, and with one GPU, job or task less it must not;
//   2. NeverFits is held against a search over all ways to place the gang into the empty pool;
//   3. every project's share account must add up to its fair share.
#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "contested_script.h"
#include "group_rule.h"
#include "judge.h"
#include "lifecycle/apply.h"
#include "node_rule.h"
#include "random_script.h"
#include "scenario/render.h"
#include "scenario/stage.h"
#include "scheduling/decide.h"
#include "scheduling/explain/explain.h"
#include "scheduling/explain/suggestion.h"
#include "scheduling/passes/node_moves.h"
#include "scheduling/shares/share_account.h"

namespace {

using namespace berth;
using model::Suggestion;
using model::SuggestionKind;
using model::Verdict;

constexpr int kEvents = 12;
constexpr int kFailuresShown = 10;

struct Counts {
    std::int64_t asked = 0;
    std::map<SuggestionKind, std::int64_t> suggestions;
    std::int64_t none = 0;
    std::int64_t never = 0;
    std::map<std::string, std::int64_t> none_by_reason;
};

// The change as it would come about in a server.
void happen(lifecycle::State& state, model::EventBody body) {
    lifecycle::apply(state, {state.sequence + 1, state.time, "proof", std::move(body)});
}

void carry_out(lifecycle::State& state, const Suggestion& suggestion, model::JobId id) {
    cluster::Cluster& cluster = state.cluster;
    const cluster::Job& job = cluster.job(id);
    switch (suggestion.kind) {
        case SuggestionKind::Resume:
            if (state.jobs.at(id).parked_since) happen(state, model::JobWoken{id});
            if (state.jobs.at(id).held) happen(state, model::JobReleased{id});
            return;
        case SuggestionKind::NodeBack: {
            model::Node node = cluster.description(cluster.find_node(suggestion.name));
            node.health = model::NodeHealth::Ready;
            return happen(state, model::NodeSet{node});
        }
        case SuggestionKind::RaiseLimit:
        case SuggestionKind::RaiseQuota: {
            model::Project project =
                cluster.projects()[cluster.find_project(suggestion.name).index()].project;
            const std::string& pool = cluster.pool(cluster.pools_of(job).front()).name;
            model::Entitlement rights = model::rights_in(project, pool);
            (suggestion.kind == SuggestionKind::RaiseLimit ? rights.limit
                                                           : rights.quota.emplace()) =
                suggestion.gpus;
            (pool == model::kDefaultPool ? project.rights : project.pools[pool]) = rights;
            return happen(state, model::ProjectSet{project});
        }
        case SuggestionKind::JobsEnd:
            for (const model::JobId other : suggestion.jobs) {
                happen(state, model::JobFinished{other, model::JobState::Cancelled, 0, {}});
            }
            return;
        case SuggestionKind::Apart:
        case SuggestionKind::AskLess:
        case SuggestionKind::AnyKind: {
            const cluster::Job before = job;
            const model::JobSpec spec =
                scheduling::changed_request(suggestion, state.jobs.at(id).spec);
            if (before.reservation) cluster.drop_reservation(id);
            cluster.remove_job(id);
            cluster.add_job(id, spec, before.created);
            cluster.set_paused(id, before.last_pause);
            cluster::note_attained(cluster, id, before.attained.gpu_ms, before.attained.counted);
            return cluster.set_started(id, before.last_start);
        }
        case SuggestionKind::MoreGpus:
            return happen(state, model::NodeSet{scheduling::added_node(cluster, suggestion, job)});
    }
}

bool starts(const lifecycle::State& before, const scenario::Stage& stage,
            const Suggestion& suggestion, model::JobId id) {
    lifecycle::State state = before;
    state.time = stage.now();
    carry_out(state, suggestion, id);
    scheduling::move_nodes(state.cluster);
    const model::Plan plan = scheduling::decide(state.cluster, stage.policy(), stage.now());
    // What was promised to it before counts, when that is kept.
    const bool is_dropped = std::ranges::find(plan.dropped, id) != plan.dropped.end();
    if (state.cluster.job(id).reservation && !is_dropped) return true;
    return std::ranges::any_of(plan.starts, [&](const auto& start) { return start.job == id; }) ||
           std::ranges::any_of(plan.reservations, [&](const auto& held) { return held.job == id; });
}

// A little less of the same.
std::vector<Suggestion> smaller(const Suggestion& suggestion, const cluster::Job& job,
                                const cluster::Cluster& cluster) {
    Suggestion less = suggestion;
    std::vector<Suggestion> all;
    switch (suggestion.kind) {
        case SuggestionKind::MoreGpus:
            if (suggestion.gpus == base::gpus(1)) return {};
            less.gpus -= base::gpus(1);
            return {less};
        case SuggestionKind::RaiseLimit:
        case SuggestionKind::RaiseQuota: {
            const auto at = cluster.find_project(suggestion.name);
            const auto& claim = cluster.claim(cluster.pools_of(job).front(), at);
            const auto now =
                suggestion.kind == SuggestionKind::RaiseLimit ? claim.limit : claim.quota;
            // Where parts of GPUs are counted the steps are smaller than a GPU.
            const auto asks = cluster.most_gpus(job.shape, cluster.pools_of(job).front());
            for (const auto amount :
                 {now, claim.usage.allocated, claim.usage.not_preemptible, asks, suggestion.gpus}) {
                if (amount.value % 1000 != 0) return {};
            }
            if (suggestion.gpus <= now) return {};
            less.gpus -= base::gpus(1);
            return {less};
        }
        case SuggestionKind::AskLess:
            if (suggestion.tasks < job.tasks_min) {
                ++less.tasks;
                if (less.tasks == job.tasks_min) return {};
            } else {
                less.gpus += base::gpus(1);
                if (less.gpus == base::gpus(cluster.shape(job.shape).request.gpus)) return {};
            }
            return {less};
        case SuggestionKind::JobsEnd:
            for (std::size_t i = 0; i < suggestion.jobs.size() && suggestion.jobs.size() > 1; ++i) {
                less = suggestion;
                less.jobs.erase(less.jobs.begin() + static_cast<std::ptrdiff_t>(i));
                all.push_back(less);
            }
            return all;
        default: return {};
    }
}

// Whether `tasks` tasks fit on GPUs with so much room each: all choices of GPUs are tried.
bool all_fit(std::vector<proof::Part> free, int tasks, int gpus, const proof::Part& part) {
    if (tasks == 0) return true;
    std::vector<std::size_t> chosen;
    const std::function<bool(std::size_t)> choose = [&](std::size_t from) {
        if (std::ssize(chosen) == gpus) {
            std::vector<proof::Part> rest = free;
            for (const std::size_t gpu : chosen) {
                rest[gpu] = {rest[gpu].compute - part.compute, rest[gpu].memory - part.memory};
            }
            std::ranges::sort(rest);
            return all_fit(std::move(rest), tasks - 1, gpus, part);
        }
        for (std::size_t gpu = from; gpu < free.size(); ++gpu) {
            if (!free[gpu].holds(part) || (gpu > from && free[gpu] == free[gpu - 1])) continue;
            chosen.push_back(gpu);
            if (choose(gpu + 1)) return true;
            chosen.pop_back();
        }
        return false;
    };
    return choose(0);
}

int most_on_empty(const cluster::Cluster& cluster, const cluster::Job& job, model::NodeId node) {
    const cluster::NodeState& state = cluster.nodes()[node.index()];
    const model::Node& description = cluster.description(node);
    const cluster::Shape& shape = cluster.shape(job.shape);
    const bool is_slice = description.gpu_model.starts_with("1g.") && shape.request.gpus > 0;
    const bool has_model =
        (shape.gpu_model.empty() && !is_slice) ||
        ("|" + shape.gpu_model + "|").find("|" + description.gpu_model + "|") != std::string::npos;
    const bool is_admitted = proof::rule_admits(shape, description);
    const auto part = proof::rule_part(shape.request, description);
    const bool is_large_enough = shape.request.gpus == 0 || part.has_value();
    const proof::Part whole{1000, proof::given_memory(description)};
    if (!has_model || !is_admitted || !is_large_enough) return 0;
    if (shape.shares() && !description.shares_lack.empty()) return 0;
    if (shape.request.gpus > description.gpus) return 0;
    int most = 0;
    for (int tasks = 1; tasks <= job.tasks_min; ++tasks) {
        const auto fits_host = [&](const cluster::HostUse& host, std::int64_t need) {
            return host.capacity == cluster::kUnaccounted || need * tasks <= host.capacity;
        };
        const bool fits =
            fits_host(state.cpu, cluster.cpu_on(job.shape, node)) &&
            fits_host(state.memory, cluster.memory_on(job.shape, node)) &&
            proof::has_enough(description.resources, shape.request, tasks) &&
            all_fit(std::vector<proof::Part>(static_cast<std::size_t>(description.gpus), whole),
                    tasks, shape.request.gpus, part.value_or(whole));
        if (!fits) break;
        most = tasks;
    }
    return most;
}

// Nodes whose answers are equal stand in one domain of the level; nothing: this one names none.
std::optional<std::string> place_of(const cluster::Cluster& cluster, const std::string& level,
                                    model::NodeId node) {
    const model::Node& description = cluster.description(node);
    if (level.empty()) return "";
    if (level == model::kNodeLevel) return description.name;
    std::string path;
    for (const std::string& outer : cluster.levels()) {
        // A level that the node does not name is read from its label.
        const bool is_named = description.topology.contains(outer);
        const model::Labels& names = is_named ? description.topology : description.labels;
        const auto domain = names.find(outer);
        path += "/";
        if (domain != names.end()) path += domain->second;
        if (outer != level) continue;
        if (domain == names.end()) return {};
        return path;
    }
    return {};
}

bool could_ever_run(const cluster::Cluster& cluster, const cluster::Job& job) {
    const std::string& required = cluster.shape(job.shape).topology.required;
    const proof::DomainOf domain_of = [&](model::NodeId node, const std::string& level) {
        return place_of(cluster, level, node);
    };
    return std::ranges::any_of(cluster.pools_of(job), [&](const base::PoolId pool) {
        std::map<std::string, std::map<model::NodeId, std::int64_t>> slots;
        for (std::size_t i = 0; i < cluster.nodes().size(); ++i) {
            const model::NodeId node{static_cast<model::NodeId::Rep>(i)};
            const auto place = place_of(cluster, required, node);
            if (cluster.belongs_to(node) != pool || !place) continue;
            slots[*place][node] = most_on_empty(cluster, job, node);
        }
        return std::ranges::any_of(slots, [&](const auto& place) {
            return proof::groups_fit(cluster, job, place.second, domain_of);
        });
    });
}

// By the printed numbers alone: what each row got, what a round had left, what a part of it is.
bool adds_up(const model::ShareAccount& account, model::MilliGpu fair) {
    model::MilliGpu handed_down = account.levels.front().total;
    for (const model::ShareLevel& level : account.levels) {
        if (level.total != handed_down) return false;
        model::MilliGpu surplus = level.total;
        std::map<std::string, model::MilliGpu> taken;
        model::MilliGpu left = level.surplus;
        model::MilliGpu left_after = level.surplus;
        for (std::size_t i = 0; i < level.offers.size(); ++i) {
            const model::ShareOffer& offer = level.offers[i];
            const bool is_same_round = i > 0 && level.offers[i - 1].priority == offer.priority &&
                                       level.offers[i - 1].round == offer.round;
            if (!is_same_round) left = left_after;
            const std::int64_t by_part = offer.left.value * offer.part_ppm / 1'000'000;
            const std::int64_t off = offer.offered.value - by_part;
            if (offer.left != left || offer.taken > offer.offered || off < 0 || off > 1) {
                return false;
            }
            left_after -= offer.taken;
            taken[offer.project] += offer.taken;
        }
        for (const model::ShareRow& row : level.rows) {
            surplus -= row.from_quota;
            if (row.fair != row.from_quota + row.from_surplus + row.odd) return false;
            if (row.from_surplus != taken[row.project] || row.odd > base::gpus(1)) return false;
            left_after -= row.odd;
            const auto next = &level - account.levels.data() + 1;
            const bool is_last = next == std::ssize(account.levels);
            if (is_last && row.project == account.project && row.fair != fair) return false;
            if (!is_last && row.project == account.levels[static_cast<std::size_t>(next)].parent) {
                handed_down = row.fair;
            }
        }
        if (surplus != level.surplus) return false;
        if (level.surplus > model::MilliGpu{0} && left_after < model::MilliGpu{0}) return false;
    }
    return account.fair == fair;
}

class Proof {
  public:
    // Everybody who waits is asked, or one of them in turn.
    void ask(const scenario::Stage& stage, bool all) {
        const lifecycle::State& state = stage.state();
        std::vector<model::JobId> waiting;
        for (const auto& [id, job] : state.cluster.jobs()) {
            if (job.placed.empty()) waiting.push_back(id);
        }
        if (waiting.empty()) return;
        const std::size_t turn = static_cast<std::size_t>(turn_++) % waiting.size();
        for (std::size_t i = 0; i < waiting.size(); ++i) {
            if (all || i == turn) ask(stage, waiting[i]);
        }
    }

    void check_accounts(const scenario::Stage& stage) {
        const cluster::Cluster& cluster = stage.state().cluster;
        for (std::size_t i = 0; i < cluster.pools().size(); ++i) {
            const base::PoolId pool{static_cast<base::PoolId::Rep>(i)};
            const auto shares = scheduling::fair_shares(cluster, pool, stage.policy(), stage.now());
            for (std::size_t p = 1; p < cluster.projects().size(); ++p) {
                if (cluster.projects()[p].project.name.empty()) continue;  // removed
                const auto account =
                    scheduling::account_of(cluster, stage.policy(), stage.now(), pool,
                                           {static_cast<base::ProjectId::Rep>(p)});
                if (!adds_up(account, shares.fair[p])) {
                    found_.push_back("the account of " + account.project + " does not add up");
                }
            }
        }
    }

    std::vector<std::string> take_findings() { return std::exchange(found_, {}); }
    const Counts& counts() const { return counts_; }

  private:
    void ask(const scenario::Stage& stage, model::JobId id) {
        lifecycle::State state = stage.state();
        const model::Plan plan = scheduling::decide(state.cluster, stage.policy(), stage.now());
        const Verdict verdict =
            scheduling::explain(state.cluster, stage.policy(), plan, stage.now(), id);
        const cluster::Job& job = state.cluster.job(id);
        const std::string who = scenario::render(state, verdict);
        ++counts_.asked;
        check_never(state.cluster, job, verdict, who);
        const auto suggestion = scheduling::find_suggestion(
            state.cluster, stage.policy(), stage.now(), verdict, state.jobs.at(id).spec, 200);
        if (!suggestion) {
            ++counts_.none;
            ++counts_.none_by_reason[std::string(model::name(verdict.reason))];
            return;
        }
        ++counts_.suggestions[suggestion->kind];
        const auto text = [&](const Suggestion& change) {
            return scheduling::suggestion_text(
                change, [&](model::JobId other) { return scenario::name_of(state, other); });
        };
        if (!starts(state, stage, *suggestion, id)) {
            found_.push_back(who + ": would not start if " + text(*suggestion));
        }
        for (const Suggestion& less : smaller(*suggestion, job, state.cluster)) {
            if (starts(state, stage, less, id)) {
                found_.push_back(who + ": " + text(*suggestion) +
                                 ", but this does too: " + text(less));
            }
        }
    }

    void check_never(const cluster::Cluster& cluster, const cluster::Job& job,
                     const Verdict& verdict, const std::string& who) {
        const bool is_never = verdict.reason == model::Reason::NeverFits ||
                              verdict.reason == model::Reason::ModelMismatch;
        const bool is_about_fit =
            verdict.reason != model::Reason::Held && verdict.reason != model::Reason::Paused &&
            verdict.reason != model::Reason::Parked && verdict.reason != model::Reason::Starting &&
            verdict.reason != model::Reason::WaitingForPause;
        if (!is_about_fit || job.active > 0) return;
        counts_.never += is_never;
        // While nodes are on their way to other pools that a job never fits is reported late.
        if (!is_never && !cluster.membership().misplaced.empty()) return;
        if (is_never == could_ever_run(cluster, job)) {
            found_.push_back(who + ": it could " + (is_never ? "" : "never ") + "run");
        }
    }

    Counts counts_;
    std::vector<std::string> found_;
    int turn_ = 0;
};

struct Options {
    std::uint64_t seeds = 2000;
    std::vector<std::filesystem::path> folders;
};

std::vector<std::string> lines_of(const std::filesystem::path& file) {
    std::ifstream stream(file);
    std::vector<std::string> lines;
    for (std::string line; std::getline(stream, line);) lines.push_back(line);
    return lines;
}

class Run {
  public:
    explicit Run(const Options& options) : options_(options) {}

    int all() {
        for (std::uint64_t seed = 1; seed <= options_.seeds; ++seed) live(seed);
        for (const auto& folder : options_.folders) {
            for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
                // It knows no companions (companions.cc).
                const bool is_known = entry.path().parent_path().filename() != "companions";
                if (is_known && entry.path().extension() == ".scn") play(entry.path());
            }
        }
        print();
        return failed_ == 0 ? 0 : 1;
    }

  private:
    void live(std::uint64_t seed) {
        base::Rng rng(seed);
        const proof::Setting setting = proof::any_setting(rng);
        scenario::Stage stage;
        std::string script;
        const auto play = [&](const std::string& line) {
            script += line + "\n";
            (void)stage.play(scenario::parse_script(line)->commands.front());
        };
        for (const std::string& line : setting.fixed) play(line);
        for (const std::string& line : setting.shuffled) play(line);
        play("shares");
        proof::Course course;
        for (int i = 0; i < kEvents; ++i) {
            proof_.ask(stage, false);
            play("decide");
            proof_.ask(stage, false);
            proof_.check_accounts(stage);
            play(proof::random_event(rng, setting, stage.state(), course));
            if (!report("seed " + std::to_string(seed), script)) return;
        }
    }

    void play(const std::filesystem::path& file) {
        scenario::Stage stage;
        std::string script;
        for (const std::string& line : lines_of(file)) {
            if (line.empty() || line.front() == '#' || line.front() == '>') continue;
            script += line + "\n";
            (void)stage.play(scenario::parse_script(line)->commands.front());
            if (!stage.state().jobs.empty()) proof_.ask(stage, true);
        }
        ++files_;
        report(file.string(), script);
    }

    bool report(const std::string& where, const std::string& script) {
        const auto found = proof_.take_findings();
        if (found.empty()) return true;
        if (++failed_ > kFailuresShown) return false;
        std::cout << "# " << where << '\n' << script;
        for (const std::string& finding : found) std::cout << "# " << finding << '\n';
        std::cout << '\n';
        return false;
    }

    void print() const {
        const Counts& counts = proof_.counts();
        std::cout << options_.seeds << " seeds, " << files_ << " scenarios, " << counts.asked
                  << " verdicts (" << counts.never << " that it never fits), suggestions by kind:";
        for (const auto& [kind, count] : counts.suggestions) {
            std::cout << ' ' << static_cast<int>(kind) << ':' << count;
        }
        std::cout << ", none " << counts.none << " (";
        for (const auto& [reason, count] : counts.none_by_reason) {
            std::cout << ' ' << reason << ' ' << count;
        }
        std::cout << "), " << failed_ << " failed\n";
    }

    const Options& options_;
    Proof proof_;
    int files_ = 0;
    int failed_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
    Options options;
    for (int i = 1; i < argc; ++i) {
        const std::string_view word = argv[i];
        if (word == "--seeds" && i + 1 < argc) {
            const std::string_view count = argv[++i];
            std::from_chars(count.data(), count.data() + count.size(), options.seeds);
        } else {
            options.folders.emplace_back(word);
        }
    }
    return Run(options).all();
}
