// SPDX-License-Identifier: Apache-2.0
#include "api/past/folded_log.h"

#include <algorithm>
#include <utility>

#include "codec/log/event_log.h"
#include "lifecycle/check.h"

namespace berth::api {
namespace {

tl::unexpected<base::Error> begins_later() {
    return base::fail(base::ErrorCode::NotFound, "the log begins later");
}

}  // namespace

base::Result<bool> FoldedLog::fold_on(model::TimePoint at) {
    if (begins_ && at < *begins_) return begins_later();
    BERTH_TRY_VOID(open());
    BERTH_TRY_VOID(go_near(at));
    Part part;
    const auto read = log_->read_events(state_.sequence, limits_.part,
                                        [&](const model::Event& event) { fold(event, at, part); });
    if (!read) log_.reset();  // it is opened anew
    BERTH_TRY_VOID(read);
    BERTH_TRY_VOID(part.wrong);
    if (!begins_ || at < *begins_) return begins_later();
    keep();
    return part.is_at_moment || part.events < limits_.part;
}

base::Status FoldedLog::open() {
    if (log_) return {};
    BERTH_TRY(opened, open_log_());
    log_ = std::move(opened);
    return {};
}

base::Status FoldedLog::go_near(model::TimePoint at) {
    const auto later = std::ranges::upper_bound(kept_, at, {}, &Kept::time);
    const bool is_later = state_.sequence > 0 && state_.time > at;
    if (later == kept_.begin()) {
        if (is_later) state_ = {};
        return {};
    }
    const Kept& nearest = *std::prev(later);
    if (!is_later && nearest.sequence <= state_.sequence) return {};
    BERTH_TRY(snapshot, codec::parse_snapshot(nearest.snapshot));
    state_ = lifecycle::restore(snapshot);
    return {};
}

void FoldedLog::fold(const model::Event& event, model::TimePoint at, Part& part) {
    ++part.events;
    if (event.sequence == 1) begins_ = event.time;
    if (!part.wrong || part.is_at_moment) return;
    if (event.time > at) {
        part.is_at_moment = true;
        return;
    }
    if (event.sequence != state_.sequence + 1) {
        part.wrong = base::fail(base::ErrorCode::Internal,
                                "the log continues with event " + std::to_string(event.sequence) +
                                    " after " + std::to_string(state_.sequence));
        return;
    }
    if (const auto done = lifecycle::replay(state_, event); !done) {
        part.wrong = base::fail(base::ErrorCode::Internal,
                                "event " + std::to_string(event.sequence) +
                                    " of the log is impossible: " + done.error().message);
    }
}

void FoldedLog::keep() {
    const std::int64_t last = kept_.empty() ? 0 : kept_.back().sequence;
    if (state_.sequence < last + spacing_) return;
    Kept kept{state_.sequence, state_.time, {}};
    codec::append_snapshot(kept.snapshot, lifecycle::snapshot(state_));
    kept_bytes_ += kept.snapshot.size();
    kept_.push_back(std::move(kept));
    if (kept_.size() > limits_.snapshots || kept_bytes_ > limits_.bytes) drop_every_other();
}

void FoldedLog::drop_every_other() {
    spacing_ *= 2;
    std::size_t at = 0;
    std::erase_if(kept_, [&](const Kept&) { return at++ % 2 == 0; });
    kept_bytes_ = 0;
    for (const Kept& kept : kept_) kept_bytes_ += kept.snapshot.size();
}

}  // namespace berth::api
