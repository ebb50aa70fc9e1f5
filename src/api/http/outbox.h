// SPDX-License-Identifier: Apache-2.0
//
// What does a client get next? Answers leave in the order of the requests, whichever is ready
// first; what its client has not taken yet is counted, for the connection and for all of a server.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>

namespace berth::api {

inline constexpr std::size_t kPipelinedMax = 256;
inline constexpr std::size_t kUntakenBytesMax = 4 * 1024 * 1024;  // of one connection
inline constexpr std::size_t kAllUntakenBytesMax = 64 * 1024 * 1024;

// The bytes of all answers that clients have not taken yet, for all connections of a server.
struct Untaken {
    std::size_t bytes = 0;
    std::function<void()> make_room;  // called when they are more than kAllUntakenBytesMax
};

class Outbox {
  public:
    using Clock = std::chrono::steady_clock;
    using Slot = std::uint64_t;

    explicit Outbox(Untaken& all) : all_(all) {}

    // The place of the answer to a request that was read now.
    Slot expect();
    bool is_expected(Slot slot) const { return slot < first_ + answers_.size(); }
    bool is_last(Slot slot) const { return slot + 1 == first_ + answers_.size(); }
    // Drops the places behind this one.
    void end_with(Slot slot) { answers_.resize(slot - first_ + 1); }
    // May call Untaken::make_room, as `add` does.
    void put(Slot slot, std::string text);
    // In front of what is not ready yet, though no answer.
    void add(std::string_view text);

    // All that may leave now; once it has left, `has_left` is to be called.
    std::string take();
    void has_left(std::size_t size);
    // Owes nothing any more; to be called before `all` goes.
    void clear();

    // An answer is not ready, or has not been taken out.
    bool expects() const { return !answers_.empty(); }
    bool is_empty() const { return answers_.empty() && unsent_.empty(); }
    bool is_full() const {
        return answers_.size() >= kPipelinedMax || untaken_ >= kUntakenBytesMax;
    }
    // Its client has taken nothing of what is there since then.
    bool has_untaken() const { return untaken_ > 0; }
    Clock::time_point untaken_since() const { return since_; }
    Clock::time_point untaken_since_or(Clock::time_point other) const {
        return has_untaken() ? since_ : other;
    }

  private:
    void owe(std::size_t size);

    Untaken& all_;
    std::deque<std::optional<std::string>> answers_;
    Slot first_ = 0;  // of answers_.front()
    std::string unsent_;
    std::size_t untaken_ = 0;  // bytes of what is ready, unsent or under way
    Clock::time_point since_;
};

}  // namespace berth::api
