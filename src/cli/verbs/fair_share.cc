// SPDX-License-Identifier: Apache-2.0
//
// berth fairshare: how did a project come to its fair share?
#include "cli/client/client.h"
#include "cli/command_line/arguments.h"
#include "cli/command_line/context.h"
#include "cli/command_line/moment.h"
#include "cli/command_line/output.h"
#include "cli/pages/fair_share_page.h"

namespace berth::cli {
namespace {

constexpr Flag kFairShareFlags[] = {
    {0, "pool", "POOL", "pool to show (default: the default pool)"},
    kAtFlag,
    kPageOutputFlag,
    kJsonFlag,
};

int show_fair_share(Context& context, const Arguments& arguments) {
    Client client(context);
    const auto account = client.fair_share(arguments.words[0], arguments.text("pool"));
    if (!account) return report(context, account.error());
    if (wants_document(arguments)) {
        print_document(arguments, account->json);
    } else {
        print(fair_share_page(account->account, context.out));
    }
    return kDone;
}

}  // namespace

extern const Verb fair_share_verb;

const Verb fair_share_verb{.intent = Intent::Share,
                           .name = "fairshare",
                           .synopsis = "PROJECT [--pool POOL] [--at TIME] [-o json]",
                           .summary = "show how a fair share is calculated, step by step",
                           .flags = kFairShareFlags,
                           .words_min = 1,
                           .words_max = 1,
                           .completes = Completes::Projects,
                           .run = show_fair_share};

}  // namespace berth::cli
