// SPDX-License-Identifier: Apache-2.0
//
// Who answers the client that is measured? A process of its own, over TLS on loopback, so that what
// the client's process uses is the client's. It serves one connection at a time, from the store of
// the tests.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

namespace berth::bench {

struct Served {
    std::string port;
    std::string ca_pem;
    pid_t process = 0;
};

// `pods` of them; each watch gets changes as fast as it takes them, until there were `events`. The
// first watch, and the one after the last event, are too old (410): the pods are listed again.
Served serve(int pods, std::uint64_t events);
void end(const Served& served);

}  // namespace berth::bench
