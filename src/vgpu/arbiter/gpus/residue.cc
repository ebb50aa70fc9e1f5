// SPDX-License-Identifier: Apache-2.0
#include "vgpu/arbiter/gpus/residue.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>

namespace berth::vgpu::arbiter {
namespace {

constexpr std::int64_t kSoon = 200'000'000;
constexpr std::int64_t kSeldom = 6'400'000'000;

std::uint64_t held_by(const Tenant& tenant, const GpuMemory::Holders& holders) {
    std::set<pid_t> processes;  // one may be there twice, as who computes and who only looks
    for (const auto& [id, member] : tenant.members)
        if (member.state != Member::State::guest) processes.insert(member.peer.pid);
    std::uint64_t bytes = 0;
    for (const auto& [process, held] : holders)
        if (processes.contains(process)) bytes += held;
    return bytes;
}

}  // namespace

void Residue::stir(std::int64_t now) {
    period_ = kSoon;
    next_ = std::min(next_, now + kSoon);
}

std::int64_t Residue::look(const Tenants& tenants, const GpuMemory& memory, std::int64_t now) {
    if (!memory.can_be_asked()) return INT64_MAX;
    if (now < next_) return next_;
    std::map<std::string, std::map<Tenant*, std::uint32_t>> by_gpu;
    for (const auto& [name, tenant] : tenants) {
        const bool is_here = tenant->whereabouts.where == lending::Where::here;
        if (!is_here || tenant->members.empty() || tenant->settles_at != 0) continue;
        for (std::uint32_t gpu = 0; gpu < tenant->gpus().size(); ++gpu)
            by_gpu[tenant->gpus()[gpu]][tenant.get()] = gpu;
    }
    bool has_changed = false;
    for (const auto& [uuid, guests] : by_gpu) {
        std::map<Tenant*, std::uint64_t> before;
        for (const auto& [tenant, gpu] : guests) before[tenant] = tenant->counted(gpu);
        const auto holders = memory.holders(uuid);
        if (!holders) continue;
        for (const auto& [tenant, gpu] : guests) {
            const std::uint64_t counted = std::max(before[tenant], tenant->counted(gpu));
            const std::uint64_t held = held_by(*tenant, *holders);
            tenant->set_seen_held(gpu, held);
            has_changed |= tenant->set_uncounted(gpu, held - std::min(held, counted));
        }
    }
    period_ = has_changed ? kSoon : std::min(2 * period_, kSeldom);
    next_ = by_gpu.empty() ? INT64_MAX : now + period_;
    return next_;
}

}  // namespace berth::vgpu::arbiter
