// SPDX-License-Identifier: Apache-2.0
//
// What does `kubectl berth why x` mean? kubectl runs kubectl-berth for it: that is this program by
// another name, and means `berth kube why x`.
#pragma once

#include <vector>

namespace berth::app {

// The words of the command line; those of kubectl-berth with the verb "kube" in front.
std::vector<char*> as_typed_to_berth(std::vector<char*> words);

}  // namespace berth::app
