// SPDX-License-Identifier: Apache-2.0
//
// What have a tenant's processes done on one GPU since the last look, and do they want to launch?
// It counts their time until now (ledger/busy.h), so a long piece is charged while it runs. Charged
// is no more than the time in which the gate was not closed or work was still under way.
//
// Words of the account may be garbage: no sum overflows. Times are monotonic ns.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "vgpu/ledger/charge.h"
#include "vgpu/windows/windows.h"

namespace berth::vgpu::arbiter {

class TimeUsed {
  public:
    // A process came to this slot: what that had before is not its own.
    void begin(std::uint32_t slot, const ledger::Slot& words) { seen_[slot] = words.busy_ns; }
    // `taken`: the slots that processes have. The gate is as it was since the last look.
    windows::Sight look(ledger::Place place, const std::vector<bool>& taken, std::int64_t now);
    // The part of the GPU's time, in thousandths, that it used in the last two to four seconds;
    // none where it was not gated for a second of them, so that is not known.
    std::optional<std::int32_t> lately() const;

  private:
    std::vector<std::uint64_t> seen_ = std::vector<std::uint64_t>(ledger::kSlotsMax);
    std::int64_t at_ = 0;
    bool was_in_flight_ = false;
    std::int64_t believable_ = 0;  // ns that may still be reported
    struct Period {
        std::int64_t ns = 0;
        std::int64_t used_ns = 0;
    };
    Period period_;  // the last one that ended, and the one now
    Period ended_;
};

}  // namespace berth::vgpu::arbiter
