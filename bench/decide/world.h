// SPDX-License-Identifier: Apache-2.0
//
// A cluster under measurement: nodes with 8 GPUs, projects, jobs that run or wait. It is built
// from events like any other state of the system.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lifecycle/apply.h"
#include "model/plan.h"
#include "model/policy/policy.h"

namespace berth::bench {

inline constexpr int kGpusPerNode = 8;
inline constexpr std::int64_t kUnboundedQuota = -1;

class World {
  public:
    // `nodes` nodes named node0, node1 ...
    explicit World(int nodes);

    void add_project(const std::string& name, std::int64_t quota_gpus,
                     const std::string& parent = {});
    // A train job of default priority that waits.
    model::JobSpec spec(const std::string& project, int gpus, int tasks = 1) const;
    model::JobId submit(const model::JobSpec& spec, std::int64_t created_ms = 0);
    // The waiting job has run before, and long: under tiers all others of its project go first.
    void has_run_before(model::JobId job);
    // Starts one task of the job on the lowest GPUs from `first_gpu` of a node.
    void run_on(model::JobId job, int node, int first_gpu, int gpus, std::int64_t time_ms);
    // Eight one-GPU jobs of the project on every node, started at various times in the first
    // half hour. Their ids are 1, 2, 3 ... when nothing was submitted before.
    void fill_with_one_gpu_jobs(const std::string& project);

    void apply(model::TimePoint time, model::EventBody body);
    void carry_out(const model::Plan& plan, const model::Policy& policy, model::TimePoint now);

    lifecycle::State state;
    int nodes = 0;

  private:
    std::int64_t last_job_ = 0;
};

// When decisions are measured: long after every job's minimum run.
inline constexpr std::int64_t kNowMs = 4 * 60 * 60 * 1000;
inline constexpr model::TimePoint kNow = base::at_ms(kNowMs);

}  // namespace berth::bench
