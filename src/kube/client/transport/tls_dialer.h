// SPDX-License-Identifier: Apache-2.0
//
// How is the API server reached? TLS 1.2 or later over TCP, the server's certificate checked
// against the cluster's authority and its name, ours shown where there is one. A peer that is gone
// is noticed by keep-alive after half a minute; who waits for an answer has a time of its own.
//
// Asio's TLS is included in tls_dialer.cc alone.
#pragma once

#include <boost/asio/io_context.hpp>
#include <memory>
#include <string>

#include "base/result.h"
#include "kube/client/identity/access.h"
#include "kube/client/transport/channel.h"

namespace berth::kube::client {

class TlsDialer final : public Dialer {
  public:
    // Errors: Invalid, when a certificate or key cannot be read.
    static base::Result<std::unique_ptr<TlsDialer>> make(boost::asio::io_context& loop,
                                                         const Access& access);
    ~TlsDialer() override;

    std::unique_ptr<Channel> dial() override;

  private:
    struct Target;
    explicit TlsDialer(std::shared_ptr<Target> target);

    std::shared_ptr<Target> target_;
};

}  // namespace berth::kube::client
