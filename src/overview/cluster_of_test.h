// SPDX-License-Identifier: Apache-2.0
//
// A small cluster that tests of this module let live.
#pragma once

#include <string>
#include <vector>

#include "overview/sentences.h"

namespace berth::overview {

using model::JobId;

// Two nodes of four GPUs; vision has a quota of six of them, nlp of two.
class ClusterOfTest {
  public:
    ClusterOfTest() {
        for (const char* name : {"n0", "n1"}) set_node(name, model::NodeHealth::Ready);
        set_project("vision", 6);
        set_project("nlp", 2);
    }

    void set_node(const std::string& name, model::NodeHealth health) {
        model::Node node;
        node.name = name;
        node.gpus = 4;
        node.health = health;
        happen(model::NodeSet{node});
    }
    void set_project(const std::string& name, int quota) {
        model::Project project;
        project.name = name;
        project.rights.quota = base::gpus(quota);
        happen(model::ProjectSet{project});
    }
    JobId submit(const std::string& project, int gpus, const std::string& user) {
        model::JobSpec spec;
        spec.name = "job";
        spec.project = project;
        spec.request.gpus = gpus;
        const JobId id{state.last_job.value + 1};
        happen(model::JobSubmitted{id, spec, user, "python train.py"});
        return id;
    }
    JobId run(const std::string& project, int node, int first, int gpus, const std::string& user) {
        const JobId id = submit(project, gpus, user);
        start(id, node, first, gpus);
        happen(model::JobRunning{id});
        return id;
    }
    void start(JobId id, int node, int first, int gpus) {
        model::TaskPlacement task;
        task.node = {static_cast<base::NodeId::Rep>(node)};
        task.gpu_mask = ((1U << static_cast<unsigned>(gpus)) - 1) << static_cast<unsigned>(first);
        task.share = base::kWholeGpu;
        happen(model::JobStarting{id, 1, model::Rule::Allocate, {task}});
    }
    void happen(model::EventBody body) {
        lifecycle::apply(state, {state.sequence + 1, {}, "test", std::move(body)});
    }

    std::vector<std::string> said_to(const std::string& user) const {
        std::vector<std::string> said;
        for (const auto& sentence : overview::sentences(overview::overview_of(state), user)) {
            said.push_back(sentence.text);
        }
        return said;
    }

    lifecycle::State state;
};

}  // namespace berth::overview
