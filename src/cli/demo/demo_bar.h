// SPDX-License-Identifier: Apache-2.0
//
// Who has which GPU in the demo, right now? Two lines that are rewritten in place on a terminal;
// elsewhere one line each time something changed.
#pragma once

#include <span>
#include <string>

#include "cli/client/client.h"
#include "cli/terminal/style.h"

namespace berth::cli {

class DemoBar {
  public:
    explicit DemoBar(const Style& style) : style_(style) {}

    void show(const NodeList& nodes, std::span<const codec::JobView> jobs);
    // What is shown stays; the next show() begins below.
    void release() { is_live_ = false; }

  private:
    const Style& style_;
    bool is_live_ = false;
    std::string last_;
    base::TimePoint begun_{};
};

}  // namespace berth::cli
