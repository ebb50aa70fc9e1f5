// SPDX-License-Identifier: Apache-2.0
#include "api/http/outbox.h"

#include <utility>

namespace berth::api {

Outbox::Slot Outbox::expect() {
    answers_.emplace_back();
    return first_ + answers_.size() - 1;
}

void Outbox::put(Slot slot, std::string text) {
    const std::size_t size = text.size();
    answers_[slot - first_] = std::move(text);
    owe(size);
}

void Outbox::add(std::string_view text) {
    unsent_ += text;
    owe(text.size());
}

std::string Outbox::take() {
    while (!answers_.empty() && answers_.front()) {
        unsent_ += *answers_.front();
        answers_.pop_front();
        ++first_;
    }
    return std::exchange(unsent_, {});
}

void Outbox::has_left(std::size_t size) {
    since_ = Clock::now();
    untaken_ -= size;
    all_.bytes -= size;
}

void Outbox::clear() {
    has_left(untaken_);
    answers_.clear();
    unsent_ = {};
}

void Outbox::owe(std::size_t size) {
    if (untaken_ == 0) since_ = Clock::now();
    untaken_ += size;
    all_.bytes += size;
    if (all_.bytes > kAllUntakenBytesMax) all_.make_room();
}

}  // namespace berth::api
