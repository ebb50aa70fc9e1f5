// SPDX-License-Identifier: Apache-2.0
//
// What would happen if? Changes of a cluster that are taken back, from a log of what they did.
#pragma once

#include <cstddef>

namespace berth::cluster {

class Cluster;

// While it lives, [trial] changes are taken back when it ends, unless keep() was called; then they
// belong to the enclosing Trial. Trials nest like brackets.
class Trial {
  public:
    explicit Trial(Cluster& cluster);
    ~Trial();
    Trial(const Trial&) = delete;
    Trial& operator=(const Trial&) = delete;

    void keep() { is_kept_ = true; }

  private:
    Cluster& cluster_;
    std::size_t mark_;
    bool is_kept_ = false;
};

}  // namespace berth::cluster
