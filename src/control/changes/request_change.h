// SPDX-License-Identifier: Apache-2.0
//
// May a job ask for another part of its GPUs, and what is to be written down for it? What is
// possible for it at all says lifecycle/parts.h; here are rights, places and what its processes
// use.
//
// One that waits only asks for something else. One that runs is narrowed before anything is written
// down, so that no memory is promised twice, and gets the rest once it is durable; a crash in
// between leaves it what the log says.
#pragma once

#include <optional>

#include "control/admission.h"
#include "control/settings.h"
#include "control/submission.h"
#include "control/transaction.h"

namespace berth::control {

struct Changer {
    lifecycle::State& state;
    const Ports& ports;
    Admission& admission;
    const model::Policy& policy;
};

// Nothing where it asks for that already, or was changed under this key before. Errors: Conflict,
// with what would fit; Invalid.
base::Result<std::optional<model::JobRequestSet>> change_of(const Changer& changer,
                                                            const Transaction& transaction,
                                                            const model::JobRecord& job,
                                                            const ChangeOfRequest& wish);

// The job of which this was asked before under the key; not valid when the key is new, or empty.
base::Result<model::JobId> job_with_key(ports::Store& store, const Transaction& transaction,
                                        const std::string& key);

}  // namespace berth::control
