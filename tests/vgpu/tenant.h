// SPDX-License-Identifier: Apache-2.0
//
// Another process on the GPUs, which does what its input says line by line. What it says it reads
// from its pipe and answers on the other: one line each, the CUresult as a number first. See
// tenant.cc.
#pragma once

#include <sys/types.h>

#include <string>

namespace berth::test_vgpu {

enum class Kin { Child, Stranger };  // a stranger does not descend from this process

class Tenant {
  public:
    // `description`: what is in its BERTH_SOFTWARE_GPU; this process's own when empty.
    explicit Tenant(const std::string& description = "", Kin kin = Kin::Child);
    ~Tenant();  // SIGKILL, and reaped
    Tenant(const Tenant&) = delete;
    Tenant& operator=(const Tenant&) = delete;

    void tell(const std::string& command) const;
    std::string hear() const;  // empty when it has died
    std::string ask(const std::string& command) const;
    void kill();
    pid_t pid() const { return pid_; }

  private:
    pid_t pid_ = 0;
    Kin kin_ = Kin::Child;
    int to_ = -1;
    int from_ = -1;
};

}  // namespace berth::test_vgpu
