// SPDX-License-Identifier: Apache-2.0
//
// Which tenants are let on each GPU now? Looks at what their processes want and did, asks the
// windows of that GPU, and sets the gates. Tenants take part while they have processes.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "vgpu/arbiter/tenant.h"
#include "vgpu/windows/windows.h"

namespace berth::vgpu::arbiter {

class Gates {
  public:
    void enter(Tenant& tenant, std::int64_t now);
    void leave(Tenant& tenant);
    void change(const Tenant& tenant);
    // When to look again at the latest; Windows::kNever when nothing goes on.
    std::int64_t look(std::int64_t now);

  private:
    struct Guest {
        std::uint32_t gpu = 0;  // in its tenant's order
        windows::Windows::Id id = 0;
    };
    struct Gpu {
        windows::Windows windows;
        std::map<Tenant*, Guest> guests;
    };
    std::map<std::string, Gpu> gpus_;  // by UUID
};

}  // namespace berth::vgpu::arbiter
