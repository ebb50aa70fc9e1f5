// SPDX-License-Identifier: Apache-2.0
//
// Who is at the other end of this socket, and what is still to be sent to them? Nothing here
// blocks: what the socket does not take now is kept and sent when it is writable.
#pragma once

#include <string>
#include <string_view>

#include "supervision/descriptor.h"
#include "supervision/frame.h"

namespace berth::supervisor {

enum class Role {
    Unknown,  // connected, has not yet said what it wants
    Server,
    Client,
    Freezer,  // of its node: this end asked for the connection
};

class Connection {
  public:
    Connection(supervision::Descriptor socket, Role role);

    // Reads what has arrived. False when the peer has gone or talks nonsense.
    bool receive();
    std::optional<supervision::Frame> next_frame() { return reader_.next(); }

    void send(supervision::FrameType type, std::string_view payload = {}, int task = 0);
    // False when the peer has gone.
    bool flush();
    std::size_t backlog() const { return out_.size() - sent_; }

    int fd() const { return socket_.get(); }
    Role role() const { return role_; }
    void become(Role role) { role_ = role; }
    // Nothing more is wanted from this peer; it is dropped when everything was sent.
    void close_after_flush() { is_closing_ = true; }
    bool is_closing() const { return is_closing_; }
    bool is_lost() const { return is_lost_; }
    void lose() { is_lost_ = true; }

  private:
    supervision::Descriptor socket_;
    supervision::FrameReader reader_;
    Role role_;
    std::string out_;
    std::size_t sent_ = 0;
    bool is_closing_ = false;
    bool is_lost_ = false;
};

}  // namespace berth::supervisor
