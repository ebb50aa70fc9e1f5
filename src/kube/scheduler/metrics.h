// SPDX-License-Identifier: Apache-2.0
//
// What do monitoring and probes read of a scheduler? Numbers in the text format of Prometheus, and
// whether it does its part. Nothing in them names a user or a job.
#pragma once

#include <string>

#include "kube/scheduler/replica.h"

namespace berth::kube::scheduler {

// Counters begin with the process, also if another one led meanwhile; only a leader knows of jobs.
std::string metrics_text(const Replica& replica);

// One that waits while another one leads is ready: it would take over.
struct Readiness {
    bool is_ready = false;
    std::string words;  // what it does, or what it lacks
};
Readiness readiness_of(const Replica& replica);

}  // namespace berth::kube::scheduler
