// SPDX-License-Identifier: Apache-2.0
#include "cli/pages/fair_share_page.h"

#include "cli/pages/job_text.h"
#include "cli/terminal/table.h"

namespace berth::cli {
namespace {

std::string amount(model::MilliGpu gpus) {
    return gpus >= model::kUnlimited ? "-" : base::format(gpus);
}

std::string level_table(const model::ShareLevel& level, const Style& style) {
    Table table({{.title = "PROJECT", .worth = 2, .width_min = 8},
                 {.title = "QUOTA", .align = Align::Right},
                 {.title = "LIMIT", .align = Align::Right},
                 {.title = "WEIGHT", .align = Align::Right},
                 {.title = "PRIORITY", .align = Align::Right},
                 {.title = "WANTS", .align = Align::Right},
                 {.title = "FROM QUOTA", .align = Align::Right},
                 {.title = "+ SURPLUS", .align = Align::Right},
                 {.title = "+ ODD", .align = Align::Right},
                 {.title = "= FAIR SHARE", .align = Align::Right}});
    for (const model::ShareRow& row : level.rows) {
        table.add_row({row.project, amount(row.quota), amount(row.limit),
                       base::format_thousandths(row.weight), std::to_string(row.priority),
                       base::format(row.wants), base::format(row.from_quota),
                       base::format(row.from_surplus), base::format(row.odd),
                       base::format(row.fair)});
    }
    return table.render(style);
}

std::string offers_table(const model::ShareLevel& level, const Style& style) {
    Table table({{.title = "  PRIORITY", .align = Align::Right},
                 {.title = "ROUND", .align = Align::Right},
                 {.title = "OFFERED TO", .worth = 2, .width_min = 8},
                 {.title = "LEFT", .align = Align::Right},
                 {.title = "x PART", .align = Align::Right},
                 {.title = "= OFFER", .align = Align::Right},
                 {.title = "TAKES", .align = Align::Right}});
    for (const model::ShareOffer& offer : level.offers) {
        table.add_row({std::to_string(offer.priority), std::to_string(offer.round), offer.project,
                       base::format(offer.left),
                       base::format_thousandths(offer.part_ppm / 10) + "%",
                       base::format(offer.offered), base::format(offer.taken)});
    }
    return level.offers.empty() ? std::string() : table.render(style);
}

}  // namespace

std::string fair_share_page(const model::ShareAccount& account, const Style& style) {
    std::string text = style.paint(Tone::Strong, printable(account.project) + " is entitled to " +
                                                     gpu_count(account.fair) + " of the pool " +
                                                     printable(account.pool) + " now") +
                       "\n";
    for (const model::ShareLevel& level : account.levels) {
        const std::string parent = level.parent.empty() ? "the pool " + account.pool : level.parent;
        text += "\n" +
                style.paint(Tone::Faint, printable(parent) + " has " + base::format(level.total) +
                                             " to divide: quotas get " +
                                             base::format(level.total - level.surplus) + ", " +
                                             base::format(level.surplus) + " is surplus") +
                "\n" + level_table(level, style) + offers_table(level, style);
    }
    return text;
}

}  // namespace berth::cli
