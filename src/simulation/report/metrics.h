// SPDX-License-Identifier: Apache-2.0
//
// How good was a replay? Times in seconds, over the jobs that finished.
//
//   JCT            from submission to end; percentiles by linear interpolation
//   queue          the part of it in which the job held no GPUs
//   lost           GPU time that jobs held without progress: starting again, saving
//   makespan       from the first submission to the last end
//   utilization    GPU time of useful work, of all GPUs over the makespan
//   fragmentation  GPU time that idled while a job waited, of all GPUs over the makespan rho
//   finish-time fairness (Mahajan et al., Themis, NSDI'20): JCT over the time the
//                  job would take with a fair part of the cluster, work x max(1, mean demand during
//                  its life / GPUs), demand being the GPUs asked by all jobs that were there
//   static rho     the same with one part for all, as Shockwave (NSDI'23) compares: work x
//                  max(1, jobs of the trace / GPUs)
#pragma once

#include <string>
#include <vector>

#include "simulation/replay/replay.h"

namespace berth::simulation {

struct Metrics {
    std::size_t jobs = 0;
    std::size_t finished = 0;
    double avg_jct_s = 0;
    double median_jct_s = 0;
    double p95_jct_s = 0;
    double p99_jct_s = 0;
    double max_jct_s = 0;
    double makespan_s = 0;
    double avg_queue_s = 0;
    double p95_queue_s = 0;
    double lost_gpu_s = 0;
    std::int64_t pauses = 0;
    std::int64_t moves = 0;
    double utilization = 0;
    double fragmentation = 0;
    double rho_mean = 0;
    double rho_max = 0;
    double unfair_share = 0;  // of jobs with rho above 1.05, the threshold of Shockwave
    double static_rho_max = 0;
    double static_unfair_share = 0;
};

Metrics measure(const Experiment& experiment, const Replay& replay);

// Seconds from submission to end of the finished jobs, rising.
std::vector<double> completion_times(const Experiment& experiment, const Replay& replay);

// Of rising values, by linear interpolation; 0 when there are none.
double percentile(const std::vector<double>& rising, double percent);

}  // namespace berth::simulation
