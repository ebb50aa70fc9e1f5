// SPDX-License-Identifier: Apache-2.0
#include "doubles/kube_api/session.h"

#include <algorithm>
#include <utility>

namespace berth::tests::kube_api {

using base::Duration;

void Session::say(std::string bytes) {
    const base::TimePoint at =
        std::max(last_, time_.now() + Duration{dice_.between(0, latency_ms)});
    last_ = at;
    time_.start(at - time_.now(), [self = shared_from_this(), text = std::move(bytes)] {
        if (self->is_left_) return;
        self->on_the_way_ += text;
        self->deliver_soon();
    });
}

void Session::hang_up() {
    time_.start(std::max(Duration{0}, last_ - time_.now()), [self = shared_from_this()] {
        self->is_hung_up_ = true;
        self->deliver_soon();
    });
}

void Session::deliver_soon() {
    const bool has_something = !on_the_way_.empty() || is_hung_up_;
    if (!got_ || !has_something || std::exchange(will_deliver_, true)) return;
    time_.start(Duration{0}, [self = shared_from_this()] {
        self->will_deliver_ = false;
        self->deliver();
    });
}

void Session::deliver() {
    if (is_left_ || !got_) return;
    const auto call = std::exchange(got_, nullptr);
    std::size_t size = on_the_way_.size();
    if (piece_bytes > 0)
        size = std::min(size, static_cast<std::size_t>(dice_.between(1, piece_bytes)));
    const std::string piece = on_the_way_.substr(0, size);
    on_the_way_.erase(0, size);
    call(std::string_view(piece));
}

MemoryChannel::~MemoryChannel() {
    session_->is_left_ = true;
    session_->got_ = nullptr;
}

void MemoryChannel::open(Done done) {
    session_->time_.start(Duration{session_->dice_.between(0, session_->latency_ms)},
                          [session = session_, then = std::move(done)] {
                              if (session->is_left_) return;
                              if (!session->is_refused_) return then({});
                              then(base::fail(base::ErrorCode::Unavailable, "refused"));
                          });
}

void MemoryChannel::write(std::string bytes, Done done) {
    session_->time_.start(
        Duration{session_->dice_.between(0, session_->latency_ms)},
        [session = session_, heard = heard_, text = std::move(bytes), then = std::move(done)] {
                              // What is written arrives, even of one who has left.
            heard(*session, text);
            if (!session->is_left_) then({});
        });
}

void MemoryChannel::read(Got got) {
    session_->got_ = std::move(got);
    session_->deliver_soon();
}

}  // namespace berth::tests::kube_api
