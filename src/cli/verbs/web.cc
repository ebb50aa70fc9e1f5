// SPDX-License-Identifier: Apache-2.0
//
// berth web: signs a browser in.
#include "cli/client/client.h"
#include "cli/client/web_link.h"
#include "cli/command_line/arguments.h"
#include "cli/command_line/context.h"
#include "cli/command_line/output.h"

namespace berth::cli {
namespace {

constexpr Flag kWebFlags[] = {
    {0, "look-only", "", "may look, and change nothing: for a screen on the wall"},
    {'q', "quiet", "", "the link alone"},
};

int sign_in(Context& context, const Arguments& arguments) {
    Client client(context);
    const auto url = web_link(client, context.address, arguments.has("look-only"));
    if (!url) return report(context, url.error());
    if (arguments.has("quiet")) {
        print(*url + "\n");
    } else {
        print("Open this in a browser of this machine; it signs in once, within a minute:\n  " +
              *url + "\n");
    }
    return kDone;
}

}  // namespace

extern const Verb web_verb;

const Verb web_verb{
    .intent = Intent::Look,
    .name = "web",
    .synopsis = "[--look-only] [-q]",
    .summary = "print a link that signs a browser in",
    .flags = kWebFlags,
    .more =
        "  From another machine: ssh -L 7421:localhost:7421 HOST, then open it there;\n"
        "  7421 is the port in the link.\n"
        "  A browser stays signed in for a week, or until it signs out.\n",
    .run = sign_in};

}  // namespace berth::cli
