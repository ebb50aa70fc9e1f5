// SPDX-License-Identifier: Apache-2.0
//
// berth node ls, set, drain, ready: which nodes are there, where do they stand, may they take work?
#include "cli/client/client.h"
#include "cli/command_line/arguments.h"
#include "cli/command_line/context.h"
#include "cli/command_line/moment.h"
#include "cli/command_line/output.h"
#include "cli/pages/pool_pages.h"
#include "cli/verbs/changes.h"
#include "cli/verbs/listing.h"
#include "codec/text/json.h"
#include "codec/text/json_writer.h"

namespace berth::cli {
namespace {

constexpr Flag kNodeListFlags[] = {kAtFlag, kListOutputFlag, kJsonFlag, kQuietFlag};
constexpr Flag kNodeSetFlags[] = {
    {'l', "labels", "KEY=VALUE", "labels that pools and jobs ask for; KEY= removes one"},
    {0, "topology", "LEVEL=DOMAIN", "domains that contain the node: zone=z1,rack=r7"},
};

// Which take no work, as the dashboard says it.
std::string sentences_text(const std::string& body, const Style& style) {
    const auto tree = codec::parse_json(body, "answer");
    const codec::Value* said = tree ? tree->find("sentences") : nullptr;
    if (said == nullptr) return "";  // an older server
    std::string text;
    for (const codec::Value& sentence : said->items) {
        text += (text.empty() ? "" : " ") + sentence.text;
    }
    return style.paint(Tone::Strong, printable(text)) + "\n\n";
}

Outcome<Listing> read_nodes(const Context& context, Client& client, const Arguments&) {
    const auto body = client.get("nodes");
    if (!body) return tl::unexpected(body.error());
    codec::NameTable names;
    const auto list = codec::parse_node_list(*body, names);
    if (!list) return tl::unexpected(Failure::from(list.error()));
    Listing listing{node_table(list->items, names), {}};
    for (const codec::NodeView& node : list->items) listing.names.push_back(node.name);
    if (context.out.is_terminal) listing.above = sentences_text(*body, context.out);
    return listing;
}

int list_nodes(Context& context, const Arguments& arguments) {
    return show_listing(context, arguments, "nodes", read_nodes);
}

int change_nodes(Context& context, const Arguments& arguments, const std::string& body,
                 std::string_view what) {
    Client client(context);
    // Nothing is changed when one of them is not known.
    const auto list = client.nodes();
    if (!list) return report(context, list.error());
    std::vector<std::string> names;
    for (const codec::NodeView& node : list->nodes) names.push_back(node.name);
    for (const std::string& name : arguments.words) {
        const auto known = expect_known("node", name, names, "berth node ls");
        if (!known) return report(context, known.error());
    }
    for (const std::string& name : arguments.words) {
        const auto notes = client.change("nodes", name, body);
        if (!notes) return report(context, notes.error());
        print("node " + printable(name) + std::string(what) + "\n");
        print_notes(*notes);
    }
    return kDone;
}

int set_nodes(Context& context, const Arguments& arguments) {
    std::string body;
    codec::JsonWriter json(body);
    json.begin_object();
    for (const std::string_view flag : {"labels", "topology"}) {
        const auto added = add_map(json, arguments, flag, MapOf::Texts);
        if (!added) return report(context, added.error());
    }
    json.end_object();
    if (body == "{}") {
        return report(context, {kBadUsage, "nothing to change",
                                "berth node set " + arguments.words[0] + " --labels KEY=VALUE"});
    }
    return change_nodes(context, arguments, body, " changed");
}

int drain_nodes(Context& context, const Arguments& arguments) {
    return change_nodes(context, arguments, R"({"health":"drained"})",
                        " accepts no new work; running jobs continue");
}

int ready_nodes(Context& context, const Arguments& arguments) {
    return change_nodes(context, arguments, R"({"health":"ready"})", " accepts work");
}

}  // namespace

extern const Verb node_list_verb;
extern const Verb node_set_verb;
extern const Verb node_drain_verb;
extern const Verb node_ready_verb;

const Verb node_list_verb{.intent = Intent::Nodes,
                          .name = "node ls",
                          .aliases = "nodes node",
                          .synopsis = "[--at TIME] [-o FORM]",
                          .summary = "list nodes: pool, state, labels, jobs",
                          .flags = kNodeListFlags,
                          .run = list_nodes};

const Verb node_set_verb{.intent = Intent::Nodes,
                         .name = "node set",
                         .synopsis = "NODE... [--labels KEY=VALUE] [--topology LEVEL=DOMAIN]",
                         .summary = "change labels or topology of a node",
                         .flags = kNodeSetFlags,
                         .words_min = 1,
                         .words_max = -1,
                         .completes = Completes::Nodes,
                         .more = "  berth node set n2 n3 --labels cells=a --topology rack=r7\n",
                         .run = set_nodes};

const Verb node_drain_verb{.intent = Intent::Nodes,
                           .name = "node drain",
                           .synopsis = "NODE...",
                           .summary = "send a node no new work; running jobs continue",
                           .words_min = 1,
                           .words_max = -1,
                           .completes = Completes::Nodes,
                           .run = drain_nodes};

const Verb node_ready_verb{.intent = Intent::Nodes,
                           .name = "node ready",
                           .synopsis = "NODE...",
                           .summary = "let a drained node accept work again",
                           .words_min = 1,
                           .words_max = -1,
                           .completes = Completes::Nodes,
                           .run = ready_nodes};

}  // namespace berth::cli
