// SPDX-License-Identifier: Apache-2.0
#include "api/past/past_desk.h"

#include <algorithm>

namespace berth::api {

PastDesk::Known& PastDesk::known(model::JobId job, std::int64_t last) {
    const auto found = std::ranges::find_if(
        known_, [&](const Known& known) { return known.job == job && known.last == last; });
    if (found != known_.end()) {
        known_.splice(known_.begin(), known_, found);
    } else {
        known_.push_front({.job = job, .last = last, .past = {}});
        if (known_.size() > kJobsKept) known_.pop_back();
    }
    return known_.front();
}

base::Result<const Past*> PastDesk::read_on(model::JobId job, std::int64_t last) {
    Known& known = this->known(job, last);
    std::int64_t read = 0;
    bool is_past_end = false;
    BERTH_TRY_VOID(
        store_.read_events_of(job, known.read_to, kEventsAtOnce, [&](const model::Event& event) {
            is_past_end = is_past_end || event.sequence > last;
            if (is_past_end) return;
            known.past.spans.read(event);
            known.past.receipts.read(event);
            known.read_to = event.sequence;
            ++read;
        }));
    return read < kEventsAtOnce || is_past_end ? &known.past : nullptr;
}

base::Result<const timeline::Takings*> PastDesk::read_takings(std::int64_t last) {
    if (takings_after_ < 0) {
        takings_after_ = std::max<std::int64_t>(last - kEventsLookedAt, 0);
        takings_read_to_ = takings_after_;
    }
    std::int64_t read = 0;
    BERTH_TRY_VOID(
        store_.read_events(takings_read_to_, kEventsAtOnce, [&](const model::Event& event) {
            takings_.read(event);
            takings_read_to_ = event.sequence;
            ++read;
        }));
    return read < kEventsAtOnce ? &takings_ : nullptr;
}

}  // namespace berth::api
