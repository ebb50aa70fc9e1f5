// SPDX-License-Identifier: Apache-2.0
//
// One connection between the client and the API server of the tests: bytes in memory that take
// their time and arrive in pieces of any size. What the client does with them is its real code.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/rng.h"
#include "doubles/virtual_time.h"
#include "kube/client/transport/channel.h"

namespace berth::tests::kube_api {

class Session : public std::enable_shared_from_this<Session> {
  public:
    using Heard = std::function<void(Session&, std::string_view)>;

    Session(VirtualTime& time, base::Rng& dice) : time_(time), dice_(dice) {}

    // The server's end.
    void say(std::string bytes);
    void hang_up();
    bool is_left() const { return is_left_; }  // by the client
    std::string inbox;  // what the server has not understood yet

    // Largest latency and piece; 0 pieces: all that is there.
    std::int64_t latency_ms = 5;
    std::int64_t piece_bytes = 0;

  private:
    friend class MemoryChannel;
    void deliver_soon();
    void deliver();

    VirtualTime& time_;
    base::Rng& dice_;
    kube::client::Channel::Got got_;
    std::string on_the_way_;
    base::TimePoint last_{};  // nothing overtakes
    bool is_refused_ = false;
    bool is_hung_up_ = false;
    bool is_left_ = false;
    bool will_deliver_ = false;
};

// The client's end.
class MemoryChannel final : public kube::client::Channel {
  public:
    MemoryChannel(std::shared_ptr<Session> session, bool is_refused, Session::Heard heard)
        : session_(std::move(session)), heard_(std::move(heard)) {
        session_->is_refused_ = is_refused;
    }
    ~MemoryChannel() override;
    void open(Done done) override;
    void write(std::string bytes, Done done) override;
    void read(Got got) override;

  private:
    std::shared_ptr<Session> session_;
    Session::Heard heard_;
};

}  // namespace berth::tests::kube_api
