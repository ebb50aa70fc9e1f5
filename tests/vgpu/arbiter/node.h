// SPDX-License-Identifier: Apache-2.0
//
// A node with an arbiter, a process of its own, in a new directory below /tmp.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <vector>

#include "vgpu/ledger/admission.h"

namespace vgpu {

inline constexpr const char* kGpu = "GPU-00000000-0000-0000-0000-000000000000";

class Node {
  public:
    explicit Node(std::vector<std::string> options = {});
    Node(const Node&) = delete;
    Node& operator=(const Node&) = delete;
    ~Node();

    void start_arbiter();
    void kill_arbiter();
    bool is_arbiter_alive() const;
    pid_t arbiter() const { return arbiter_; }

    // Gives an order that must be taken / refused; returns the answer.
    std::string order(const std::string& words) const;
    std::string refused(const std::string& words) const;
    // The value of `key` in the status of a tenant with one GPU.
    std::string status(const std::string& tenant, const std::string& key) const;

    std::string socket_of(const std::string& tenant) const;
    berth::vgpu::ledger::Membership join(const std::string& tenant) const;
    const std::string& directory() const { return directory_; }

  private:
    std::string directory_;
    std::vector<std::string> options_;
    pid_t arbiter_ = 0;
};

// Runs `life` in a child that exits with what it returns.
pid_t start(const std::function<int()>& life);
// Its exit code, or 128 and its signal.
int end_of(pid_t child);

// Waits until it holds; false when that hangs. No test depends on how fast the machine is
// otherwise.
inline constexpr std::int64_t kPatience = 120'000'000'000;
bool eventually(const std::function<bool()>& holds);

void pause_ms(long ms);
std::int64_t now_ns();

// For how long a process of one thread could have run and had no processor, in ns.
std::int64_t starved_ns(pid_t process);
// Whether that was too long to say something of the times that were measured within `ns`.
bool is_too_busy(std::int64_t starved_ns, std::int64_t ns);

}  // namespace vgpu
