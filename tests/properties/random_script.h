// SPDX-License-Identifier: Apache-2.0
//
// A random cluster and what happens to it, as lines of the scenario language, so that whatever
// goes wrong can be kept as a scenario. The same seed gives the same lines.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/rng.h"
#include "lifecycle/apply.h"

namespace berth::proof {

// The lines before the first action: policy, pools, nodes, projects, jobs. Everything that breaks
// ties is said, so the order of the lines says nothing.
struct Setting {
    std::vector<std::string> fixed;      // in this order: policy and pools
    std::vector<std::string> shuffled;   // in any order
    std::vector<std::string> projects;   // names of those that can have jobs
    std::vector<std::string> nodes;
    int pools = 1;
    bool exchanges = false;  // pools count GPU models at weights
    std::string like_all;    // what every node has, where they are alike; else empty
    std::map<std::string, std::string> spares;  // by pool
    int contested = 0;  // GPUs of a node where they are fought for: contested_script.h
    bool has_host_quotas = false;  // likewise of CPU and memory
    bool is_for_sharing =
        false;  // many jobs may share GPUs, and GPUs say how much memory they have
};

Setting random_setting(base::Rng& rng);

// What has happened since, as far as the next line depends on it.
struct Course {
    int jobs_made = 100;        // names of the setting's jobs are below
    bool has_arrivals = false;  // of which no decision knows yet
};

// A line that happens to the cluster as it stands: never one that cannot happen.
std::string random_event(base::Rng& rng, const Setting& setting, const lifecycle::State& state,
                         Course& course);

// What else a line means: with a node that fails, everything that ran there is lost.
std::vector<std::string> losses_by(const std::string& line, const lifecycle::State& state);

}  // namespace berth::proof
