// SPDX-License-Identifier: Apache-2.0
//
// berth status: how do things stand?
#include "cli/client/client.h"
#include "cli/command_line/arguments.h"
#include "cli/command_line/context.h"
#include "cli/command_line/moment.h"
#include "cli/command_line/output.h"
#include "cli/pages/cluster_pages.h"
#include "codec/text/json.h"

namespace berth::cli {
namespace {

constexpr Flag kStatusFlags[] = {kAtFlag, kPageOutputFlag, kJsonFlag};

// What `berth status` and the first page of the dashboard begin with; the first one is the answer.
Outcome<std::string> sentences(Client& client, const Style& style) {
    const auto body = client.get("overview");
    if (!body) return tl::unexpected(body.error());
    const auto tree = codec::parse_json(*body, "answer");
    const codec::Value* said = tree ? tree->find("sentences") : nullptr;
    std::string text;
    if (said == nullptr) return text;
    for (const codec::Value& each : said->items) {
        const codec::Value* words = each.find("text");
        if (words == nullptr) continue;
        const std::string line = printable(words->text);
        text += (text.empty() ? style.paint(Tone::Strong, line) : line) + "\n";
    }
    return text + "\n";
}

int show_status(Context& context, const Arguments& arguments) {
    Client client(context);
    if (wants_document(arguments)) {
        const auto body = client.get("status");
        if (!body) return report(context, body.error());
        print_document(arguments, *body);
        return kDone;
    }
    const auto status = client.status();
    if (!status) return report(context, status.error());
    // An older server says none.
    print(sentences(client, context.out).value_or("") +
          status_page(*status, shown_moment(context), context.out));
    return kDone;
}

}  // namespace

extern const Verb status_verb;

const Verb status_verb{.intent = Intent::Look,
                       .name = "status",
                       .synopsis = "[--at TIME] [-o json]",
                       .summary = "say how things stand: your jobs, GPUs, quotas, the server",
                       .flags = kStatusFlags,
                       .run = show_status};

}  // namespace berth::cli
