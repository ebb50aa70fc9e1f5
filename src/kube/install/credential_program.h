// SPDX-License-Identifier: Apache-2.0
//
// How does a program of a kubeconfig say who we are (aws eks get-token and the like)? It is run to
// its end, and everything else waits: for a command, not for a server. Its errors go where ours go,
// and it may ask the user.
#pragma once

#include "kube/client/identity/credentials.h"

namespace berth::kube::install {

class CredentialProgram final : public client::ProcessRunner {
  public:
    // Answers before it returns. Errors: NotFound, Unavailable for one that failed, Exhausted for
    // more than a megabyte.
    void run(const client::ExecCommand& command, Printed printed) override;
};

}  // namespace berth::kube::install
