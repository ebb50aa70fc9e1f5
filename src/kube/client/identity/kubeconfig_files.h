// SPDX-License-Identifier: Apache-2.0
//
// Which kubeconfig files say where the cluster is? Those that kubectl reads: the one that
// --kubeconfig names, else those of $KUBECONFIG, else ~/.kube/config.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "kube/client/identity/access.h"

namespace berth::kube::client {

struct KubeconfigPlaces {
    std::string flag;      // of --kubeconfig, empty: not given
    std::string variable;  // $KUBECONFIG: paths with ":" between them
    std::string home;
};
// In the order in which they are asked. A file of the variable that is not there is passed over.
// Errors: NotFound, naming where was looked; Exhausted, for a file larger than a megabyte.
base::Result<std::vector<Kubeconfig>> find_kubeconfigs(const KubeconfigPlaces& places);

}  // namespace berth::kube::client
