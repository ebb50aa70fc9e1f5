// SPDX-License-Identifier: Apache-2.0
//
// Which tenants are let on each GPU now? Looks at what their processes want and did, asks the
// windows of the node and the rotations of each GPU, and sets the gates. Tenants take part while
// they have processes. Those in rotations do not take windows: the rotations of a GPU, and what
// goes by windows, run beside each other.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "vgpu/arbiter/tenants/tenant.h"
#include "vgpu/windows/rotation.h"
#include "vgpu/windows/windows.h"

namespace berth::vgpu::arbiter {

class Gates {
  public:
    void enter(Tenant& tenant, std::int64_t now);
    void leave(Tenant& tenant);
    void change(const Tenant& tenant);
    // Makes a rotation, which every GPU then has, or changes it.
    void set_rotation(const std::string& name, const windows::RotationTerms& terms);
    // nullptr: there is none.
    const windows::RotationTerms* rotation(const std::string& name) const;
    std::size_t rotation_count() const { return rotations_.size(); }
    // When to look again at the latest; Windows::kNever when nothing goes on.
    std::int64_t look(std::int64_t now);

  private:
    struct Guest {
        std::uint32_t gpu = 0;  // in its tenant's order
        std::int32_t id = 0;    // in its rotation or the windows
        windows::Rotation* rotation = nullptr;
    };
    struct Gpu {
        windows::Windows::Gpu number = 0;
        std::map<std::string, windows::Rotation> rotations;
        std::map<Tenant*, Guest> guests;
    };
    Gpu& gpu_of(const std::string& uuid);
    windows::Turn turn_of(const Gpu& gpu, const Guest& guest) const;
    std::int64_t let(Gpu& gpu, Tenant& tenant, const Guest& guest, std::int64_t now);

    windows::Windows windows_;
    std::map<std::string, windows::RotationTerms> rotations_;
    std::map<std::string, Gpu> gpus_;  // by UUID
    windows::Windows::Gpu next_number_ = 0;
};

}  // namespace berth::vgpu::arbiter
