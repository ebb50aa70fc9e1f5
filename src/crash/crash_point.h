// SPDX-License-Identifier: Apache-2.0
//
// Where may a test kill this process? At each crash_point("name"), when the environment says so:
// BERTH_CRASH_AT="before-spawn:3" ends the process by SIGKILL at its third passage of that point.
// Unset, a passage costs one load. Names are listed in README.md; tests/ kill at every one of them
// and check that nothing that was promised is lost or done twice.
#pragma once

namespace berth::crash {

void crash_point(const char* name);

}  // namespace berth::crash
