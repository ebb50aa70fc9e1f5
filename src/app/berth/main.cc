// SPDX-License-Identifier: Apache-2.0
//
// The program berth: the command line, and the verbs that need the server itself. Called as
// kubectl-berth it is kubectl's plugin.
#include "cli/main.h"

#include <cstdio>
#include <exception>
#include <vector>

#include "app/berth/kube.h"
#include "app/berth/kube_plugin.h"
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
                                                 berth::app::kube_why_verb,
                                                 berth::app::kube_list_verb,
                                                 berth::app::kube_fair_share_verb,
                                                 berth::app::kube_scheduler_verb};
        std::vector<char*> words = berth::app::as_typed_to_berth({argv, argv + argc});
        return berth::cli::main(static_cast<int>(words.size()), words.data(), system_verbs);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "berth: internal error: %s\n", error.what());
        return 70;
    }
}
