// SPDX-License-Identifier: Apache-2.0
#include "app/supervisor/processes/pause_signal.h"

#include <signal.h>
#include <string.h>

#include "app/supervisor/processes/environment.h"
#include "supervision/processes.h"

namespace berth::supervisor {
namespace {

using supervision::is_caught;

bool has_name_with(const std::vector<std::string>& environment, std::string_view prefix) {
    for (const std::string& assignment : environment) {
        if (assignment.starts_with(prefix)) return true;
    }
    return false;
}

int number_of(std::string_view name) {
    if (name.starts_with("SIG")) name.remove_prefix(3);
    for (const int signal : {SIGTERM, SIGINT, SIGUSR1, SIGUSR2, SIGHUP, SIGQUIT}) {
        if (name == ::sigabbrev_np(signal)) return signal;
    }
    return SIGTERM;
}

}  // namespace

int choose_pause_signal(std::string_view manner, const std::vector<std::string>& environment,
                        std::uint64_t caught) {
    if (manner == "none") return kKillAtOnce;
    if (manner != "auto" && !manner.empty()) return number_of(manner);
    if (is_caught(caught, SIGUSR2) && has_name_with(environment, "SUBMITIT_")) return SIGUSR2;
    if (is_caught(caught, SIGUSR1) && !value_of(environment, "SLURM_NTASKS").empty())
        return SIGUSR1;
    return SIGTERM;
}

std::string signal_name(int signal) {
    const char* name = ::sigabbrev_np(signal);
    return name != nullptr ? name : std::to_string(signal);
}

}  // namespace berth::supervisor
