// SPDX-License-Identifier: Apache-2.0
//
// How long does one operation of the core take? A scenario builds its world, then hands the
// operation to Run::measure, which repeats it and prints one JSON line.
//
// Times are CPU times of the one thread, so that work of others on the machine is left out as far
// as the kernel can tell; caches and turbo remain shared, so p50 and the smallest time are printed
// side by side. Instructions are counted by running the program below callgrind, which collects
// only inside berth_bench_measured (bench/run --instructions).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "model/policy/policy.h"

namespace berth::bench {

// What one scenario run is asked to do, and where its results go.
class Run {
  public:
    std::string scenario;
    std::string profile;
    model::Policy policy;
    int nodes = 0;
    int samples_max = 0;  // 0 = as many as fit into a second, at least 5

    // Repeats `operation`, which does `count` operations of the same sort, and prints the times
    // of one. `prepare` runs before each sample, unmeasured.
    void measure(const std::string& what, int count, const std::function<void()>& operation,
                 const std::function<void()>& prepare = {});
    // For operations that differ from sample to sample: measured as they are called.
    std::int64_t timed(const std::function<void()>& operation);
    void print_times(const std::string& what, int count, std::vector<std::int64_t> samples);
    // A plain number, such as bytes per job.
    void print_number(const std::string& what, const std::string& unit, std::int64_t value);
    // Stops the program when a scenario did not do what it is there to measure.
    void expect(bool condition, const std::string& what) const;
};

// How often this program has asked for memory so far.
std::int64_t allocations();

using Scenario = std::function<void(Run&)>;

// One function a file; each adds its scenarios by name.
void add_place_and_release(std::map<std::string, Scenario>& scenarios);
void add_preemptions(std::map<std::string, Scenario>& scenarios);
void add_fill(std::map<std::string, Scenario>& scenarios);
void add_foresight(std::map<std::string, Scenario>& scenarios);
void add_steady_state(std::map<std::string, Scenario>& scenarios);
void add_topology_gang(std::map<std::string, Scenario>& scenarios);
void add_shared_gpus(std::map<std::string, Scenario>& scenarios);
void add_memory(std::map<std::string, Scenario>& scenarios);
void add_unlike_nodes(std::map<std::string, Scenario>& scenarios);
void add_gpu_map(std::map<std::string, Scenario>& scenarios);

}  // namespace berth::bench
