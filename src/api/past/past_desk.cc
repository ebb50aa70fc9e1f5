// SPDX-License-Identifier: Apache-2.0
#include "api/past/past_desk.h"

#include <algorithm>

namespace berth::api {

PastDesk::Known& PastDesk::known(model::JobId job) {
    const auto found = std::ranges::find(known_, job, &Known::job);
    if (found != known_.end()) {
        known_.splice(known_.begin(), known_, found);
    } else {
        known_.push_front({.job = job, .past = {}});
        if (known_.size() > kJobsKept) known_.pop_back();
    }
    return known_.front();
}

base::Result<const Past*> PastDesk::read_on(model::JobId job) {
    Known& known = this->known(job);
    std::int64_t read = 0;
    BERTH_TRY_VOID(
        store_.read_events_of(job, known.read_to, kEventsAtOnce, [&](const model::Event& event) {
            known.past.spans.read(event);
            known.past.receipts.read(event);
            known.read_to = event.sequence;
            ++read;
        }));
    return read < kEventsAtOnce ? &known.past : nullptr;
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
