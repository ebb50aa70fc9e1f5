// SPDX-License-Identifier: Apache-2.0
#include "random_script.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <span>

#include "contested_script.h"
#include "lifecycle/check.h"
#include "random_words.h"
#include "scenario/render.h"

namespace berth::proof {
namespace {

using base::Rng;
using model::JobState;

std::string policy_line(Rng& rng) {
    return "policy profile=" + pick(rng, {"berth", "berth", "classic"}) +
           maybe(rng, "train", {"", "", "spread"}) + maybe(rng, "build", {"", "", "spread"}) +
           maybe(rng, "min_runtime", {"", "", "0", "1m"}) +
           maybe(rng, "min_runtime_restarts", {"", "", "0"}) +
           maybe(rng, "order", {"", "", "levels", "age"}) +
           maybe(rng, "order.tail", {"", "", "33"}) + maybe(rng, "order.hysteresis", {"", "0"}) +
           maybe(rng, "order.patience", {"", "", "0", "1"}) +
           maybe(rng, "order.fair", {"", "", "0", "1"}) +
           maybe(rng, "backfill_reservations", {"", "", "", "0", "1"}) +
           maybe(rng, "consolidation_max_jobs", {"", "", "", "0", "1"}) +
           maybe(rng, "consolidation_priced", {"", "", "no"}) +
           maybe(rng, "min_runtime_binds_all", {"", "", "", "yes", "no"}) +
           maybe(rng, "scale_overcommitted", {"", "", "yes", "no"}) +
           maybe(rng, "gang_reclaim", {"", "", "yes", "no"}) +
           maybe(rng, "waste_budget", {"", "", "", "0", "0.001", "none"}) +
           maybe(rng, "measured_usage", {"", "", "", "yes"}) +
           maybe(rng, "usage_half_life", {"", "1h"}) +
           maybe(rng, "usage_weight", {"", "", "", "0", "0.5"});
}

std::string memory_of_gpu(Rng& rng) {
    const std::string memory = maybe(rng, "gpu_memory", {"", "", "40G", "80G"});
    if (memory.empty()) return "";
    return memory + maybe(rng, "gpu_reserved", {"", "", "1G"}) +
           maybe(rng, "gpu_context", {"", "", "500M", "11G"});
}

// What of a node never changes.
std::string machine(Rng& rng, const Setting& setting) {
    if (!setting.like_all.empty()) return setting.like_all;
    const int gpus = static_cast<int>(rng.between(0, rng.chance(1, 4) ? 8 : 3));
    std::string line = " gpus=" + std::to_string(gpus) +
                       maybe(rng, "model", {"", "", "", "", "", "A", "A", "H", "H", "1g.10gb"}) +
                       (setting.is_for_sharing ? " gpu_memory=80G" : memory_of_gpu(rng)) +
                       (gpus == 3 ? maybe(rng, "islands", {"", "0,1,0"}) : "");
    if (rng.chance(1, 4)) line += " cpu=" + std::to_string(4 * std::max(gpus, 1));
    if (rng.chance(1, 6)) line += " memory=" + std::to_string(16 * std::max(gpus, 1)) + "G";
    return line;
}

// More than there is, perhaps; often nothing.
std::string use_of_others(Rng& rng, const std::string& prefix) {
    return maybe(rng, prefix + "gpus", {"", "", "1", "1", "2", "3"}) +
           maybe(rng, prefix + "cpu", {"", "", "1", "6"}) +
           maybe(rng, prefix + "memory", {"", "", "", "8G"});
}

std::string resources_of_node(Rng& rng) {
    return maybe(rng, "resources", {"", "", "", "", "", "pods:2", "pods:5,rdma:1", "rdma:2"});
}

// Where it stands: by its labels in a pool, and in domains.
std::string whereabouts(Rng& rng, const Setting& setting) {
    std::string line = maybe(rng, "label.disk", {"", "", "ssd"}) +
                       maybe(rng, "topology.rack", {"", "", "r1", "r2"}) +
                       maybe(rng, "topology.zone", {"", "", "", "", "z1", "z2"}) +
                       maybe(rng, "label.block", {"", "", "", "", "b1"}) +
                       maybe(rng, "label.disks", {"", "", "", "2", "8", "many"}) +
                       maybe(rng, "taints",
                             {"", "", "", "", "", "", "keep:NoSchedule",
                              "for=a:NoSchedule,old:PreferNoSchedule", "for=b:NoExecute"});
    if (setting.pools > 1 && rng.chance(1, 2)) line += " label.pool=second";
    return line;
}

std::string node_line(Rng& rng, int number, const Setting& setting) {
    return "node n" + std::to_string(number) + machine(rng, setting) + whereabouts(rng, setting) +
           (rng.chance(1, 6) ? use_of_others(rng, "others.") : "") + resources_of_node(rng) +
           (rng.chance(1, 12) ? " health=" + pick(rng, {"drained", "down"}) : "");
}

// The same machine with other labels, at another place.
std::string labels_line(Rng& rng, const Setting& setting, const lifecycle::State& state) {
    const std::size_t which = rng.index(setting.nodes.size());
    const std::string& name = setting.nodes[which];
    const auto is_its = [&](const std::string& line) {
        return line.starts_with("node " + name + " ");
    };
    std::string line = *std::ranges::find_if(setting.shuffled, is_its);
    for (const char* key : {" label.", " topology.", " health=", " taints="}) {
        for (auto at = line.find(key); at != std::string::npos; at = line.find(key)) {
            line.erase(at, line.find(' ', at + 1) - at);
        }
    }
    line += whereabouts(rng, setting);
    switch (state.cluster.description(state.cluster.find_node(name)).health) {
        case model::NodeHealth::Ready: return line;
        case model::NodeHealth::Drained: return line + " health=drained";
        case model::NodeHealth::Down: return line + " health=down";
    }
    return line;
}

const char* const kPools[] = {"default", "second", "third"};

// A pool with the labels that it has at first, or with others.
std::string pool_line(Rng& rng, const Setting& setting, int number, bool is_new) {
    const std::string name = kPools[number];
    std::string line = "pool " + name;
    const std::string usual = number == 1 ? "label.pool=second" : "label.disk=ssd";
    if (number > 0) {
        line += " " + (is_new || rng.chance(1, 2)
                           ? usual
                           : pick(rng, {"label.pool=second", "label.disk=ssd", "label.block=b1"}));
    }
    const auto spares = setting.spares.find(name);
    if (spares != setting.spares.end() && (is_new || rng.chance(3, 4))) {
        line += " spares=" + spares->second;
    }
    if (!setting.exchanges) return line;
    const char* const weights[] = {" exchange.A=0.5 exchange.H=2 exchange.1g.10gb=0.143",
                                   " exchange.A=0.3", ""};
    return line + weights[number];
}

// Which pool has its spares where: one that has others' has none of its own.
std::map<std::string, std::string> random_spares(Rng& rng, int pools) {
    if (pools == 1 || rng.chance(1, 2)) return {};
    switch (rng.between(0, pools == 2 ? 1 : 3)) {
        case 0: return {{"second", "default"}};
        case 1: return {{"default", "second"}};
        case 2: return {{"second", "default"}, {"third", "default"}};
        default: return {{"third", "second"}};
    }
}

// Of CPU and memory, for one project in three.
std::string host_rights(Rng& rng) {
    if (!rng.chance(1, 3)) return "";
    return maybe(rng, "cpu_quota", {"", "0", "2", "4", "8"}) +
           maybe(rng, "memory_quota", {"", "", "0", "8G", "24G"}) +
           maybe(rng, "cpu_limit", {"", "", "", "8", "16"});
}

std::string rights(Rng& rng) {
    return maybe(rng, "quota", {"", "0", "1", "1", "2", "2", "3", "4", "1.5", "unlimited"}) +
           maybe(rng, "limit", {"", "", "", "", "", "", "2", "3", "5"}) +
           maybe(rng, "weight", {"", "", "", "0", "2", "0.5"}) +
           maybe(rng, "priority", {"", "", "", "200"}) +
           maybe(rng, "kind", {"", "", "", "", "fixed"}) +
           maybe(rng, "usage", {"", "", "", "0.5", "1"}) + host_rights(rng);
}

struct Tree {
    std::vector<std::string> lines;
    std::vector<std::string> names;   // of all
    std::vector<std::string> leaves;
    int made = 0;
    int pools = 1;

