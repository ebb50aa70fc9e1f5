// SPDX-License-Identifier: Apache-2.0
#include "codec/files/state_file.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/rng.h"
#include "codec/files/example_blocks.h"
#include "codec/files/state_writer.h"

using namespace berth;
using codec::parse_state;

namespace {

model::Description good(const std::string& text) {
    auto state = parse_state(text, "state.yaml");
    if (!state) FAIL(state.error().message);
    return *state;
}

std::string error_of(const std::string& text) {
    const auto state = parse_state(text, "state.yaml");
    if (state) return "no error";
    CHECK(state.error().code == base::ErrorCode::Invalid);
    return state.error().message;
}

bool is_equal(const model::Description& a, const model::Description& b) {
    const auto is_same_task = [](const model::TaskDescription& x, const model::TaskDescription& y) {
        return x.state == y.state && x.node == y.node && x.gpu_indices == y.gpu_indices;
    };
    const auto is_same_job = [&](const model::JobDescription& x, const model::JobDescription& y) {
        return x.spec == y.spec && x.created == y.created && x.last_start == y.last_start &&
               x.last_checkpoint == y.last_checkpoint && x.attained == y.attained &&
               x.held == y.held && x.parked_since == y.parked_since &&
               x.saves_when_asked == y.saves_when_asked && x.last_pause == y.last_pause &&
               x.waiting_since == y.waiting_since && x.stale_since == y.stale_since &&
               x.frozen_gpu_memory == y.frozen_gpu_memory &&
               std::ranges::equal(x.tasks, y.tasks, is_same_task);
    };
    return a.now == b.now && a.pools == b.pools && a.nodes == b.nodes && a.projects == b.projects &&
           std::ranges::equal(a.jobs, b.jobs, is_same_job);
}

}  // namespace

TEST_CASE("every example of the reference page is parsed") {
    const auto blocks = codec::example_blocks("docs/reference/state-file.md");
    int examples = 0;
    for (const codec::ExampleBlock& block : blocks) {
        if (block.language != "yaml" && block.language != "json") continue;
        CAPTURE(block.line);
        good(block.text);
        ++examples;
    }
    CHECK(examples == 2);
    const auto state = good(blocks[0].text);
    CHECK(state.nodes.size() == 3);
    CHECK(state.nodes[0].name == "a0");
    CHECK(state.jobs.front().spec.name == "llama-ft");
    CHECK(state.jobs[3].spec.tasks_max == 6);
    CHECK(state.projects.front().name == "research");
}

TEST_CASE("what others use of a node is read as it was written") {
    const auto state = good(
        "nodes: [{name: n1, gpus: 4, cpu: 8, others: {gpus: 2, gpu_indices: [3], cpu: 1.5,\n"
        "         memory: 4G}}]");
    REQUIRE(state.nodes.size() == 1);
    CHECK(state.nodes.front().others == model::OthersUse{{1500}, {std::int64_t{4} << 30}, 2, {3}});
    CHECK(is_equal(good(codec::state_json(state)), state));
    CHECK(error_of("nodes: [{name: n1, gpus: 4, others: {gpu: 2}}]").find("others.gpu") !=
          std::string::npos);
    CHECK(error_of("nodes: [{name: n1, gpus: 4, others: {gpu_indices: [x]}}]")
              .find("others.gpu_indices: wanted indices of GPUs") != std::string::npos);
}

TEST_CASE("resources are read as they were written") {
    const auto state = good(
        "nodes: [{name: n1, gpus: 4, resources: {rdma/hca: 4, disk: 1G, pods: 110},\n"
        "         others: {resources: {pods: 12}}}]\n"
        "projects: [{name: p}]\n"
        "jobs: [{name: j, project: p, request: {gpus: 1, resources: {rdma/hca: 2}}}]");
    const model::Resources has{{"rdma/hca", 4}, {"disk", std::int64_t{1} << 30}, {"pods", 110}};
    CHECK(state.nodes.front().resources == has);
    CHECK(state.nodes.front().others.resources == model::Resources{{"pods", 12}});
    CHECK(state.jobs.front().spec.request.resources == model::Resources{{"rdma/hca", 2}});
    CHECK(is_equal(good(codec::state_json(state)), state));
}

