// SPDX-License-Identifier: Apache-2.0
//
// Who of a GPU's tenants holds more of its memory than it was promised, and who has to leave for
// that? Looks at what they hold and wait for, asks vgpu/lending, sets their limits, and tells their
// supervisors to take them off the GPU or to bring them back (ledger/stay.h).
// Only on GPUs of which it was said how much memory their tenants have together. Rotations keep
// theirs.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "vgpu/arbiter/gpus/gates.h"
#include "vgpu/arbiter/tenants/tenant.h"

namespace berth::vgpu::arbiter {

using Tenants = std::map<std::string, std::unique_ptr<Tenant>>;

class Loans {
  public:
    void set_memory(const std::string& uuid, std::uint64_t bytes) { memory_[uuid] = bytes; }
    // When to look again at the latest. A tenant that comes back takes part in the gates again.
    std::int64_t look(Tenants& tenants, Gates& gates, std::int64_t now);

  private:
    std::map<std::string, std::uint64_t> memory_;  // by UUID
};

}  // namespace berth::vgpu::arbiter
