// SPDX-License-Identifier: Apache-2.0
#include "cli/verbs/verbs.h"

#include <algorithm>

#include "cli/command_line/arguments.h"

namespace berth::cli {

// Each where its name says: list.cc, run.cc ...
extern const Verb run_verb;
extern const Verb submit_verb;
extern const Verb demo_verb;
extern const Verb list_verb;
extern const Verb show_verb;
extern const Verb why_verb;
extern const Verb logs_verb;
extern const Verb top_verb;
extern const Verb gpus_verb;
extern const Verb events_verb;
extern const Verb timeline_verb;
extern const Verb status_verb;
extern const Verb report_verb;
extern const Verb efficiency_verb;
extern const Verb web_verb;
extern const Verb pause_verb;
extern const Verb keep_verb;
extern const Verb resume_verb;
extern const Verb cancel_verb;
extern const Verb set_verb;
extern const Verb checkpointed_verb;
extern const Verb plan_verb;
extern const Verb scenario_verb;
extern const Verb simulate_verb;
extern const Verb what_if_verb;
extern const Verb fair_share_verb;
extern const Verb project_list_verb;
extern const Verb project_create_verb;
extern const Verb project_set_verb;
extern const Verb project_use_verb;
extern const Verb project_remove_verb;
extern const Verb pool_list_verb;
extern const Verb pool_show_verb;
extern const Verb pool_create_verb;
extern const Verb pool_set_verb;
extern const Verb pool_remove_verb;
extern const Verb node_list_verb;
extern const Verb node_set_verb;
extern const Verb node_drain_verb;
extern const Verb node_ready_verb;
extern const Verb policy_show_verb;
extern const Verb policy_set_verb;
extern const Verb policy_reset_verb;
extern const Verb completion_verb;
extern const Verb complete_verb;
extern const Verb help_verb;
extern const Verb version_verb;

std::vector<const Verb*> all_verbs(std::span<const Verb> system_verbs) {
    std::vector<const Verb*> verbs{&run_verb,
                                   &submit_verb,
                                   &demo_verb,
                                   &list_verb,
                                   &show_verb,
                                   &why_verb,
                                   &logs_verb,
                                   &top_verb,
                                   &gpus_verb,
                                   &events_verb,
                                   &timeline_verb,
                                   &status_verb,
                                   &web_verb,
                                   &report_verb,
                                   &efficiency_verb,
                                   &pause_verb,
                                   &resume_verb,
                                   &keep_verb,
                                   &cancel_verb,
                                   &set_verb,
                                   &checkpointed_verb,
                                   &plan_verb,
                                   &scenario_verb,
                                   &what_if_verb,
                                   &simulate_verb,
                                   &project_list_verb,
                                   &project_create_verb,
                                   &project_set_verb,
                                   &project_remove_verb,
                                   &project_use_verb,
                                   &fair_share_verb,
                                   &policy_show_verb,
                                   &policy_set_verb,
                                   &policy_reset_verb,
                                   &pool_list_verb,
                                   &pool_show_verb,
                                   &pool_create_verb,
                                   &pool_set_verb,
                                   &pool_remove_verb,
                                   &node_list_verb,
                                   &node_set_verb,
                                   &node_drain_verb,
                                   &node_ready_verb};
    for (const Verb& verb : system_verbs) verbs.push_back(&verb);
    for (const Verb* verb : {&completion_verb, &help_verb, &version_verb, &complete_verb}) {
        verbs.push_back(verb);
    }
    return verbs;
}

const Verb* find_verb(const Context& context, std::string_view name) {
    for (const Verb* verb : context.verbs) {
        if (verb->name == name) return verb;
        const auto aliases = split_words(verb->aliases, ' ');
        if (std::find(aliases.begin(), aliases.end(), name) != aliases.end()) return verb;
    }
    return nullptr;
}

std::vector<const Verb*> verbs_below(std::span<const Verb* const> verbs, std::string_view word) {
    std::vector<const Verb*> below;
    for (const Verb* verb : verbs) {
        if (verb->name.starts_with(word) && verb->name.substr(word.size()).starts_with(' ')) {
            below.push_back(verb);
        }
    }
    return below;
}

}  // namespace berth::cli
