// SPDX-License-Identifier: Apache-2.0
//
// The verbs of Berth on a Kubernetes cluster.
#pragma once

#include "base/result.h"
#include "cli/command_line/verb.h"
#include "kube/client/identity/access.h"

namespace berth::app {

inline constexpr cli::Flag kKubeconfigFlag{.name = "kubeconfig",
                                           .value = "FILE",
                                           .help =
                                               "the cluster and who you are (default: $KUBECONFIG, "
                                               "~/.kube/config)",
                                           .completes = cli::Completes::Files};
inline constexpr cli::Flag kContextFlag{
    .name = "context", .value = "NAME", .help = "context of that file (default: its current one)"};

// The cluster of --kubeconfig, $KUBECONFIG or ~/.kube/config, in the context of --context.
// Errors: those of read_kubeconfig.
base::Result<kube::client::Access> kubeconfig_access(const cli::Arguments& arguments);

extern const cli::Verb kube_install_verb;
extern const cli::Verb kube_uninstall_verb;
extern const cli::Verb kube_manifest_verb;
extern const cli::Verb kube_scheduler_verb;
extern const cli::Verb kube_why_verb;
extern const cli::Verb kube_list_verb;
extern const cli::Verb kube_fair_share_verb;

}  // namespace berth::app
