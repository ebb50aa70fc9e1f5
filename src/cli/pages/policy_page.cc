// SPDX-License-Identifier: Apache-2.0
#include "cli/pages/policy_page.h"

namespace berth::cli {

Table setting_table(std::span<const codec::SettingView> settings) {
    Table table({{.title = "SETTING"},
                 {.title = "VALUE"},
                 {.title = "SET"},
                 {.title = "DEFAULT"},
                 {.title = "TAKES"},
                 {.title = "MEANING", .worth = 1, .width_min = 12}});
    for (const codec::SettingView& setting : settings) {
        const Tone tone = setting.is_set ? Tone::Strong : Tone::Plain;
        table.add_row({{setting.name, tone},
                       {setting.value, tone},
                       setting.is_set ? "yes" : "",
                       setting.started_with,
                       {setting.takes, Tone::Faint},
                       setting.meaning});
    }
    return table;
}

}  // namespace berth::cli
