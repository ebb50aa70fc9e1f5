// SPDX-License-Identifier: Apache-2.0
//
// berth web: signs a browser in.
#include "cli/client/client.h"
#include "cli/command_line/arguments.h"
#include "cli/command_line/context.h"
#include "cli/command_line/output.h"
#include "codec/text/json.h"

namespace berth::cli {
namespace {

constexpr Flag kWebFlags[] = {
    {0, "look-only", "", "may look, and change nothing: for a screen on the wall"},
    {'q', "quiet", "", "the link alone"},
};

// Who came over TCP, as through a tunnel, opens it there as well.
Outcome<std::string> link_in(const std::string& answer, const ServerAddress& address) {
    const auto tree = codec::parse_json(answer, "answer");
    const codec::Value* url = tree ? tree->find("url") : nullptr;
    const std::size_t path = url == nullptr ? std::string::npos : url->text.find("/#");
    if (path != std::string::npos) {
        if (!address.socket.empty()) return url->text;
        return "http://" + address.host + ":" + address.port + url->text.substr(path);
    }
    return tl::unexpected(Failure{kFailed, "the server's answer has no link", "berth status"});
}

int sign_in(Context& context, const Arguments& arguments) {
    Client client(context);
    const auto answer =
        client.post("links", arguments.has("look-only") ? R"({"look_only":true})" : "");
    if (!answer) return report(context, answer.error());
    const auto url = link_in(*answer, context.address);
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
