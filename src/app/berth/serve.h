// SPDX-License-Identifier: Apache-2.0
//
// For how long does a server serve? Until it is asked to end. When its log fails (a sync that did
// not succeed may have lost what was written, whatever the next one says), memory is not believed
// any more: a new server in the same process reads the log again, as after a crash; jobs run on. A
// log that fails again and again is given up.
#pragma once

#include <memory>

#include "app/berth/server.h"

namespace berth::app {

// Returns the exit code of the process.
int serve(std::unique_ptr<Server> server, ServerOptions options);

}  // namespace berth::app
