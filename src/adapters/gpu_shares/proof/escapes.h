// SPDX-License-Identifier: Apache-2.0
//
// Does a process use a GPU beside its job's share? A berth-gpu-probe on each node where an attempt
// has GPUs asks the management library, in a process of its own; what it says is compared with who
// has joined a share (uncounted.h). A job that is seen twice, a second apart, is reported again and
// again while it is so: a process that is just coming or going is in neither list at one moment.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "adapters/gpu_shares/programs/child.h"
#include "adapters/gpu_shares/proof/owners.h"
#include "adapters/gpu_shares/proof/uncounted.h"
#include "adapters/gpu_shares/terms/tenants.h"
#include "ports/share_use.h"

namespace berth::gpu_shares {

class Escapes {
  public:
    struct Sources {
        std::function<ChildOrder(const std::string& node)> probe;  // none to run: no words
        std::function<std::vector<TenantMembers>()> members;
        std::function<pid_t(ports::AttemptId)> supervisor;
        // Of what the tenant's processes hold beside its share, by GPU.
        std::function<void(const std::string& tenant, const std::map<std::string, base::Bytes>&)>
            charge;
        std::function<void(ports::AttemptId, const std::string& detail)> tell;
    };
    Escapes(boost::asio::io_context& loop, Sources sources)
        : sources_(std::move(sources)), timer_(loop) {}
    ~Escapes() { *alive_ = false; }
    Escapes(const Escapes&) = delete;
    Escapes& operator=(const Escapes&) = delete;

    // From now on: the nodes with GPUs that it is on, and the GPUs that it was given, by UUID.
    // None: they are not known.
    void watch(ports::AttemptId attempt, std::set<std::string> nodes,
               std::optional<std::set<std::string>> given);
    void forget(ports::AttemptId attempt);

    // All GPUs of this machine.
    void set_gpus(const std::vector<Gpu>& gpus) { gpus_ = gpus; }
    // What was seen twice: of jobs beside their shares, and of no job.
    const std::vector<ports::UncountedProcess>& processes() const { return processes_; }

  private:
    struct Node {
        Child probe;
        std::string said;
        // In its last report: jobs, and of no job GPU and process.
        std::set<std::tuple<std::optional<ports::AttemptId>, std::string, std::int64_t>> seen;
        std::vector<Uncounted> found;  // in its last two
    };
    void look_later();
    void look();
    std::map<std::string, std::vector<GpuUser>> new_reports();  // by node
    // Keeps those whose job the last report had too, or which it had itself when they are of none.
    // What is on its way out still holds memory, and has left its share.
    static void seen_again(Node& node, std::vector<Uncounted> all);
    void show(const std::vector<Uncounted>& all);
    void charge(const std::vector<Uncounted>& all);
    void tell_of(const std::vector<Uncounted>& all);

    Sources sources_;
    boost::asio::steady_timer timer_;
    bool is_looking_ = false;
    std::vector<Gpu> gpus_;
    std::map<ports::AttemptId, std::set<std::string>> watched_;  // the nodes that it is on
    Holdings holdings_;
    Owners owners_;
    std::map<std::string, Node> nodes_;
    std::map<std::string, std::map<std::string, base::Bytes>> charged_;  // by tenant and GPU
    std::vector<ports::UncountedProcess> processes_;
    std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // for the timer
};

}  // namespace berth::gpu_shares
