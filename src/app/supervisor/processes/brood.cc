// SPDX-License-Identifier: Apache-2.0
#include "app/supervisor/processes/brood.h"

#include <errno.h>
#include <sys/wait.h>
#include <unistd.h>

#include <set>

#include "app/supervisor/processes/process_tree.h"

namespace berth::supervisor {

using supervision::Descriptor;

void Brood::add(pid_t supervisor, Descriptor status) {
    living_.emplace(supervisor, std::move(status));
}

int Brood::tend() {
    constexpr int kLookAgainMs = 5;
    reap();
    if (orphaned_.empty()) return -1;
    if (kill_orphans()) return kLookAgainMs;
    orphaned_.clear();
    return -1;
}

void Brood::reap() {
    while (true) {
        int status = 0;
        const pid_t pid = ::waitpid(-1, &status, WNOHANG);
        if (pid < 0 && errno == EINTR) continue;
        if (pid <= 0) return;
        const auto found = living_.find(pid);
        if (found == living_.end()) continue;
        // One that ends by itself has seen the last of its processes go.
        const bool was_killed = !WIFEXITED(status) || WEXITSTATUS(status) != 0;
        if (was_killed) orphaned_.push_back(std::move(found->second));
        living_.erase(found);
    }
}

// Every child that is no supervisor was below one that is dead. Whether there was any.
bool Brood::kill_orphans() const {
    std::set<pid_t> supervisors;
    for (const auto& [pid, status] : living_) supervisors.insert(pid);
    return kill_descendants(::getpid(), supervisors) > 0;
}

}  // namespace berth::supervisor
