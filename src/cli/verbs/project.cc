// SPDX-License-Identifier: Apache-2.0
//
// berth project ls, create, set, rm, use: who is entitled to what, and which project are you in?
#include <algorithm>
#include <utility>

#include "base/quantity.h"
#include "cli/client/client.h"
#include "cli/command_line/arguments.h"
#include "cli/command_line/context.h"
#include "cli/command_line/moment.h"
#include "cli/command_line/settings.h"
#include "cli/pages/cluster_pages.h"
#include "cli/pages/job_table.h"
#include "cli/pages/pool_pages.h"
#include "cli/verbs/changes.h"
#include "cli/verbs/listing.h"
#include "codec/text/json.h"
#include "codec/text/json_writer.h"

namespace berth::cli {
namespace {

constexpr Flag kProjectListFlags[] = {
    {0, "pool", "POOL", "rights and use in this pool (default: all pools together)",
     Completes::Pools},
    kAtFlag,
    kListOutputFlag,
    kJsonFlag,
    kQuietFlag,
};

constexpr Flag kRightsFlags[] = {
    {'q', "quota", "GPUS", "GPUs the project gets whenever it asks: 4, 0.5"},
    {0, "limit", "GPUS", "most GPUs it may use; \"none\" removes the limit"},
    {0, "cpu-quota", "CORES", "CPUs its jobs get whenever they ask; \"none\" removes the quota"},
    {0, "memory-quota", "SIZE", "host memory its jobs get whenever they ask: 256G, none"},
    {0, "cpu-limit", "CORES", "most CPUs its jobs may ask for; \"none\" removes the limit"},
    {0, "memory-limit", "SIZE", "most host memory its jobs may ask for: 512G, none"},
    {'w', "weight", "NUMBER", "weight for sharing over-quota GPUs (default: 1)"},
    {0, "priority", "NUMBER", "higher is offered over-quota GPUs first (default: 100)"},
    {0, "kind", "KIND", "guaranteed: lends and borrows; fixed: neither", Completes::Choices,
     "guaranteed|fixed"},
    {0, "pool", "POOL", "pool where these rights apply (default: the default pool)",
     Completes::Pools},
    {0, "no-rights", "", "no rights of its own in the pool of --pool"},
    {.name = "preemption-delay",
     .value = "TIME",
     .help = "wait of its jobs before they may preempt others: 5m",
     .formerly = "delay"},
    {.name = "preempt-min-runtime",
     .value = "TIME",
     .help = "run time before higher priorities may preempt its jobs",
     .formerly = "preempt-run",
     .fields = "preempt_min_run"},
    {.name = "reclaim-min-runtime",
     .value = "TIME",
     .help = "run time before other projects may preempt its jobs",
     .formerly = "reclaim-run",
     .fields = "reclaim_min_run"},
    {.name = "order",
     .value = "ORDER",
     .help = "order of its jobs: learned, levels, age, inherit",
     .completes = Completes::Choices,
     .choices = "learned|levels|age|inherit",
     .fields = "job_order"},
    {.name = "tail",
     .value = "PERCENT",
     .help = "costliest percent of its jobs that go by age: 0 to 50",
     .fields = "job_tail"},
    {.name = "idle-after",
     .value = "TIME",
     .help = "warn its jobs whose GPUs idle so; never, inherit",
     .fields = "idle_after"},
    {.name = "idle-act",
     .value = "ACT",
     .help = "what follows the warning while they idle on",
     .completes = Completes::Choices,
     .choices = "warn|park|end|inherit",
     .fields = "idle_act"},
    kStrictFlag,
    {0, "parent", "DEPARTMENT", "department above it", Completes::Projects},
};

// Writes the flag's decimal under the name of its field.
Success add_decimal(codec::JsonWriter& json, const Arguments& arguments, std::string_view flag) {
    if (!arguments.has(flag)) return {};
    const std::string given = arguments.text(flag);
    json.key(arguments.field(flag));
    const bool may_be_none = flag.ends_with("limit") || flag == "cpu-quota";
    if (may_be_none && given == "none") {
        json.null();
        return {};
    }
    const auto thousandths = base::parse_thousandths(given);
    if (!thousandths) {
        return bad_usage("--" + std::string(flag) + ": wanted a number such as 4 or 0.5, found \"" +
                         given + "\"");
    }
    json.raw(base::format_thousandths(*thousandths));
    return {};
}

// Quotas, limits, weight, priority and kind, those given.
Success add_rights(codec::JsonWriter& json, const Arguments& arguments) {
    for (const std::string_view flag : {"memory-quota", "memory-limit"}) {
        if (!arguments.has(flag)) continue;
        json.key(arguments.field(flag));
        const std::string given = arguments.text(flag);
        if (given == "none") {
            json.null();
        } else {
            json.string(given);
        }
    }
    for (const std::string_view flag : {"quota", "limit", "cpu-quota", "cpu-limit", "weight"}) {
        if (const Success added = add_decimal(json, arguments, flag); !added) {
            return tl::unexpected(added.error());
        }
    }
    const auto priority = arguments.number("priority", 0);
    if (!priority) return tl::unexpected(priority.error());
    if (arguments.has("priority")) json.key("priority").number(*priority);
    if (arguments.has("kind")) json.key("kind").string(arguments.text("kind"));
    return {};
}

// "inherit": as above it in the tree, or the policy.
Success add_order(codec::JsonWriter& json, const Arguments& arguments) {
    constexpr std::string_view kInherit = "inherit";
    const auto is_taken_back = [&](std::string_view flag) {
        return arguments.text(flag) == kInherit;
    };
    for (const std::string_view flag : {"order", "idle-after", "idle-act"}) {
        if (!arguments.has(flag)) continue;
        json.key(arguments.field(flag));
        if (is_taken_back(flag))
            json.null();
        else
            json.string(arguments.text(flag) == "never" ? "0s" : arguments.text(flag));
    }
    if (!arguments.has("tail")) return {};
    json.key(arguments.field("tail"));
    if (is_taken_back("tail")) {
        json.null();
        return {};
    }
    const auto tail = arguments.number("tail", 0);
    if (!tail) return tl::unexpected(tail.error());
    json.number(*tail);
    return {};
}

Success add_pool(codec::JsonWriter& json, const Arguments& arguments) {
    json.key("pools").begin_object();
    json.text_key(arguments.text("pool"));
    if (arguments.has("no-rights")) {
        json.null();
    } else {
        json.begin_object();
        if (const Success added = add_rights(json, arguments); !added) return added;
        json.end_object();
    }
    json.end_object();
    return {};
}

// The fields of the state file's projects, those given.
Outcome<std::string> project_body(const Arguments& arguments) {
    std::string body;
    codec::JsonWriter json(body);
    json.begin_object();
    const bool is_default = arguments.text("pool", model::kDefaultPool) == model::kDefaultPool;
    if (arguments.has("no-rights") && is_default) {
        return bad_usage("--no-rights: wanted with --pool and a pool other than the default one");
    }
    const Success added = is_default ? add_rights(json, arguments) : add_pool(json, arguments);
    if (!added) return tl::unexpected(added.error());
    for (const std::string_view flag :
         {"preemption-delay", "preempt-min-runtime", "reclaim-min-runtime"}) {
        if (arguments.has(flag)) json.key(arguments.field(flag)).string(arguments.text(flag));
    }
    if (const Success ordered = add_order(json, arguments); !ordered) {
        return tl::unexpected(ordered.error());
    }
    add_strict(json, arguments);
    if (arguments.has("parent")) json.key("parent").string(arguments.text("parent"));
    json.end_object();
    return body;
}

Outcome<std::vector<std::string>> project_names(Client& client) {
    const auto projects = client.projects();
    if (!projects) return tl::unexpected(projects.error());
    std::vector<std::string> names;
    for (const codec::ProjectView& project : *projects) names.push_back(project.name);
    return names;
}

Success expect_project(Client& client, const std::string& name) {
    const auto names = project_names(client);
    if (!names) return tl::unexpected(names.error());
    return expect_known("project", name, *names, "berth project ls");
}

// Who borrows and who lends, as the dashboard says it: in the pool that is named, or in each.
std::string lending_text(const std::string& body, const std::string& wanted, const Style& style) {
    const auto tree = codec::parse_json(body, "answer");
    const codec::Value* pools = tree ? tree->find("lending") : nullptr;
    if (pools == nullptr) return "";  // an older server
    std::string text;
    for (const codec::Value& each : pools->items) {
        const codec::Value* pool = each.find("pool");
        const codec::Value* said = each.find("sentences");
        if (pool == nullptr || said == nullptr) continue;
        if (!wanted.empty() && pool->text != wanted) continue;
        std::string line = wanted.empty() && pools->items.size() > 1 ? pool->text + ": " : "";
        for (std::size_t i = 0; i < said->items.size(); ++i) {
            const codec::Value* words = said->items[i].find("text");
            line += (i > 0 ? " " : "") + (words == nullptr ? "" : words->text);
        }
        text += style.paint(Tone::Strong, printable(line)) + "\n";
    }
    return text.empty() ? text : text + "\n";
}

Outcome<Listing> read_projects(const Context& context, Client& client, const Arguments& arguments) {
    const auto body = client.get("projects");
    if (!body) return tl::unexpected(body.error());
    auto read = codec::parse_project_list(*body);
    if (!read) return tl::unexpected(Failure::from(read.error()));
    std::vector<codec::ProjectView> projects = std::move(read->items);
    if (arguments.has("pool")) {
        const auto pool = client.pool(arguments.text("pool"));
        if (!pool) return tl::unexpected(pool.error());
        projects = in_pool(std::move(projects), pool->name);
    }
    const OutputForm form = form_wanted(arguments, true);
    const bool has_all = form == OutputForm::Wide || form == OutputForm::Csv;
    Listing listing{project_table(projects, has_all ? Detail::Wide : Detail::Usual), {}};
    for (const codec::ProjectView& project : projects) listing.names.push_back(project.name);
    if (context.out.is_terminal) {
        listing.above = lending_text(*body, arguments.text("pool"), context.out);
    }
    if (context.out.is_terminal) listing.below = orders_note(projects);
    const std::string mine = default_project();
    if (context.out.is_terminal && !mine.empty()) {
        const bool is_there = std::ranges::find(listing.names, mine) != listing.names.end();
        if (!listing.below.empty()) listing.below += "; ";
        listing.below += "your default project: " + mine +
                         (is_there ? "" : ", which does not exist; berth project use PROJECT");
    }
    return listing;
}

int list_projects(Context& context, const Arguments& arguments) {
    return show_listing(context, arguments, "projects", read_projects);
}

int change_project(Context& context, const Arguments& arguments, bool creates) {
    const std::string& name = arguments.words[0];
    const auto body = project_body(arguments);
    if (!body) return report(context, body.error());
    if (!creates && *body == "{}") {
        return report(context, {kBadUsage, "nothing to change",
                                "berth project set " + name +
                                    " --quota 4   (your default project: "
                                    "berth project use " +
                                    name + ")"});
    }
    Client client(context);
    const auto known = expect_project(client, name);
    if (!known && known.error().exit_code != kNoSuchThing) return report(context, known.error());
    if (creates && known) {
        return report(context, {kFailed, "project \"" + name + "\" exists",
                                "berth project set " + name + " --quota 4"});
    }
    if (!creates && !known) return report(context, known.error());
    const auto notes = client.change("projects", name, *body);
    if (!notes) return report(context, notes.error());
    print("project " + printable(name) + (creates ? " created\n" : " changed\n"));
    print_notes(*notes);
    return kDone;
}

int create_project(Context& context, const Arguments& arguments) {
    return change_project(context, arguments, true);
}

int set_project(Context& context, const Arguments& arguments) {
    return change_project(context, arguments, false);
}

int remove_project(Context& context, const Arguments& arguments) {
    const std::string& name = arguments.words[0];
    Client client(context);
    if (const auto known = expect_project(client, name); !known) {
        return report(context, known.error());
    }
    if (const auto removed = client.remove("projects", name); !removed) {
        return report(context, removed.error());
    }
    print("project " + printable(name) + " removed; its finished jobs: berth ls -a -p " +
          printable(name) + "\n");
    if (default_project() == name) {
        print_notes(
            {"it was your default project; choose another one: berth project use "
             "PROJECT"});
    }
    return kDone;
}

int use_project(Context& context, const Arguments& arguments) {
    const std::string& name = arguments.words[0];
    Client client(context);
    if (const auto known = expect_project(client, name); !known) {
        return report(context, known.error());
    }
    if (const base::Status saved = save_default_project(name); !saved) {
        return report(context, Failure::from(saved.error()));
    }
    print("your jobs use project " + printable(name) + " (change: -p PROJECT)\n");
    return kDone;
}

}  // namespace

extern const Verb project_list_verb;
extern const Verb project_create_verb;
extern const Verb project_set_verb;
extern const Verb project_use_verb;
extern const Verb project_remove_verb;

const Verb project_list_verb{.intent = Intent::Share,
                             .name = "project ls",
                             .aliases = "projects project",
                             .synopsis = "[--at TIME] [-o FORM]",
                             .summary = "list projects: quota, fair share, used, borrowed",
                             .flags = kProjectListFlags,
                             .run = list_projects};

const Verb project_create_verb{.intent = Intent::Share,
                               .name = "project create",
                               .synopsis = "NAME [--quota GPUS] [--parent DEPARTMENT] ...",
                               .summary = "create a project",
                               .flags = kRightsFlags,
                               .words_min = 1,
                               .words_max = 1,
                               .more =
                                   "  berth project create vision --quota 4\n"
                                   "  berth project create lab --quota 0 --weight 0.5\n"
                                   "  berth project set lab --pool cells --quota 8\n"
                                   "  berth project set lab --order learned --tail 33\n",
                               .run = create_project};

const Verb project_set_verb{.intent = Intent::Share,
                            .name = "project set",
                            .synopsis = "NAME --quota GPUS ...",
                            .summary = "change the rights of a project",
                            .flags = kRightsFlags,
                            .words_min = 1,
                            .words_max = 1,
                            .completes = Completes::Projects,
                            .run = set_project};

const Verb project_use_verb{.intent = Intent::Share,
                            .name = "project use",
                            .synopsis = "NAME",
                            .summary = "set the default project of your jobs",
                            .words_min = 1,
                            .words_max = 1,
                            .completes = Completes::Projects,
                            .run = use_project};

const Verb project_remove_verb{.intent = Intent::Share,
                               .name = "project rm",
                               .synopsis = "NAME",
                               .summary = "delete a project without jobs and subprojects",
                               .words_min = 1,
                               .words_max = 1,
                               .completes = Completes::Projects,
                               .run = remove_project};

}  // namespace berth::cli
