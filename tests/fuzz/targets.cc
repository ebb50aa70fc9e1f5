// SPDX-License-Identifier: Apache-2.0
#include "fuzz/targets.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>

#include "fuzz/target.h"

namespace berth::fuzz {
namespace {

constexpr std::array kTargets{
    Target{"address", address},
    Target{"amounts", amounts},
    Target{"answer_body", answer_body},
    Target{"arbiter_order", arbiter_order},
    Target{"frames", frames},
    Target{"gpu_request", gpu_request},
    Target{"http", http},
    Target{"job_file", job_file},
    Target{"json", json},
    Target{"kube_declared", kube_declared},
    Target{"kube_http", kube_http},
    Target{"kube_watch", kube_watch},
    Target{"kubeconfig", kubeconfig},
    Target{"log", log},
    Target{"messages", messages},
    Target{"node_filter", node_filter},
    Target{"order", order},
    Target{"request_body", request_body},
    Target{"settings", settings},
    Target{"speed_table", speed_table},
    Target{"state_file", state_file, 1},  // one line of it may stand for 65,536 nodes
    Target{"status", status},
    Target{"task_groups", task_groups},
    Target{"time", time},
    Target{"trace", trace},
    Target{"yaml", yaml},
#ifndef BERTH_FUZZ_READERS_ALONE  // these act on what they read
    Target{"arbiter", arbiter, 2},
    Target{"scenario", scenario, 2},
    Target{"server", server, 2},
#endif
};

}  // namespace

std::span<const Target> targets() {
#ifdef BERTH_FUZZ_TARGET
    static constexpr Target kOnly = *std::ranges::find(kTargets, BERTH_FUZZ_TARGET, &Target::name);
    return {&kOnly, 1};
#else
    return kTargets;
#endif
}

void expect(bool holds, const char* what) {
    if (holds) return;
    std::fprintf(stderr, "fuzz: does not hold: %s\n", what);
    std::abort();
}

}  // namespace berth::fuzz
