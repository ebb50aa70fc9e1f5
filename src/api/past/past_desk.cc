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

}  // namespace berth::api
