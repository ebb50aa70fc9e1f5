// SPDX-License-Identifier: Apache-2.0
//
// The program berth: the command line, and the verbs that need the server itself.
#include "cli/main.h"

#include <cstdio>
#include <exception>

#include "app/berth/kube.h"
#include "app/berth/log_verbs.h"
#include "app/berth/up.h"

int main(int argc, char** argv) {
    try {
        const berth::cli::Verb system_verbs[] = {berth::app::up_verb,
                                                 berth::app::down_verb,
                                                 berth::app::backup_verb,
                                                 berth::app::restore_verb,
                                                 berth::app::check_verb,
                                                 berth::app::kube_install_verb,
                                                 berth::app::kube_uninstall_verb,
                                                 berth::app::kube_manifest_verb,
                                                 berth::app::kube_scheduler_verb};
        return berth::cli::main(argc, argv, system_verbs);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "berth: internal error: %s\n", error.what());
        return 70;
    }
}