TEST_CASE("filters, taints and tolerations are read as they were written") {
    const auto state = good(
        "nodes: [{name: n1, gpus: 2, taints: [\"for=a:NoSchedule\", \"old:NoExecute\"]}]\n"
        "projects: [{name: p}]\n"
        "jobs: [{name: j, project: p, node_filter: \"zone=a|b,!spot;@name=n1\",\n"
        "        tolerations: [\"for\", \"*:NoExecute\"]}]");
    REQUIRE(state.nodes.front().taints.size() == 2);
    CHECK(state.nodes.front().taints[1] == model::Taint{"old", "", model::TaintEffect::NoExecute});
    const model::JobSpec& spec = state.jobs.front().spec;
    CHECK(spec.node_filter.any_of.size() == 2);
    CHECK(spec.tolerations[1] == model::Toleration{"", {}, model::TaintEffect::NoExecute});
    CHECK(is_equal(good(codec::state_json(state)), state));
    CHECK(error_of("nodes: [{name: n1, taints: for}]")
              .find("nodes[0].taints: wanted a taint such as dedicated=infra:NoSchedule") !=
          std::string::npos);
}

TEST_CASE("limits of CPU and memory hold in every pool that does not take them back") {
    const auto state = good(
        "nodes: [{name: n1, gpus: 2}]\n"
        "pools: [{name: h100, labels: {gpu: h100}}, {name: old, labels: {gpu: v100}}]\n"
        "projects: [{name: p, cpu_limit: 1.5, memory_limit: 64G,\n"
        "            pools: {h100: {cpu_limit: none}, old: {memory_limit: -1}}}]");
    const model::Project& project = state.projects.front();
    CHECK(project.rights.cpu_limit == model::MilliCpu{1500});
    CHECK(project.rights.memory_limit == base::Bytes{std::int64_t{64} << 30});
    CHECK_FALSE(project.pools.at("h100").cpu_limit.has_value());
    CHECK(project.pools.at("h100").memory_limit == project.rights.memory_limit);
    CHECK(project.pools.at("old").cpu_limit == project.rights.cpu_limit);
    CHECK_FALSE(project.pools.at("old").memory_limit.has_value());
    CHECK(is_equal(good(codec::state_json(state)), state));
    CHECK(error_of("projects: [{name: p, cpu_limit: many}]").find("a number of cores") !=
          std::string::npos);
}

TEST_CASE("quotas of CPU and memory are said of each pool") {
    const auto state = good(
        "nodes: [{name: n1, gpus: 2}]\n"
        "pools: [{name: h100, labels: {gpu: h100}}, {name: old, labels: {gpu: v100}}]\n"
        "projects: [{name: p, cpu_quota: 1.5, memory_quota: 64G, memory_limit: 64G,\n"
        "            pools: {h100: {cpu_quota: 2}, old: {memory_quota: none}}}]");
    const model::Project& project = state.projects.front();
    CHECK(project.rights.cpu_quota == model::MilliCpu{1500});
    CHECK(project.rights.memory_quota == base::Bytes{std::int64_t{64} << 30});
    CHECK(project.pools.at("h100").cpu_quota == model::MilliCpu{2000});
    CHECK_FALSE(project.pools.at("h100").memory_quota.has_value());
    CHECK_FALSE(project.pools.at("old").cpu_quota.has_value());
    CHECK_FALSE(model::rights_in(project, "elsewhere").cpu_quota.has_value());
    CHECK(is_equal(good(codec::state_json(state)), state));
}

TEST_CASE("memory is written to the byte, and as people write it where that is so") {
    const auto state = good(
        "projects: [{name: p, memory_quota: 64G, memory_limit: 99999999999}]\n"
        "nodes: [{name: n1, gpus: 2}]");
    const std::string text = codec::state_json(state);
    CHECK(text.find("\"memory_quota\":\"64G\",\"memory_limit\":\"99999999999\"") !=
          std::string::npos);
    CHECK(is_equal(good(text), state));
}

