// SPDX-License-Identifier: Apache-2.0
#include "codec/files/job_file.h"

#include <doctest/doctest.h>

#include "codec/files/example_blocks.h"

using namespace berth;
using Texts = std::vector<std::string>;

namespace {

model::Submission good_job(const std::string& text) {
    auto job = codec::parse_job_file(text, "job.yaml", "/data/maria");
    if (!job) FAIL(job.error().message);
    return *job;
}

std::string job_error(const std::string& text) {
    const auto job = codec::parse_job_file(text, "job.yaml", "/data/maria");
    return job ? "no error" : job.error().message;
}

}  // namespace

TEST_CASE("every example of the reference page is parsed") {
    Texts names;
    for (const auto& block : codec::example_blocks("docs/reference/job-file.md")) {
        CAPTURE(block.line);
        if (block.language == "yaml") names.push_back(good_job(block.text).spec.name);
    }
    CHECK(names == Texts{"", "llama-ft", "sweep-lr", "elastic", "serve", "ray"});
}

TEST_CASE("a job says how long it waits, is left alone and may miss tasks") {
    const auto job = good_job("run: x\nmin_run: 10m\npreemption_delay: 2m\nstale_grace: never\n");
    CHECK(job.spec.min_run == base::Duration{600'000});
    CHECK_FALSE(job.spec.may_share);
    CHECK(good_job("run: x\nmay_share: true\n").spec.may_share);
    CHECK_FALSE(job.spec.park_after);
    CHECK(good_job("run: x\npark_after: 30m\n").spec.park_after == base::Duration{1'800'000});
    CHECK(*good_job("run: x\npark_after: never\n").spec.park_after < base::Duration{0});
    CHECK(job.spec.preemption_delay == base::Duration{120'000});
    CHECK(job.spec.stale_grace < base::Duration{0});
    CHECK_FALSE(good_job("run: x\n").spec.stale_grace.has_value());
    CHECK(job_error("run: x\npreemption_delay: soon\n").find("preemption_delay") !=
          std::string::npos);
}

TEST_CASE("a job says on which nodes it may run, and in spite of which taints") {
    const auto spec = good_job(
                          "run: x\nnode_filter: zone=a|b,!spot\n"
                          "tolerations: [for=a, \"*:NoExecute\"]\n")
                          .spec;
    CHECK(format(spec.node_filter) == "zone=a|b,!spot");
    REQUIRE(spec.tolerations.size() == 2);
    CHECK(format(spec.tolerations[1]) == "*:NoExecute");
    CHECK(good_job("run: x\ntolerations: for\n").spec.tolerations.size() == 1);
    CHECK(job_error("run: x\nnode_filter: zone=a,\n") ==
          "job.yaml:2: node_filter: term \"\": wanted the key of a label, or @name");
    CHECK(job_error("run: x\ntolerations: a:Never\n") ==
          "job.yaml:2: tolerations: wanted a toleration such as dedicated=infra:NoSchedule, "
          "dedicated or *, found \"a:Never\"");
}

TEST_CASE("the long example means what it says") {
    const auto job = good_job(codec::example_blocks("docs/reference/job-file.md")[1].text);
    CHECK(job.spec.project == "nlp");
    CHECK(job.spec.tasks_min == 2);
    CHECK(job.spec.tasks_max == 2);
    CHECK(job.spec.request.gpus == 8);
    CHECK(job.spec.gpu_model == "H100");
    CHECK_FALSE(job.spec.request.cpu.has_value());
    CHECK(job.spec.request.memory->value == 500LL << 30);
    CHECK(job.spec.pools == Texts{"h100", "default"});
    CHECK(job.spec.restart_cost.count() == 90'000);
    CHECK(job.launch.command == Texts{"sh", "-c", "torchrun --nnodes 2 train.py"});
    CHECK(job.launch.workdir == "/data/maria/runs/llama");
    CHECK(job.launch.checkpoint_dir == "/data/maria/runs/llama/ckpt");
    CHECK(job.launch.environment == Texts{"WANDB_PROJECT=ft", "OMP_NUM_THREADS=8"});
    CHECK(job.launch.pause.signal == "auto");
    CHECK(job.launch.pause.grace == base::Duration{120'000});
}

TEST_CASE("a job file has the documented defaults") {
    const auto job = good_job("run: 'true'");
    CHECK(job.spec == model::JobSpec{});
    CHECK(job.launch.workdir == "/data/maria");
    CHECK(job.launch.checkpoint_dir.empty());
    CHECK(job.launch.environment.empty());
    CHECK(good_job("run: x\nworkdir: /data/").launch.workdir == "/data");
    CHECK(good_job("run: x\nworkdir: ../b/.").launch.workdir == "/data/b");
    CHECK(good_job("run: x\nkind: inference").spec.priority == 125);
    CHECK_FALSE(good_job("run: x\ntype: build").spec.preemptible);
    CHECK(good_job("run: x\nimage: null\nname: ~").spec.name.empty());
    CHECK(good_job("{\"run\": \"x\", \"tasks\": {\"min\": 2, \"max\": 3}}").spec.tasks_max == 3);
    CHECK(good_job("run: x\ntasks: 3\ngpus: 2").spec.tasks_min == 3);
    CHECK(good_job("run: x\ntasks: 1..3").spec.elastic == model::Elastic::Restart);
    CHECK(good_job("run: x\ntasks: 1..3\nelastic: restart").spec.elastic ==
          model::Elastic::Restart);
}

TEST_CASE("a job file names levels, one alone being required") {
    CHECK(good_job("run: x\ntopology: rack").spec.topology == model::TopologyRequest{"rack", ""});
    CHECK(good_job("run: x\ngpus: 4..16@rack").spec.topology == model::TopologyRequest{"rack", ""});
    CHECK(good_job("run: x\ngpus: 8@rack\ntopology: {preferred: node}").spec.topology ==
          model::TopologyRequest{"rack", "node"});
    CHECK(good_job("run: x\ntopology: {preferred: node}").spec.topology ==
          model::TopologyRequest{"", "node"});
}

TEST_CASE("companions ask for themselves") {
    const auto spec =
        good_job(
            "run: x\ngpus: 8\ncompanions:\n"
            "  - {name: head, cpus: 8, memory: 32G, node_labels: {disk: ssd}, tolerations: head}\n"
            "  - {name: proxy, count: 2, resources: {rdma: 1}, node_filter: zone=a}")
            .spec;
    REQUIRE(spec.companions.size() == 2);
    const model::Companion& head = spec.companions[0];
    CHECK(head.name == "head");
    CHECK(head.count == 1);
    CHECK(head.request.gpus == 0);
    CHECK(head.request.cpu == base::MilliCpu{8000});
    CHECK(head.request.memory == base::Bytes{std::int64_t{32} << 30});
    CHECK(head.node_labels == model::Labels{{"disk", "ssd"}});
    CHECK(head.tolerations == std::vector<model::Toleration>{{"head"}});
    const model::Companion& proxy = spec.companions[1];
    CHECK(proxy.count == 2);
    CHECK(proxy.request.resources == model::Resources{{"rdma", 1}});
    CHECK(format(proxy.node_filter) == "zone=a");
    CHECK(job_error("run: x\ncompanions: [{name: a}, {name: a}]") ==
          "job.yaml:2: companions: \"a\": another kind has the same name");
}

TEST_CASE("companions ask for GPUs of their own") {
    const auto spec = good_job(
                          "run: x\ngpus: H100:8\ncompanions:\n"
                          "  - {name: eval, gpus: T4:2}\n"
                          "  - {name: actor, count: 3, gpus: 0.5, gpu_model: A10|T4}")
                          .spec;
    REQUIRE(spec.companions.size() == 2);
    CHECK(spec.companions[0].request.gpus == 2);
    CHECK(spec.companions[0].gpu_model == "T4");
    CHECK(spec.companions[1].request.share == base::MilliGpu{500});
    CHECK(spec.companions[1].gpu_model == "A10|T4");
    CHECK(job_error("run: x\ncompanions: [{name: a, gpus: 4..8}]") ==
          "job.yaml:2: companions[0].gpus: wanted GPUs of each such as 1, 0.5 or T4:1, found "
          "\"4..8\"");
    CHECK(job_error("run: x\ncompanions: [{name: a, gpus: T4:1, gpu_model: T4}]") ==
          "job.yaml:2: companions[0].gpu_model: gpus names a model already");
    CHECK(job_error("run: x\ngpus: 0\ncompanions: [{name: a, gpus: 1}]") ==
          "job.yaml:3: companions: \"a\": asks for GPUs and the tasks of the job for none; make "
          "these the tasks");
}

TEST_CASE("groups are a text or a list, and say how many tasks there are") {
    const model::JobSpec spec =
        good_job("run: x\ngroups: [{name: a, tasks: 4, level: node}, {tasks: 2..3}]").spec;
    CHECK(spec.topology.groups ==
          std::vector<model::TaskGroup>{{"a", 4, 4, "node"}, {"2", 2, 3, ""}});
    CHECK(spec.tasks_min == 6);
    CHECK(spec.tasks_max == 7);
    CHECK(spec.elastic == model::Elastic::Restart);
    CHECK(good_job("run: x\ngroups: a:4@node,2..3").spec == spec);
    CHECK(good_job("run: x\ngroups: 2x4@rack\ntasks: 8").spec.tasks_min == 8);
    const model::JobSpec some = good_job("run: x\ngroups: 1..2x4@rack\ntasks: 4..8").spec;
    CHECK(some.topology.groups == good_job("run: x\ngroups: 2x4@rack").spec.topology.groups);
    CHECK(some.topology.groups_min == 1);
    CHECK(job_error("run: x\ngroups: 2x4@rack\nnodes: 9") ==
          "job.yaml:2: groups: they sum to 8 tasks, the job asks for 9; say the number in the "
          "groups alone");
    CHECK(job_error("run: x\ngroups: [{name: a}]") ==
          "job.yaml:2: groups[0].tasks: wanted a number or 4..16, found nothing");
    CHECK(job_error("run: x\ngroups: 2x@rack").starts_with("job.yaml:2: groups: wanted groups"));
}

TEST_CASE("what a job file may not say is one line with its place") {
    const std::vector<std::pair<std::string, std::string>> cases{
        {"name: x",
         "job.yaml:1: run: wanted a command line such as python train.py, found nothing"},
        {"run: x\ncommand: [y]", "job.yaml:2: command: wanted run or command, found both"},
        {"command: python train.py",
         "job.yaml:1: command: wanted a list of words such as [python, train.py], found "
         "\"python train.py\""},
        {"run: x\ngpu: 2", "job.yaml:2: gpu: unknown field, did you mean \"gpus\"?"},
        {"run: x\nnotify: {on: [start]}", "job.yaml:2: notify: not supported yet"},
        {"run: x\ntime: 12h", "job.yaml:2: time: not supported yet"},
        {"run: x\nelastic: restart",
         "job.yaml:2: elastic: wanted with a range such as tasks: 4..16"},
        {"run: x\ntasks: 1..4\nelastic: live",
         "job.yaml:3: elastic: \"live\" is not supported yet"},
        {"run: x\ngpus: 4..8\nnodes: 2", "job.yaml:3: nodes: gpus gives a range already"},
        {"run: x\ntasks: few", "job.yaml:2: tasks: wanted a number or 4..16, found \"few\""},
        {"run: x\ntasks: {min: 3, max: 2}",
         "job.yaml:2: tasks.max: wanted at least min, found \"2\""},
        {"run: x\ntype: eval",
         "job.yaml:2: type: wanted build, train or inference, found \"eval\""},
        {"run: x\npause: {how: memory}", "job.yaml:2: pause.how: \"memory\" is not supported yet"},
        {"run: x\npause: {signal: KILL}",
         "job.yaml:2: pause.signal: wanted auto, TERM, INT, USR1, USR2 or none, found \"KILL\""},
        {"run: x\npause: {grase: 1s}",
         "job.yaml:2: pause.grase: unknown field, did you mean \"grace\"?"},
        {"run: x\nenv: {A: [1]}", "job.yaml:2: env.A: wanted a text, found a list"},
        {"run: x\nenv: {\"A=B\": 1}",
         "job.yaml:2: env.A=B: wanted a name of a variable, without \"=\""},
        {"run: x\nenv: {A: \"\\0\"}", "job.yaml:2: a text with a zero byte in it"},
        {"run: x\nenv: {\"A\\0\": b}", "job.yaml:2: a text with a zero byte in it"},
        {"run: x\ngpus: 8@rack\ntasks: 4\ntopology: zone",
         "job.yaml:4: topology: wanted one required level, found \"zone\" and \"rack\" behind the "
         "\"@\" of gpus"},
        {"run: x\ntasks: 4..16@rack",
         "job.yaml:2: tasks: wanted a number or 4..16, found \"4..16@rack\""},
        {"run: x\nmemory: much",
         "job.yaml:2: memory: wanted an amount of memory such as 80G or 512M, found \"much\""},
    };
    for (const auto& [text, wanted] : cases) CHECK(job_error(text) == wanted);
}

TEST_CASE("the file's variables go before those of the submitter") {
    const Texts changes{"PATH=/opt", "NEW=1", "EMPTY="};
    CHECK(codec::merge_environment({"HOME=/h", "PATH=/bin", "PATHS=x", "EMPTY=no"}, changes) ==
          Texts{"HOME=/h", "PATHS=x", "PATH=/opt", "NEW=1", "EMPTY="});
}
