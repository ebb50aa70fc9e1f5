// SPDX-License-Identifier: Apache-2.0
//
// What carries bytes to the API server and back? TLS over TCP (tls_dialer.h); in tests, memory.
//
// Guarantee of an implementation: a callback is called once, never before its function has
// returned, and not any more when the channel is gone.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace berth::kube::client {

class Channel {
  public:
    using Done = std::function<void(base::Status)>;
    // Bytes, valid until it returns; none of them: the other end has closed.
    using Got = std::function<void(base::Result<std::string_view>)>;

    virtual ~Channel() = default;
    virtual void open(Done done) = 0;
    // One at a time of each.
    virtual void write(std::string bytes, Done done) = 0;
    virtual void read(Got got) = 0;
};

class Dialer {
  public:
    virtual ~Dialer() = default;
    virtual std::unique_ptr<Channel> dial() = 0;
};

}  // namespace berth::kube::client
