// SPDX-License-Identifier: Apache-2.0
//
// berth pool ls, show, create, set, rm: which nodes belong together, and what is kept for whom?
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

constexpr Flag kPoolListFlags[] = {kAtFlag, kListOutputFlag, kJsonFlag, kQuietFlag};
constexpr Flag kPoolShowFlags[] = {kPageOutputFlag, kJsonFlag};
constexpr Flag kChangeFlags[] = {
    {'l', "labels", "KEY=VALUE", "labels of its nodes; KEY= removes one"},
    {0, "spares", "POOL", "pool whose idle nodes replace broken ones; or none", Completes::Pools},
    kStrictFlag,
    {0, "exchange", "MODEL=N", "weight of one GPU of a model: H100=1,A100=0.5"},
};

Outcome<Listing> read_pools(const Context&, Client& client, const Arguments&) {
    const auto pools = client.pools();
    if (!pools) return tl::unexpected(pools.error());
    Listing listing{pool_table(*pools), {}};
    for (const codec::PoolView& pool : *pools) listing.names.push_back(pool.name);
    return listing;
}

int list_pools(Context& context, const Arguments& arguments) {
    return show_listing(context, arguments, "pools", read_pools);
}

int show_pool(Context& context, const Arguments& arguments) {
    Client client(context);
    const auto pool = client.pool(arguments.words[0]);
    if (!pool) return report(context, pool.error());
    if (wants_document(arguments)) {
        print_document(arguments, codec::pool_list_json({{*pool}, {}}));
        return kDone;
    }
    const auto nodes = client.nodes();
    if (!nodes) return report(context, nodes.error());
    const auto projects = client.projects();
    if (!projects) return report(context, projects.error());
    print(pool_page({*pool, nodes->nodes, *projects, nodes->names}, context.out));
    return kDone;
}

Outcome<std::string> pool_body(const Arguments& arguments) {
    std::string body;
    codec::JsonWriter json(body);
    json.begin_object();
    if (const auto added = add_map(json, arguments, "labels", MapOf::Texts); !added) {
        return tl::unexpected(added.error());
    }
    if (const auto added = add_map(json, arguments, "exchange", MapOf::Numbers); !added) {
        return tl::unexpected(added.error());
    }
    if (arguments.has("spares")) {
        const std::string spares = arguments.text("spares");
        json.key("spares").string(spares == "none" ? "" : spares);
    }
    add_strict(json, arguments);
    json.end_object();
    return body;
}

int change_pool(Context& context, const Arguments& arguments, bool creates) {
    const std::string& name = arguments.words[0];
    const auto body = pool_body(arguments);
    if (!body) return report(context, body.error());
    if (!creates && *body == "{}") {
        return report(context, {kBadUsage, "nothing to change",
                                "berth pool set " + name + " --labels KEY=VALUE"});
    }
    Client client(context);
    const auto known = client.pool(name);
    if (!known && known.error().exit_code != kNoSuchThing) return report(context, known.error());
    if (creates && known) {
        return report(context, {kFailed, "pool \"" + name + "\" exists",
                                "berth pool set " + name + " --labels KEY=VALUE"});
    }
    if (!creates && !known) return report(context, known.error());
    const auto notes = client.change("pools", name, *body);
    if (!notes) return report(context, notes.error());
    print("pool " + printable(name) + (creates ? " created\n" : " changed\n"));
    print_notes(*notes);
    return kDone;
}

int create_pool(Context& context, const Arguments& arguments) {
    return change_pool(context, arguments, true);
}

int set_pool(Context& context, const Arguments& arguments) {
    return change_pool(context, arguments, false);
}

int remove_pool(Context& context, const Arguments& arguments) {
    const std::string& name = arguments.words[0];
    Client client(context);
    if (const auto known = client.pool(name); !known) return report(context, known.error());
    if (const auto removed = client.remove("pools", name); !removed) {
        return report(context, removed.error());
    }
    print("pool " + printable(name) + " removed\n");
    return kDone;
}

}  // namespace

extern const Verb pool_list_verb;
extern const Verb pool_show_verb;
extern const Verb pool_create_verb;
extern const Verb pool_set_verb;
extern const Verb pool_remove_verb;

const Verb pool_list_verb{.intent = Intent::Nodes,
                          .name = "pool ls",
                          .aliases = "pools pool",
                          .synopsis = "[--at TIME] [-o FORM]",
                          .summary = "list pools: nodes, GPUs, quotas, spares",
                          .flags = kPoolListFlags,
                          .run = list_pools};

const Verb pool_show_verb{.intent = Intent::Nodes,
                          .name = "pool show",
                          .synopsis = "POOL [-o json]",
                          .summary = "show the nodes of a pool, and what projects have there",
                          .flags = kPoolShowFlags,
                          .words_min = 1,
                          .words_max = 1,
                          .completes = Completes::Pools,
                          .run = show_pool};

const Verb pool_create_verb{.intent = Intent::Nodes,
                            .name = "pool create",
                            .synopsis = "NAME --labels KEY=VALUE [--spares POOL] ...",
                            .summary = "create a pool of the nodes with these labels",
                            .flags = kChangeFlags,
                            .words_min = 1,
                            .words_max = 1,
                            .more =
                                "  berth node set n2 n3 --labels cells=a\n"
                                "  berth pool create cells --labels cells=a --spares default\n"
                                "  berth project set vision --pool cells --quota 8\n",
                            .run = create_pool};

const Verb pool_set_verb{.intent = Intent::Nodes,
                         .name = "pool set",
                         .synopsis = "POOL [--labels KEY=VALUE] [--spares POOL|none] ...",
                         .summary = "change labels, spares or exchange weights of a pool",
                         .flags = kChangeFlags,
                         .words_min = 1,
                         .words_max = 1,
                         .completes = Completes::Pools,
                         .run = set_pool};

const Verb pool_remove_verb{.intent = Intent::Nodes,
                            .name = "pool rm",
                            .synopsis = "POOL",
                            .summary = "delete an empty, unused pool",
                            .words_min = 1,
                            .words_max = 1,
                            .completes = Completes::Pools,
                            .run = remove_pool};

}  // namespace berth::cli
