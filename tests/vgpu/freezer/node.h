// SPDX-License-Identifier: Apache-2.0
//
// A node with software GPUs, its freezer as a program of its own, and a job: tenants that are
// children of this process, which is their supervisor.
#pragma once

#include <sys/types.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "supervision/descriptor.h"
#include "supervision/freezing.h"
#include "vgpu/tenant.h"

namespace berth::test_vgpu {

inline constexpr std::size_t kMebibyte = std::size_t{1} << 20;
inline constexpr std::size_t kContext = 32 * kMebibyte;

class Node {
  public:
    // `more`: of the description of its GPUs; `options`: of berth-freezer.
    explicit Node(const std::string& more = "", std::vector<std::string> options = {});
    ~Node();
    Node(const Node&) = delete;
    Node& operator=(const Node&) = delete;

    const std::string& description() const { return description_; }
    // The first line of a freezer that was started.
    std::string start_freezer();
    void kill_freezer();

    // Sends without waiting, and waits for what was sent; none when the freezer has gone.
    void tell_freeze(int timeout_ms = 5000);
    void tell_thaw(std::vector<supervision::GpuMove> moves = {}, int timeout_ms = 5000);
    std::optional<supervision::FreezerAnswer> hear();
    supervision::FreezerAnswer freeze(int timeout_ms = 5000);
    supervision::FreezerAnswer thaw(std::vector<supervision::GpuMove> moves = {},
                                    int timeout_ms = 5000);

  private:
    void send(const std::string& frame);

    std::string state_;
    std::string description_;
    std::string folder_;  // where the freezer listens
    std::string socket_path_;
    std::vector<std::string> options_;
    pid_t freezer_ = 0;
    supervision::Descriptor input_;  // which the freezer ends with
    supervision::Descriptor socket_;
};

// A process of the job with `mebibytes` on its GPU, filled with what is its own.
class Worker {
  public:
    Worker(const Node& node, std::size_t mebibytes, unsigned int seed);

    // What its memory adds up to now, as it says.
    std::string sum() const;
    std::string filled_with() const { return filled_; }
    bool is_halted() const;
    Tenant& tenant() { return tenant_; }
    const std::string& pointer() const { return pointer_; }

  private:
    Tenant tenant_;
    std::string pointer_;
    std::string filled_;
};

}  // namespace berth::test_vgpu
