// SPDX-License-Identifier: Apache-2.0
//
// The verbs of Berth on a Kubernetes cluster.
#pragma once

#include "base/result.h"
#include "cli/verb.h"
#include "kube/client/access.h"

namespace berth::app {

// The cluster of --kubeconfig, $KUBECONFIG or ~/.kube/config, in the context of --context.
// Errors: those of read_kubeconfig.
base::Result<kube::client::Access> kubeconfig_access(const cli::Arguments& arguments);

extern const cli::Verb kube_install_verb;
extern const cli::Verb kube_uninstall_verb;
extern const cli::Verb kube_manifest_verb;
extern const cli::Verb kube_scheduler_verb;

}  // namespace berth::app