TEST_CASE("delays, minimum runs and stale gangs mean what they say") {
    const auto state = good(
        "now: 2h\nnodes: [{name: n1, gpus: 2}]\n"
        "projects: [{name: p, preemption_delay: 5m, preempt_min_run: 1m, reclaim_min_run: 1h,\n"
        "  job_order: age, job_tail: 33}]\n"
        "jobs: [{name: j, project: p, min: 2, preemption_delay: 0, stale_grace: never,\n"
        "        last_pause: 1h, saves_when_asked: true, stale_since: 110m, tasks: [{node: n1}]},\n"
        "       {name: k, project: p, stale_grace: 3m, pause_grace: 2m}]");
    const model::Project& project = state.projects.front();
    CHECK(project.preemption_delay == base::Duration{300'000});
    CHECK(project.preempt_min_run == base::Duration{60'000});
    CHECK(project.job_order == model::JobOrder::Age);
    CHECK(project.job_tail == 33);
    CHECK(project.reclaim_min_run == base::Duration{3'600'000});
    const auto& job =
        *std::ranges::find(state.jobs, "j", [](const auto& j) { return j.spec.name; });
    CHECK(job.spec.preemption_delay == base::Duration{0});
    CHECK(job.spec.stale_grace < base::Duration{0});
    CHECK(job.last_pause == base::at_ms(3'600'000));
    CHECK(job.stale_since == base::at_ms(6'600'000));
    const auto& other =
        *std::ranges::find(state.jobs, "k", [](const auto& j) { return j.spec.name; });
    CHECK(other.spec.stale_grace == base::Duration{180'000});
    CHECK(other.spec.pause_grace == base::Duration{120'000});
    CHECK_FALSE(other.spec.preemption_delay.has_value());
    CHECK_FALSE(other.last_pause.has_value());
}

TEST_CASE("fields have the documented defaults") {
    const auto state = good(
        "nodes: [{name: n1}]\nprojects: [{name: p}]\n"
        "jobs: [{name: j, project: p}, {name: k, project: p, kind: build}]");
    CHECK(base::to_ms(state.now) == 0);
    model::Node node;
    node.name = "n1";
    CHECK(state.nodes[0] == node);
    model::Project project;
    project.name = "p";
    CHECK(state.projects[0] == project);
    model::JobSpec spec;
    spec.name = "j";
    spec.project = "p";
    CHECK(state.jobs[0].spec == spec);
    CHECK(state.jobs[1].spec.priority == 100);
    CHECK_FALSE(state.jobs[1].spec.preemptible);
    CHECK(state.jobs[1].created == state.now);
}

TEST_CASE("levels are those of the file, or zone, block and rack") {
    CHECK(good("now: 0").levels == model::default_levels());
    const auto state = good(
        "jobs: [{name: j, project: a, topology: {required: row, preferred: node}},"
        "{name: k, project: a, topology: row}]\n"
        "nodes: [{name: n, topology: {row: w1}}]\nprojects: [{name: a}]\nlevels: [hall, row]");
    CHECK(state.levels == model::Levels{"hall", "row"});
    CHECK(state.nodes[0].topology.at("row") == "w1");
    CHECK(state.jobs[0].spec.topology == model::TopologyRequest{"row", "node"});
    CHECK(state.jobs[1].spec.topology == model::TopologyRequest{"row", ""});
}

TEST_CASE("a project made before 1970 is read as it was written") {
    const auto state = good("projects: [{name: a, created: -5m}, {name: b, created: 7}]");
    CHECK(state.projects[0].order == -300'000);
    CHECK(good(codec::state_json(state)).projects == state.projects);
}

TEST_CASE("a state says which policy decides") {
    CHECK(good("now: 0").policy.empty());
    const auto state =
        good("profile: classic\npolicy: {min_runtime: 90m, moves: 3, gang_reclaim: yes}");
    CHECK(state.profile == "classic");
    CHECK(state.policy == model::PolicyChanges{{"min_runtime", "90m"},
                                               {"consolidation_max_jobs", "3"},
                                               {"gang_reclaim", "yes"}});
    CHECK(good(codec::state_json(state)).policy == state.policy);
    CHECK(error_of("policy: {order.tail: many}") ==
          "state.yaml:1: policy: order.tail: wanted a whole number from 0 to 50, found \"many\"");
    CHECK(error_of("profile: best") ==
          "state.yaml:1: profile: wanted \"berth\" or \"classic\", found \"best\"");
}

TEST_CASE("tasks give the gang its size unless min and max do") {
    const std::string head = "nodes: [{name: n, gpus: 4}]\nprojects: [{name: p}]\njobs: ";
    const auto counts = [&](const std::string& job) {
        const auto spec = good(head + "[{name: j, project: p, " + job + "}]").jobs[0].spec;
        return std::pair(spec.tasks_min, spec.tasks_max);
    };
    CHECK(counts("tasks: [{node: n}, {node: n}, {}]") == std::pair(3, 3));
    CHECK(counts("max: 2, tasks: [{node: n}]") == std::pair(1, 2));
    CHECK(counts("max: 4") == std::pair(1, 4));
    CHECK(counts("min: 3, tasks: [{node: n}]") == std::pair(3, 3));
    CHECK(counts("gpus: 2..4, tasks: [{node: n}]") == std::pair(2, 4));
    CHECK(counts("min: 2, max: 8") == std::pair(2, 8));
}

TEST_CASE("a frozen job is kept on its node, its GPUs free for others, and may be promised them") {
    const model::Description state = good(
        "nodes: [{name: n, gpus: 1}]\nprojects: [{name: p}]\njobs: "
        "[{name: a, project: p, frozen_gpu_memory: 2G, tasks: [{state: frozen, node: n, gpus: [0]},"
        " {state: promised, node: n, gpus: [0]}]}, {name: b, project: p, tasks: [{node: n}]}]");
    CHECK(state.jobs[0].tasks[0].state == model::TaskState::Frozen);
    CHECK(state.jobs[0].frozen_gpu_memory == base::Bytes{INT64_C(2) << 30});
    CHECK(state.jobs[0].spec.tasks_max == 1);
    CHECK(model::places_before_promise(state.jobs[0]) == 1);
    CHECK(is_equal(good(codec::state_json(state)), state));
    const std::string head =
        "nodes: [{name: m, gpus: 1}, {name: n, gpus: 1}]\nprojects: [{name: p}]\n"
        "jobs: [{name: j, project: p, tasks: [{state: frozen, node: m, gpus: [0]}, ";
    CHECK(error_of(head + "{node: n, gpus: [0]}]}]") ==
          "state.yaml:3: jobs[0].tasks: wanted all frozen or none, found running ones too");
    CHECK(error_of(head + "{state: frozen, node: n, gpus: [0]}]}]") ==
          "state.yaml:3: jobs[0].tasks: wanted frozen ones on one node, found \"n\" too");
}

TEST_CASE("bad input is one line naming file, line, field, what was wanted and what was found") {
    const std::vector<std::pair<std::string, std::string>> cases{
        {"projects:\n- {name: p}\n- name: q\n  quota: many\n",
         "state.yaml:4: projects[1].quota: wanted a number of GPUs such as 4 or 0.5, "
         "found \"many\""},
        {"projects:\n- {name: p, quta: 3}\n",
         "state.yaml:2: projects[0].quta: unknown field, did you mean \"quota\"?"},
        {"nodes: 3", "state.yaml:1: nodes: wanted a list, found \"3\""},
        {"", "state.yaml:1: wanted a map of fields, found nothing"},
        {"nodes: [{gpus: 3}]", "state.yaml:1: nodes[0].name: wanted a name, found nothing"},
        {"nodes: [{name: a, gpus: 65}]",
         "state.yaml:1: nodes[0].gpus: wanted a whole number from 0 to 64, found \"65\""},
        {"nodes: [{name: a, health: sick}]",
         "state.yaml:1: nodes[0].health: wanted ready, drained or down, found \"sick\""},
        {"nodes: [{name: a, count: 2}]",
         "state.yaml:1: nodes[0].name: wanted a name with {i} in it for several nodes, such as "
         "n{i}, found \"a\""},
        {"nodes: [{name: a}, {name: a}]",
         "state.yaml:1: nodes[1].name: another node is named \"a\""},
        {"projects: [{name: a, parent: b}, {name: b, parent: a}]",
         "state.yaml:1: projects[0].parent: project \"a\" is below itself"},
        {"projects: [{name: lab}, {name: b, parent: lba}]",
         "state.yaml:1: projects[1].parent: no project \"lba\", did you mean \"lab\"?"},
        {"projects: [{name: a}, {name: b, parent: a}]\njobs: [{name: j, project: a}]",
         "state.yaml:2: jobs[0].project: wanted a project without projects below it, found \"a\""},
        {"projects: [{name: a}]\njobs:\n- {name: j, project: a}\n- {name: j, project: a}",
         "state.yaml:4: jobs[1].name: project \"a\" has another job \"j\""},
        {"projects: [{name: a}]\njobs: [{name: j, project: a, pool: x}]",
         "state.yaml:2: jobs[0].pools: no pool \"x\""},
        {"nodes: [{name: n, gpus: 2}]\nprojects: [{name: a}]\njobs:\n- name: j\n  project: a\n"
         "  tasks:\n  - {node: n, gpus: [2]}",
         "state.yaml:7: jobs[0].tasks[0].gpus: node \"n\" has 2 GPUs, found index 2"},
        {"nodes: [{name: n, gpus: 2}]\nprojects: [{name: a}]\njobs:\n- name: j\n  project: a\n"
         "  gpus: 0.6\n  tasks:\n  - {node: n, gpus: [1]}\n  - {node: n, gpus: [1]}",
         "state.yaml:9: jobs[0].tasks[1].gpus: GPU 1 of node \"n\" is given away more than once: "
         "1.2 in use"},
        {"nodes: [{name: n, gpus: 1}]\nprojects: [{name: a}]\njobs: [{name: j, project: a, "
         "tasks: [{node: n}, {node: n}]}]",
         "state.yaml:3: jobs[0].tasks[1].node: node \"n\" has 1 GPUs, the tasks listed on it use "
         "2"},
        {"nodes: [{name: n, gpus: 4}]\nprojects: [{name: a}]\njobs: [{name: j, project: a, "
         "max: 1, tasks: [{node: n}, {node: n}]}]",
         "state.yaml:3: jobs[0].tasks: wanted at most max (1) tasks, found 2"},
        {"projects: [{name: a}]\njobs: [{name: j, project: a, tasks: [{state: running}]}]",
         "state.yaml:2: jobs[0].tasks[0].node: wanted the node on which it runs, found nothing"},
        {"projects: [{name: a}]\njobs: [{name: j, project: a, gpus: 1.5}]",
         "state.yaml:2: jobs[0].gpus: wanted whole GPUs, or parts such as 2x0.75 for more than "
         "one, found \"1.5\""},
        {"nodes: [{name: n, gpus: 1, gpu_memory: 8G,\ngpu_context: 8G}]",
         "state.yaml:2: nodes[0].gpu_context: wanted less than gpu_memory, of which it is a part, "
         "found \"8G\""},
        {"{\"nodes\": [\n{\"name\": \"n\" \"gpus\": 1}]}", "state.yaml:2: wanted \",\" or \"}\""},
        {"now: yesterday",
         "state.yaml:1: now: wanted a time such as 2026-03-01T12:00:00Z, 90s or a number of "
         "seconds, found \"yesterday\""},
        {"levels: [rack, node]",
         "state.yaml:1: levels: wanted names of levels, each once and without \"node\", such as "
         "[zone, block, rack], found a list"},
        {"nodes: [{name: n, topology: {rak: r1}}]",
         "state.yaml:1: nodes[0].topology: no level \"rak\", did you mean \"rack\"?"},
        {"projects: [{name: a}]\njobs: [{name: j, project: a, topology: rakc}]",
         "state.yaml:2: jobs[0].topology: no level \"rakc\", did you mean \"rack\"?"},
        {"projects: [{name: a}]\njobs: [{name: j, project: a, topology: {required: rack, "
         "preferred: zone}}]",
         "state.yaml:2: jobs[0].topology: wanted a preferred level inside \"rack\", found "
         "\"zone\""},
        {"now: 1\nnow: 2", "state.yaml:2: \"now\" is given twice"},
    };
    for (const auto& [text, wanted] : cases) CHECK(error_of(text) == wanted);
}

TEST_CASE("a companion that runs has as many GPUs as it asks, not as a task does") {
    const std::string text =
        "nodes: [{name: n, gpus: 8}]\nprojects: [{name: a}]\njobs:\n- name: j\n  project: a\n"
        "  gpus: 4\n  companions: [{name: head, gpus: 2}]\n  tasks:\n  - {node: n, gpus: [0, 1, 2, "
        "3]}\n";
    const auto state = good(text + "  - {node: n, gpus: [4, 5]}");
    CHECK(state.jobs[0].tasks[1].gpu_indices == std::vector<int>{4, 5});
    CHECK(error_of(text + "  - {node: n, gpus: [4, 5, 6, 7]}") ==
          "state.yaml:10: jobs[0].tasks[1].gpus: wanted as many as the task asks for (2), found 4");
}

TEST_CASE("projects stand in as many levels as anywhere, and each walk up ends there") {
    std::string text = "projects:\n  - {name: p0}\n";
    for (int i = 1; i < 32; ++i) {
        text += "  - {name: p" + std::to_string(i) + ", parent: p" + std::to_string(i - 1) + "}\n";
    }
    CHECK(good(text).projects.size() == 32);
    CHECK(error_of(text + "  - {name: p32, parent: p31}\n") ==
          "state.yaml:34: projects[32].parent: wanted at most 32 projects above each other");
}

TEST_CASE("all that JSON allows is read, and says the same as YAML") {
    const auto json = good(
        "{\t\"now\":\"1m\",\r\n\t\"projects\":[{\"name\":\"caf\\u00e9 "
        "\\ud83d\\ude80\\/\",\"quota\":0.5}]}");
    const auto yaml = good("now: 60\nprojects: [{name: \"café 🚀/\", quota: 0.5}]");
    CHECK(is_equal(json, yaml));
    CHECK(is_equal(good("{now: 60, projects: [{name: café 🚀/, quota: 0.5}]}"), yaml));
}

TEST_CASE("the order of the lists does not matter") {
    std::vector<std::string> nodes;
    std::vector<std::string> projects{"{name: dept, created: 0}"};
    std::vector<std::string> jobs;
    for (int i = 0; i < 12; ++i) {
        const std::string n = std::to_string(i);
        nodes.push_back("{name: n" + n + ", gpus: " + n + "}");
        projects.push_back("{name: p" + n + ", parent: dept, created: 5}");
        jobs.push_back("{name: j" + n + ", project: p" + std::to_string(i % 3) +
                       ", created: " + std::to_string(i % 2) + "}");
    }
    const auto text = [&] {
        std::string file;
        for (const auto& [name, list] :
             {std::pair("nodes", &nodes), {"projects", &projects}, {"jobs", &jobs}}) {
            file += std::string(name) + ":\n";
            for (const std::string& item : *list) file += "- " + item + "\n";
        }
        return file;
    };
    const auto first = good(text());
    CHECK(first.nodes[2].name == "n2");
    CHECK(first.nodes[10].name == "n10");
    base::Rng rng(1);
    for (int round = 0; round < 100; ++round) {
        for (auto* list : {&nodes, &projects, &jobs}) {
            for (std::size_t i = list->size() - 1; i > 0; --i) {
                std::swap((*list)[i], (*list)[rng.index(i + 1)]);
            }
        }
        REQUIRE(is_equal(first, good(text())));
    }
}

TEST_CASE("rights in a pool follow the project's own, but for quota and usage") {
    const auto state = good(
        "pools: [{name: a}]\nprojects: [{name: p, quota: 4, limit: 6, "
        "weight: 2.5, kind: fixed, usage: 0.5, pools: {a: {limit: none}, default: "
        "{priority: 7}}}]");
    const model::Project& project = state.projects[0];
    CHECK_FALSE(project.pools.at("a").quota.has_value());
    CHECK(project.pools.at("a").limit == model::kUnlimited);
    CHECK(project.pools.at("a").weight == 2500);
    CHECK(project.pools.at("a").kind == model::QuotaKind::Fixed);
    CHECK(project.pools.at("a").usage_ppm == 0);
    CHECK(project.pools.at("default").usage_ppm == 500'000);
    CHECK(project.pools.at("default").quota == base::gpus(4));
    CHECK(project.pools.at("default").priority == 7);
}

TEST_CASE("a mutilated file is refused or read, never more") {
    const std::string text = codec::example_blocks("docs/reference/state-file.md")[0].text;
    base::Rng rng(7);
    for (int round = 0; round < 2000; ++round) {
        std::string broken = text;
        for (std::int64_t i = rng.between(1, 4); i > 0; --i) {
            const std::size_t place = rng.index(broken.size());
            switch (rng.between(0, 3)) {
                case 0: broken.erase(place, rng.index(9)); break;
                case 1: broken[place] = static_cast<char>(rng.between(0, 255)); break;
                case 2:
                    broken.insert(place, std::string(1, "{}[]:,&*-#\"'|>%@`\n\t "[rng.index(20)]));
                    break;
                default: broken.insert(place, text.substr(rng.index(text.size()), rng.index(20)));
            }
        }
        const auto state = parse_state(broken, "f");
        if (!state) CHECK(state.error().message.starts_with("f:"));
    }
}
