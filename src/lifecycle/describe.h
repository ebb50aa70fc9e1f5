// SPDX-License-Identifier: Apache-2.0
//
// What state is this written-down cluster in? Turns a Description into the events that would have
// led to it and applies them, so that a described cluster and a lived one cannot differ.
#pragma once

#include "lifecycle/apply.h"
#include "model/description.h"

namespace berth::lifecycle {

// Job ids are given in the order of (created, project, name), from 1. Tasks without stated GPUs
// get the lowest free ones of their node. A promise without stated GPUs is one of the lowest that
// are free or being left; it is void when there is no room for all of it, and of two that ask for
// the same the one that is kept longer stands. Errors: Invalid, when it describes the impossible.
base::Result<State> from_description(const model::Description& description);

}  // namespace berth::lifecycle
