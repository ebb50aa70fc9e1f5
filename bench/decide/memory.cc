// SPDX-License-Identifier: Apache-2.0
//
// What does one more waiting job, running job or node cost on the heap? Counted by the C library
// over 20,000 jobs, slack of growing tables included. "core" is the indexed cluster that decisions
// read; "state" has the record that people see on top (names, command, history).
#include <malloc.h>

#include "bench/decide/measure.h"
#include "bench/decide/world.h"

namespace berth::bench {
namespace {

constexpr int kJobs = 20'000;

std::int64_t heap_bytes() {
    const struct mallinfo2 heap = mallinfo2();
    return static_cast<std::int64_t>(heap.uordblks + heap.hblkhd);
}

void memory(Run& run) {
    std::int64_t before = heap_bytes();
    World world(1);
    const std::int64_t first = heap_bytes() - before;  // and its pool, and the tables
    before = heap_bytes();
    world = World(run.nodes);
    const std::int64_t more = heap_bytes() - before;
    run.print_number("a node, core", "bytes", more / std::max(run.nodes - 1, 1));
    run.print_number("one node alone, core", "bytes", first);
    world.add_project("team", kUnboundedQuota);

    before = heap_bytes();
    std::int64_t id = 0;
    cluster::Cluster& cluster = world.state.cluster;
    for (int i = 0; i < kJobs; ++i) {
        cluster.add_job({++id}, world.spec("team", 1 + i % kGpusPerNode), base::at_ms(i));
    }
    run.print_number("a waiting job, core", "bytes", (heap_bytes() - before) / kJobs);
    while (id > 0) cluster.remove_job({id--});

    before = heap_bytes();
    for (int i = 0; i < kJobs; ++i) world.submit(world.spec("team", 1 + i % kGpusPerNode), i);
    run.print_number("a waiting job, state", "bytes", (heap_bytes() - before) / kJobs);

    before = heap_bytes();
    const int jobs = std::min(kJobs, run.nodes * kGpusPerNode);
    for (int i = 0; i < jobs; ++i) {
        world.run_on({i + 1}, i / kGpusPerNode, i % kGpusPerNode, 1, i);
    }
    run.print_number("running instead of waiting, state", "bytes", (heap_bytes() - before) / jobs);
}

}  // namespace

void add_memory(std::map<std::string, Scenario>& scenarios) { scenarios["memory"] = memory; }

}  // namespace berth::bench
