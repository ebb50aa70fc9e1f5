// SPDX-License-Identifier: Apache-2.0
//
// berth policy show, set, reset: by which settings does the server decide?
#include <algorithm>

#include "cli/client/client.h"
#include "cli/command_line/arguments.h"
#include "cli/command_line/context.h"
#include "cli/command_line/output.h"
#include "cli/pages/policy_page.h"
#include "cli/verbs/changes.h"
#include "cli/verbs/listing.h"
#include "codec/text/json_writer.h"

namespace berth::cli {
namespace {

constexpr Flag kPolicyShowFlags[] = {kListOutputFlag, kJsonFlag, kQuietFlag};

const codec::SettingView* find(const codec::PolicyView& policy, std::string_view name) {
    const auto found = std::ranges::find(policy.settings, name, &codec::SettingView::name);
    return found == policy.settings.end() ? nullptr : &*found;
}

// Under the name of today, where it is a former one.
std::string setting_named(const std::string& word) {
    const model::PolicySetting* const known = model::find_policy_setting(word);
    return known == nullptr ? word : std::string(known->name);
}

Success expect_settings(const codec::PolicyView& policy, const std::vector<std::string>& wanted) {
    std::vector<std::string> names;
    for (const codec::SettingView& setting : policy.settings) names.push_back(setting.name);
    for (const std::string& name : wanted) {
        if (auto gone = model::gone_setting(name)) {
            return refuse(kNoSuchThing, std::move(*gone), "berth policy show");
        }
        const auto known = expect_known("setting", name, names, "berth policy show");
        if (!known) return tl::unexpected(known.error());
    }
    return {};
}

Outcome<Listing> read_settings(const Context& context, Client& client, const Arguments& arguments) {
    auto policy = client.policy();
    if (!policy) return tl::unexpected(policy.error());
    std::vector<std::string> wanted;
    for (const std::string& word : arguments.words) wanted.push_back(setting_named(word));
    if (const auto known = expect_settings(*policy, wanted); !known) {
        return tl::unexpected(known.error());
    }
    std::erase_if(policy->settings, [&](const codec::SettingView& setting) {
        return !wanted.empty() && std::ranges::find(wanted, setting.name) == wanted.end();
    });
    Listing listing{setting_table(policy->settings), {}};
    for (const codec::SettingView& setting : policy->settings)
        listing.names.push_back(setting.name);
    if (context.out.is_terminal) {
        listing.below = "DEFAULT is the startup value: profile " + policy->profile +
                        " and the flags of berth up";
    }
    return listing;
}

int show_policy(Context& context, const Arguments& arguments) {
    return show_listing(context, arguments, "policy", read_settings);
}

// Changes them and says what each was and is.
int change_policy(Context& context, const std::vector<std::string>& names,
                  const std::string& body) {
    Client client(context);
    const auto before = client.policy();
    if (!before) return report(context, before.error());
    if (const auto known = expect_settings(*before, names); !known) {
        return report(context, known.error());
    }
    const auto notes = client.change("policy", "", body);
    if (!notes) return report(context, notes.error());
    const auto after = client.policy();
    if (!after) return report(context, after.error());
    for (const std::string& name : names) {
        const codec::SettingView* const now = find(*after, name);
        if (now == nullptr) continue;
        const std::string& was = find(*before, name)->value;
        const std::string change = was == now->value ? ", as before" : ", was " + was;
        print(printable(name + " is " + now->value + change) +
              (now->is_set ? "\n" : " (startup value)\n"));
    }
    print_notes(*notes);
    return kDone;
}

int set_policy(Context& context, const Arguments& arguments) {
    std::vector<std::string> names;
    std::string body;
    codec::JsonWriter json(body);
    json.begin_object();
    for (const std::string& word : arguments.words) {
        const std::size_t equals = word.find('=');
        if (equals == std::string::npos || equals == 0 || equals + 1 == word.size()) {
            return report(context, {kBadUsage, "wanted NAME=VALUE, found \"" + word + "\"",
                                    "berth policy set min_runtime=10m; berth policy show"});
        }
        const std::string name = setting_named(word.substr(0, equals));
        if (std::ranges::find(names, name) != names.end()) {
            return report(context, {kBadUsage, name + " is given twice", "berth help policy set"});
        }
        names.push_back(name);
        json.text_key(name).string(word.substr(equals + 1));
    }
    json.end_object();
    return change_policy(context, names, body);
}

int reset_policy(Context& context, const Arguments& arguments) {
    std::string body;
    codec::JsonWriter json(body);
    json.begin_object();
    std::vector<std::string> names;
    for (const std::string& word : arguments.words) {
        names.push_back(setting_named(word));
        json.text_key(names.back()).null();
    }
    json.end_object();
    return change_policy(context, names, body);
}

}  // namespace

extern const Verb policy_show_verb;
extern const Verb policy_set_verb;
extern const Verb policy_reset_verb;

const Verb policy_show_verb{.intent = Intent::Share,
                            .name = "policy show",
                            .aliases = "policy",
                            .synopsis = "[NAME...] [-o FORM]",
                            .summary = "show the policy settings, and which were changed",
                            .flags = kPolicyShowFlags,
                            .words_max = -1,
                            .completes = Completes::Settings,
                            .run = show_policy};

const Verb policy_set_verb{.intent = Intent::Share,
                           .name = "policy set",
                           .synopsis = "NAME=VALUE...",
                           .summary = "change settings from the next decision on",
                           .words_min = 1,
                           .words_max = -1,
                           .completes = Completes::Settings,
                           .more =
                               "  berth policy set min_runtime=10m consolidation_max_jobs=0\n"
                               "  berth policy reset min_runtime\n",
                           .run = set_policy};

const Verb policy_reset_verb{.intent = Intent::Share,
                             .name = "policy reset",
                             .synopsis = "NAME...",
                             .summary = "reset a setting to its startup value",
                             .words_min = 1,
                             .words_max = -1,
                             .completes = Completes::Settings,
                             .run = reset_policy};

}  // namespace berth::cli