    std::string add(Rng& rng, const std::string& parent) {
        const std::string name = "p" + std::to_string(made++);
        names.push_back(name);
        if (pools > 1 && rng.chance(1, 3)) {
            lines.push_back("project " + name + " pool=second" + rights(rng));
        }
        lines.push_back("project " + name + (parent.empty() ? "" : " parent=" + parent) +
                        " order=" + std::to_string(made) + rights(rng) +
                        maybe(rng, "preemption_delay", {"", "", "", "", "0", "2m"}) +
                        maybe(rng, "preempt_min_run", {"", "", "", "", "", "0", "5m"}) +
                        maybe(rng, "reclaim_min_run", {"", "", "", "", "", "0", "5m"}) +
                        maybe(rng, "job_order", {"", "", "", "", "learned", "levels", "age"}) +
                        maybe(rng, "job_tail", {"", "", "", "", "0", "33"}));
        return name;
    }

    void grow(Rng& rng, const std::string& parent, int depth) {
        const std::int64_t children = rng.between(1, depth == 1 ? 3 : 2);
        for (std::int64_t i = 0; i < children; ++i) {
            const std::string name = add(rng, parent);
            if (depth < 3 && rng.chance(1, 3)) {
                grow(rng, name, depth + 1);
            } else {
                leaves.push_back(name);
            }
        }
    }
};

std::string size(Rng& rng) {
    switch (rng.between(0, 9)) {
        case 0: return " gpus=2";
        case 1: return " gpus=0.5";
        case 2: return " gpus=" + pick(rng, {"0.3", "0.25", "0.7", "2x0.5"});
        case 3:
            return " gpu_memory=" + pick(rng, {"20G", "40G", "60G"}) +
                   maybe(rng, "gpus", {"", "0.2", "0.5", "0.7"});
        case 5:
            return " gpu_memory=" + pick(rng, {"5G", "10G", "26G"}) +
                   maybe(rng, "gpus", {"", "0.1", "0.6", "2x0.3"});
        case 4: return " gpus=" + pick(rng, {"0", "3", "4"});
        default: return "";
    }
}

std::string tasks(Rng& rng) {
    switch (rng.between(0, 5)) {
        case 0: return " tasks=" + std::to_string(rng.between(2, 4));
        case 1: return " min=1 max=" + std::to_string(rng.between(2, 4));
        case 2: return " min=2 max=" + std::to_string(rng.between(3, 5));
        default: return "";
    }
}

// Parts of a gang, for one job in six.
std::string groups(Rng& rng) {
    if (!rng.chance(1, 6)) return "";
    return " groups=" + pick(rng, {"2x1@node", "2x2@node", "2x2@rack", "3x1@rack", "1@node,2@rack",
                                   "2@node,2@rack", "a:1..2@node,b:1..2@rack", "2..3@rack,1",
                                   "2@rack,1..2", "1..3,1..2@node", "a:1@node,b:2@node,c:1..2",
                                   "1..2x1@node", "1..3x2@rack", "1..2x2@node", "2..3x2"});
}

std::string measured(Rng& rng) {
    return " compute=" + pick(rng, {"0.1", "0.3", "0.5", "0.5", "0.7", "0.9"}) +
           " persistent=" + pick(rng, {"1G", "4G", "12G"}) + maybe(rng, "peak", {"", "20G", "38G"});
}

// On which nodes, for one job in eight; and in spite of which taints, for one in four.
std::string wishes(Rng& rng) {
    std::string line;
    if (rng.chance(1, 8)) {
        line += " filter=" + pick(rng, {"disk=ssd|hdd", "disk!=ssd", "disk", "!disk", "disks>2",
                                        "disks<8", "@name=n0|n2", "@name!=n1", "disk,disks>1",
                                        "block=b1;!disks", "@name=n0,disk;@name=n1,disks<9"});
    }
    if (!rng.chance(1, 4)) return line;
    return line + " tolerations=" +
           pick(rng, {"*", "keep", "for=a", "for:NoExecute", "keep,for", "*:NoSchedule",
                      "for=b:NoExecute"});
}

// A job that may share its GPU: it asks for a whole one and may be paused.
std::string sharing_line(Rng& rng, const Setting& setting, const std::string& project,
                         int& jobs_made) {
    std::string line = "submit " + project + "/j" + std::to_string(++jobs_made) + " may_share=yes" +
                       maybe(rng, "priority", {"", "", "", "40", "60", "90"}) +
                       maybe(rng, "model", {"", "", "", "", "", "", "", "A"}) +
                       maybe(rng, "cpu", {"", "", "", "", "2"}) +
                       maybe(rng, "resources", {"", "", "", "", "", "rdma:1"}) +
                       maybe(rng, "restart_cost", {"", "", "", "1m"}) +
                       maybe(rng, "expected", {"", "", "10m", "2h"}) +
                       maybe(rng, "min_run", {"", "", "", "0", "10m"});
    if (setting.pools > 1) line += maybe(rng, "pool", {"", "", "second", "second,default"});
    return line;
}

std::string job_line(Rng& rng, const Setting& setting, std::span<const std::string> projects,
                     int& jobs_made) {
    const bool may_share = rng.chance(setting.is_for_sharing ? 4 : 1, 6);
    const std::string& project = projects[rng.index(projects.size())];
    if (may_share) return sharing_line(rng, setting, project, jobs_made);
    const std::string in_groups = groups(rng);
    std::string line =
        "submit " + project + "/j" + std::to_string(++jobs_made) + size(rng) +
        (in_groups.empty() ? tasks(rng) : in_groups) +
        maybe(rng, "kind", {"", "", "", "", "build", "inference"}) +
        maybe(rng, "priority", {"", "", "", "40", "60", "90"}) +
        maybe(rng, "preemptible", {"", "", "", "", "", "", "yes", "no"}) +
        maybe(rng, "model", {"", "", "", "", "", "", "", "", "", "", "A", "H", "A|H", "1g.10gb"}) +
        maybe(rng, "label.disk", {"", "", "", "", "", "", "", "", "", "ssd"}) + wishes(rng) +
        maybe(rng, "resources", {"", "", "", "", "", "", "", "", "rdma:1", "rdma:2", "ib:1"}) +
        maybe(rng, "cpu", {"", "", "", "", "", "", "", "2", "6"}) +
        maybe(rng, "restart_cost", {"", "", "", "1m", "3m"}) +
        maybe(rng, "expected", {"", "", "10m", "2h"}) +
        maybe(rng, "attained", {"", "", "", "5m", "30m", "2h"}) +
        maybe(rng, "min_run", {"", "", "", "0", "10m"}) +
        (in_groups.empty() ? maybe(rng, "elastic", {"", "", "", "restart", "restart", "grow"})
                           : maybe(rng, "elastic", {"", "", "restart"})) +
        maybe(rng, "preemption_delay", {"", "", "", "", "0", "2m", "10m"}) +
        maybe(rng, "held", {"", "", "", "", "", "", "", "", "", "", "", "yes"});
    if (rng.chance(1, 4)) {
        const std::string level =
            pick(rng, {" required=rack", " required=node", " preferred=rack", " preferred=node",
                       " preferred=zone", " required=zone preferred=rack",
                       " required=rack preferred=node"});
        // A group may ask for a level only inside the required one.
        if (in_groups.empty() || level != " required=node") line += level;
    }
    line += maybe(rng, "skew", {"", "", "", "", "0.1", "0.5"}) +
            maybe(rng, "placement", {"", "", "", "", "", "any", "consolidate"});
    if (setting.pools > 1) {
        line += maybe(rng, "pool", {"", "", "second", "second,default", "default,second"});
    }
    if (setting.pools > 2 && line.find(" pool=") == std::string::npos) {
        line += maybe(rng, "pool", {"", "third", "third,default", "second,third"});
    }
    return line;
}

// Another job that is packed with this one; not valid when there is none.
model::JobId beside(const lifecycle::State& state, const model::JobRecord& record) {
    if (!record.spec.packed || record.tasks.empty()) return {};
    const model::TaskPlacement& task = record.tasks.front();
    for (const auto& [id, other] : state.jobs) {
        if (id == record.id || !other.spec.packed || other.tasks.empty()) continue;
        const model::TaskPlacement& there = other.tasks.front();
        if (there.node == task.node && there.gpu_mask == task.gpu_mask) return id;
    }
    return {};
}

// Of those that can have jobs.
std::vector<std::string> projects_left(const Setting& setting, const lifecycle::State& state) {
    std::vector<std::string> left;
    std::ranges::copy_if(setting.projects, std::back_inserter(left), [&](const auto& name) {
        return state.cluster.find_project(name).is_valid();
    });
    return left;
}

bool is_in_use(const lifecycle::State& state, const std::string& project) {
    const base::ProjectId id = state.cluster.find_project(project);
    return !state.cluster.is_leaf(id) ||
           std::ranges::any_of(state.cluster.jobs(),
                               [&](const auto& one) { return one.second.project == id; });
}

// It wants more or fewer tasks; empty where that cannot be.
std::string size_line(Rng& rng, const lifecycle::State& state, const model::JobRecord& record) {
    model::JobSizeSet set{record.id, 1, {}};
    for (const model::TaskPlacement& task : record.tasks) {
        if (task.task < record.spec.tasks_max && rng.chance(1, 3)) set.ended.push_back(task.task);
    }
    const auto left = std::ssize(record.tasks) - std::ssize(set.ended);
    set.tasks = static_cast<int>(rng.between(std::max<std::int64_t>(left, 1), left + 2));
    if (!lifecycle::check(state, set)) return "";
    std::string line =
        "size " + scenario::name_of(state, record.id) + " tasks=" + std::to_string(set.tasks);
    for (std::size_t i = 0; i < set.ended.size(); ++i) {
        line += (i == 0 ? " ended=" : ",") + std::to_string(set.ended[i]);
    }
    return line;
}

std::string quota_line(Rng& rng, const Setting& setting, const lifecycle::State& state) {
    std::string name;
    do {
        const std::size_t project = 1 + rng.index(state.cluster.projects().size() - 1);
        name = state.cluster.projects()[project].project.name;
    } while (name.empty());
    return "quota " + name + (setting.pools > 1 ? maybe(rng, "pool", {"", "second"}) : "") +
           maybe(rng, "quota", {"0", "1", "2", "4", "1.5"}) + maybe(rng, "limit", {"", "", "2"}) +
           maybe(rng, "weight", {"", "", "0", "1"}) +
           maybe(rng, "cpu_quota", {"", "", "", "0", "4", "8"}) +
           maybe(rng, "kind", {"", "", "fixed", "guaranteed"}) +
           maybe(rng, "job_order", {"", "", "", "", "learned", "levels", "age", "inherit"}) +
           maybe(rng, "job_tail", {"", "", "", "", "33", "inherit"});
}

// What can happen to jobs.
template <typename Add>
void add_job_events(Rng& rng, const lifecycle::State& state, const Add& add) {
    for (const auto& [id, record] : state.jobs) {
        const std::string job = scenario::name_of(state, id);
        const bool runs = record.state == JobState::Running;
        const bool leaves = !record.releasing.empty();
        if (leaves) add("left " + job, 4);
        if (leaves) add("killed " + job, 2);
        if (runs) add("finish " + job, 1);
        if (runs) add("save " + job, 1);
        if (runs && rng.chance(1, 4)) add("lose " + job, 1);
        if (record.state == JobState::Pausing && rng.chance(1, 3)) add("lose " + job, 1);
        if (record.held) add("resume " + job, 2);
        if (!record.held && rng.chance(1, 4)) add("pause " + job, 1);
        if (!record.held && rng.chance(1, 8)) add("hold " + job, 1);
        if (rng.chance(1, 6)) add("cancel " + job, 1);
        const bool grows = record.spec.elastic == model::Elastic::Grow;
        const std::string size = grows ? size_line(rng, state, record) : "";
        if (!size.empty()) add(size, 3);
        const bool may_park = runs && !leaves && record.spec.tasks_max == 1;
        if (may_park && rng.chance(1, 4)) add("park " + job, 1);
        if (record.parked_since) add("wake " + job, 2);
        if (runs && record.spec.may_share) add("measured " + job + measured(rng), 2);
        const model::JobId other = runs ? beside(state, record) : model::JobId{};
        if (other.is_valid())
            add("parted " + job + " beside=" + scenario::name_of(state, other), 4);
    }
}

std::string any_event(Rng& rng, const Setting& setting, std::span<const std::string> projects,
                      const lifecycle::State& state, Course& course) {
    std::vector<std::string> possible;
    const auto add = [&](const std::string& line, int weight) {
        possible.insert(possible.end(), static_cast<std::size_t>(weight), line);
    };
    for (int i = 0; i < 3 && setting.contested == 0; ++i) {
        add(job_line(rng, setting, projects, course.jobs_made), 4);
    }
    add("decide", setting.contested > 0 ? 1 : 14);
    add("advance " + pick(rng, {"10s", "1m", "3m", "20m"}), 5);
    add(quota_line(rng, setting, state), 2);
    const std::string& project = projects[rng.index(projects.size())];
    if (projects.size() > 1 && !is_in_use(state, project)) add("remove " + project, 2);
    add(policy_line(rng), 1);
    if (setting.pools > 1) {
        const int pool = static_cast<int>(rng.between(0, setting.pools - 1));
        add(pool_line(rng, setting, pool, false), 1);
        add(labels_line(rng, setting, state), 2);
    }
    const std::string node = setting.nodes[rng.index(setting.nodes.size())];
    add("others " + node + use_of_others(rng, ""), 2);
    add(pick(rng, {"drain ", "fail ", "ready ", "ready "}) + node, 2);
    add_job_events(rng, state, add);
    return possible[rng.index(possible.size())];
}

}  // namespace

Setting random_setting(Rng& rng) {
    Setting setting;
    setting.pools = rng.chance(1, 3) ? static_cast<int>(rng.between(2, 3)) : 1;
    setting.is_for_sharing = rng.chance(1, 4);
    setting.exchanges = rng.chance(1, 3);
    setting.spares = random_spares(rng, setting.pools);
    // Only nodes that are alike take each other's place.
    if (!setting.spares.empty() && rng.chance(3, 4)) setting.like_all = machine(rng, setting);
    setting.fixed.push_back(policy_line(rng));
    for (int pool = 1; pool < setting.pools; ++pool) {
        setting.fixed.push_back(pool_line(rng, setting, pool, true));
    }
    if (setting.exchanges || setting.spares.contains("default")) {
        setting.fixed.push_back(pool_line(rng, setting, 0, true));
    }
    const std::int64_t nodes = rng.between(1, rng.chance(1, 3) ? 6 : 3) + (setting.pools > 1);
    for (int i = 0; i < nodes; ++i) {
        setting.nodes.push_back("n" + std::to_string(i));
        setting.shuffled.push_back(node_line(rng, i, setting));
    }
    Tree tree;
    tree.pools = setting.pools;
    tree.grow(rng, "", 1);
    setting.shuffled.insert(setting.shuffled.end(), tree.lines.begin(), tree.lines.end());
    setting.projects = tree.leaves;
    const std::int64_t jobs = rng.between(0, 8);
    int made = 0;
    for (int i = 0; i < jobs; ++i) {
        const std::string age = " age=" + std::to_string(3600 + 10 * rng.between(0, 20)) + "s";
        setting.shuffled.push_back(job_line(rng, setting, setting.projects, made) + age);
        const std::string& line = setting.shuffled.back();
        if (line.find("may_share") == std::string::npos || !rng.chance(2, 3)) continue;
        const auto name = line.find(' ') + 1;
        setting.shuffled.push_back("profile " + line.substr(name, line.find(' ', name) - name) +
                                   measured(rng));
    }
    return setting;
}

std::string random_event(Rng& rng, const Setting& setting, const lifecycle::State& state,
                         Course& course) {
    const std::vector<std::string> projects = projects_left(setting, state);
    std::optional<std::string> line;
    if (setting.contested > 0) line = contested_event(rng, setting, projects, state, course);
    if (!line) line = any_event(rng, setting, projects, state, course);
    course.has_arrivals = line->starts_with("submit ") || line->starts_with("quota ") ||
                          (course.has_arrivals && *line != "decide");
    return *line;
}

std::vector<std::string> losses_by(const std::string& line, const lifecycle::State& state) {
    const std::string verb = "fail ";
    if (!line.starts_with(verb)) return {};
    const auto node = state.cluster.find_node(line.substr(verb.size()));
    std::vector<std::string> lost;
    for (const auto& [id, record] : state.jobs) {
        const bool was_there =
            std::ranges::any_of(record.tasks, [&](const auto& task) { return task.node == node; });
        if (was_there) lost.push_back("lose " + scenario::name_of(state, id));
    }
    return lost;
}

}  // namespace berth::proof
