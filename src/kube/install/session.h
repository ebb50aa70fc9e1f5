// SPDX-License-Identifier: Apache-2.0
//
// How does a command talk to an API server? One request after the other, each waited for. What did
// not reach the server, was answered with "later", or whose fate is not known is sent again until
// it is answered or the time is up: for what does no harm twice.
#pragma once

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <chrono>
#include <memory>
#include <string>

#include "adapters/system_clock/system_clock.h"
#include "base/result.h"
#include "kube/client/identity/access.h"
#include "kube/client/transport/loop_timers.h"
#include "kube/client/transport/requests.h"
#include "kube/client/transport/tls_dialer.h"
#include "kube/install/credential_program.h"

namespace berth::kube::install {

class Session {
  public:
    // `patience`: for everything together, from now on. Errors: Invalid, of certificates.
    static base::Result<std::unique_ptr<Session>> open(const client::Access& access,
                                                       base::Duration patience);

    client::Outcome ask(const client::Request& request);
    // False when the time is up.
    bool wait(base::Duration time);
    // https://HOST:PORT
    const std::string& server() const { return server_; }

  private:
    Session(const client::Access& access, base::Duration patience);
    client::Outcome ask_once(client::Request request);

    std::string server_;
    boost::asio::io_context loop_;
    // A loop without work would stop, and wait for nothing any more.
    boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_{
        loop_.get_executor()};
    system_clock::SystemClock clock_;
    client::LoopTimers timers_{loop_, clock_};
    CredentialProgram program_;
    client::Credentials credentials_;
    std::unique_ptr<client::TlsDialer> dialer_;
    std::unique_ptr<client::Requests> requests_;
    base::TimePoint until_;
};

}  // namespace berth::kube::install
