// SPDX-License-Identifier: Apache-2.0
//
// berth top, berth gpus: who has which GPUs right now?
#include "cli/client/client.h"
#include "cli/command_line/arguments.h"
#include "cli/command_line/context.h"
#include "cli/command_line/moment.h"
#include "cli/command_line/output.h"
#include "cli/pages/cluster_pages.h"
#include "cli/terminal/live_screen.h"
#include "cli/verbs/listing.h"

namespace berth::cli {
namespace {

constexpr base::Duration kTopRefresh{1000};
constexpr int kUnboundedRows = 1 << 20;

constexpr Flag kTopFlags[] = {
    {0, "once", "", "print one page and exit"},
};
constexpr Flag kGpuFlags[] = {
    {0, "node", "NODE", "only this node", Completes::Nodes},
    kAtFlag,
    kListOutputFlag,
    kJsonFlag,
    kQuietFlag,
};

Outcome<std::string> current_page(Client& client, int rows, const Style& style) {
    const auto nodes = client.nodes();
    if (!nodes) return tl::unexpected(nodes.error());
    const auto projects = client.projects();
    if (!projects) return tl::unexpected(projects.error());
    const auto jobs = client.jobs({});
    if (!jobs) return tl::unexpected(jobs.error());
    const TopInput input{nodes->nodes, *projects, jobs->jobs, nodes->names, jobs->names};
    const std::string notice = client.notice().empty()
                                   ? std::string()
                                   : style.paint(Tone::Warning, printable(client.notice())) + "\n";
    return notice + top_page(input, clock_now(), rows - (notice.empty() ? 0 : 1), style);
}

int show_top(Context& context, const Arguments& arguments) {
    Client client(context);
    client.keep_notices();
    if (arguments.has("once")) {
        const auto page = current_page(client, kUnboundedRows, context.out);
        if (!page) return report(context, page.error());
        print(*page);
        return kDone;
    }
    LiveScreen screen(context.out);
    while (!screen.is_closed()) {
        const auto page = current_page(client, screen.rows() - 2, screen.style());
        if (!page) {
            screen.close();
            return report(context, page.error());
        }
        const std::string hint =
            context.out.is_terminal ? context.out.paint(Tone::Faint, "q quits\n") : std::string();
        screen.show(*page + hint);
        screen.wait(kTopRefresh);
    }
    return kDone;
}

Outcome<Listing> read_gpus(const Context&, Client& client, const Arguments& arguments) {
    auto list = client.nodes();
    if (!list) return tl::unexpected(list.error());
    if (const std::string wanted = arguments.text("node"); !wanted.empty()) {
        std::vector<std::string> nodes;
        for (const codec::NodeView& node : list->nodes) nodes.push_back(node.name);
        const auto known = expect_known("node", wanted, nodes, "berth gpus");
        if (!known) return tl::unexpected(known.error());
        std::erase_if(list->nodes, [&](const auto& node) { return node.name != wanted; });
    }
    Listing listing{gpu_table(list->nodes, list->names), {}};
    for (const codec::NodeView& node : list->nodes) {
        for (const codec::GpuView& gpu : node.devices) {
            listing.names.push_back(node.name + ":" + std::to_string(gpu.index));
        }
    }
    if (arguments.has("node") && !list->nodes.front().shares_kept_by.empty()) {
        const codec::NodeView& node = list->nodes.front();
        listing.below = node.shares_lack.empty()
                            ? "shares are kept by " + node.shares_kept_by
                            : "shares of its GPUs cannot be kept: " + node.shares_lack;
    }
    return listing;
}

int show_gpus(Context& context, const Arguments& arguments) {
    return show_listing(context, arguments, "nodes", read_gpus);
}

}  // namespace

extern const Verb top_verb;
extern const Verb gpus_verb;

const Verb top_verb{.intent = Intent::Look,
                    .name = "top",
                    .synopsis = "[--once]",
                    .summary = "show GPUs, projects and jobs, live",
                    .flags = kTopFlags,
                    .run = show_top};

const Verb gpus_verb{.intent = Intent::Look,
                     .name = "gpus",
                     .synopsis = "[--node NODE] [--at TIME] [-o FORM]",
                     .summary = "list GPUs and the jobs that use them",
                     .flags = kGpuFlags,
                     .run = show_gpus};

}  // namespace berth::cli
