// SPDX-License-Identifier: Apache-2.0
//
// The verbs of Berth on a Kubernetes cluster.
#pragma once

#include "cli/verb.h"

namespace berth::app {

extern const cli::Verb kube_install_verb;
extern const cli::Verb kube_uninstall_verb;
extern const cli::Verb kube_manifest_verb;
extern const cli::Verb kube_scheduler_verb;

}  // namespace berth::app
