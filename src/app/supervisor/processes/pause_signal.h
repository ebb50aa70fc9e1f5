// SPDX-License-Identifier: Apache-2.0
//
// Which signal asks this job to save and stop? The one its framework listens to: submitit ignores
// TERM and saves on USR2, Lightning saves on USR1 when it believes to run under Slurm, everything
// else saves on TERM. "auto" reads from the live processes which signals have a handler, so a guess
// is made only where someone listens.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace berth::supervisor {

inline constexpr int kKillAtOnce = 0;

// `manner` is auto, none or a signal's name with or without SIG; `caught` is the union over all
// processes of the job. Unknown names are taken as TERM.
int choose_pause_signal(std::string_view manner, const std::vector<std::string>& environment,
                        std::uint64_t caught);

// "TERM" for 15; the number as text for signals without a name here.
std::string signal_name(int signal);

}  // namespace berth::supervisor
