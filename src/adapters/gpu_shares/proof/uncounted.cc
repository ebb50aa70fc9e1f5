// SPDX-License-Identifier: Apache-2.0
#include "adapters/gpu_shares/proof/uncounted.h"

#include <algorithm>
#include <sstream>

#include "adapters/gpu_shares/terms/tenants.h"

namespace berth::gpu_shares {
namespace {

constexpr std::string_view kEnd = "end\n";

// Where the last whole report ends; npos: there is none.
std::size_t end_of_reports(const std::string& said) {
    const std::size_t last = said.rfind(kEnd);
    return last == std::string::npos ? last : last + kEnd.size();
}

bool is_beside_its_share(const GpuUser& user, ports::AttemptId attempt, const Holdings& holdings) {
    const std::string prefix = name_of(attempt) + ".";
    bool is_known = false;
    for (const TenantMembers& tenant : holdings.members) {
        if (!tenant.tenant.starts_with(prefix)) continue;
        is_known = true;
        if (tenant.gpu != user.gpu) continue;
        return tenant.is_shared && !tenant.processes.contains(user.pid);
    }
    const auto given = holdings.given.find(attempt);
    if (given == holdings.given.end()) return is_known;
    return !given->second.contains(user.gpu);
}

}  // namespace

std::optional<std::vector<GpuUser>> take_report(std::string& said) {
    const std::size_t end = end_of_reports(said);
    if (end == std::string::npos) return {};
    const std::string before = said.substr(0, end - kEnd.size());
    const std::size_t begin = end_of_reports(before);
    std::istringstream lines(before.substr(begin == std::string::npos ? 0 : begin));
    said.erase(0, end);
    std::vector<GpuUser> users;
    GpuUser user;
    while (lines >> user.gpu >> user.pid >> user.memory.value) users.push_back(user);
    return users;
}

std::vector<Uncounted> uncounted(
    const std::vector<GpuUser>& users, const Holdings& holdings,
    const std::function<std::optional<ports::AttemptId>(std::int64_t pid)>& owner) {
    std::vector<Uncounted> found;
    for (const GpuUser& user : users) {
        const auto attempt = owner(user.pid);
        if (!attempt || is_beside_its_share(user, *attempt, holdings))
            found.push_back({user, attempt});
    }
    return found;
}

std::map<std::string, std::map<std::string, base::Bytes>> beside_shares(
    const std::vector<Uncounted>& all, const std::vector<TenantMembers>& members) {
    std::map<std::string, std::map<std::string, base::Bytes>> held;
    for (const TenantMembers& tenant : members) {
        if (!tenant.is_shared) continue;
        base::Bytes& bytes = held[tenant.tenant][tenant.gpu];
        for (const Uncounted& one : all) {
            const bool is_its = one.attempt && one.user.gpu == tenant.gpu &&
                                tenant.tenant.starts_with(name_of(*one.attempt) + ".");
            if (is_its) bytes += one.user.memory;
        }
    }
    return held;
}

}  // namespace berth::gpu_shares
