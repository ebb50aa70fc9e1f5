// SPDX-License-Identifier: Apache-2.0
#include "app/supervisor/processes/process_tree.h"

#include <signal.h>

#include "supervision/processes.h"

namespace berth::supervisor {

using supervision::descendants_of;
using supervision::Process;

std::vector<pid_t> ask_to_stop(pid_t root, int signal) {
    std::vector<pid_t> handlers;
    std::set<pid_t> below_handler;
    std::vector<pid_t> targets;
    for (const Process& process : descendants_of(root)) {
        if (below_handler.contains(process.parent)) {
            below_handler.insert(process.pid);
            continue;
        }
        if (supervision::is_caught(supervision::caught_signals(process.pid), signal)) {
            below_handler.insert(process.pid);
            handlers.push_back(process.pid);
        }
        targets.push_back(process.pid);
    }
    for (const pid_t pid : targets) ::kill(pid, signal);
    return handlers;
}

std::size_t kill_descendants(pid_t root, std::set<pid_t> spared) {
    constexpr int kRoundsMax = 50;
    std::set<pid_t> stopped;
    bool has_new = true;
    for (int round = 0; has_new && round < kRoundsMax; ++round) {
        has_new = false;
        for (const Process& process : descendants_of(root)) {
            if (spared.contains(process.parent)) spared.insert(process.pid);
            if (spared.contains(process.pid) || !stopped.insert(process.pid).second) continue;
            ::kill(process.pid, SIGSTOP);
            has_new = true;
        }
    }
    for (const pid_t pid : stopped) ::kill(pid, SIGKILL);
    return stopped.size();
}

}  // namespace berth::supervisor
