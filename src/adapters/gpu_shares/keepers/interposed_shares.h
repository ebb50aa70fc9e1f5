// SPDX-License-Identifier: Apache-2.0
//
// Shares kept by cooperation, on any driver: each attempt is a tenant of this machine's arbiter,
// and its processes run under the library between programs and the driver (vgpu/interposer).
#pragma once

#include <ranges>
#include <string>

#include "adapters/gpu_shares/keepers/arbiter_process.h"
#include "adapters/gpu_shares/keepers/share_keeper.h"
#include "adapters/gpu_shares/measured/profiles.h"

namespace berth::gpu_shares {

// How the library comes between them: src/vgpu/README.md says what each catches.
enum class InFront { Preload, Audit, Mount };

// "preload", "audit" or "mount". Errors: Invalid.
base::Result<InFront> parse_in_front(const std::string& text);

// Where the parts lie, by names that the loader can carry (loadable.h).
struct ShareFolders {
    std::string programs;
    std::string libraries;
    std::string software;  // the driver of simulated GPUs; empty where there are none
};

// What its tenants' processes load.
std::vector<std::string> files_of(const ShareFolders& folders, InFront in_front);

class InterposedShares final : public ShareKeeper {
  public:
    InterposedShares(ShareFolders folders, std::string directory, InFront in_front);

    base::Status add(const Tenant& tenant, ports::LaunchOrder& order) override;
    base::Status narrow(const std::string& prefix, const TermsByNode& terms) override {
        return arbiter_.narrow(prefix, terms);
    }
    void change(const std::string& prefix, const TermsByNode& terms) override {
        arbiter_.change(prefix, terms);
    }
    std::optional<model::GpuProfile> taken(const std::string& prefix) override {
        return profile_in(arbiter_.status(prefix));
    }
    std::vector<RotationSight> rotations() override {
        return rotations_in(arbiter_.status_of_rotations());
    }
    std::vector<TenantUse> uses() override { return uses_in(arbiter_.status_of_all()); }
    std::vector<TenantMembers> members() override { return members_in(arbiter_.status_of_all()); }
    void charge(const std::string& tenant,
                const std::map<std::string, base::Bytes>& held) override {
        arbiter_.charge(tenant, held);
    }
    bool has_turns() const override { return true; }
    void drop(const std::string& prefix) override { arbiter_.drop(prefix); }
    std::vector<std::string> tenants() const override {
        const auto names = std::views::keys(arbiter_.book().tenants());
        return {names.begin(), names.end()};
    }
    std::set<std::string> nodes_of_dependents() const override {
        return arbiter_.book().nodes_of_dependents();
    }
    std::string node_of(const std::string& prefix) const override {
        return arbiter_.book().node_of(prefix);
    }
    bool end_if_idle() override { return arbiter_.stop_if_idle(); }

  private:
    void put_in_front(ports::LaunchOrder& order, ports::TaskLaunch& task) const;
    void put_command_under_mount(ports::LaunchOrder& order) const;

    ShareFolders folders_;
    std::string directory_;
    InFront in_front_;
    ArbiterProcess arbiter_;
};

}  // namespace berth::gpu_shares
