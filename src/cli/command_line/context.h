// SPDX-License-Identifier: Apache-2.0
//
// What does every verb get? How the two streams look (streams.h writes to them), where the server
// is, and the list of verbs.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/quantity.h"
#include "cli/command_line/exit_code.h"
#include "cli/command_line/server_address.h"
#include "cli/command_line/verb.h"
#include "cli/terminal/streams.h"
#include "cli/terminal/style.h"

namespace berth::cli {

class Arguments;

struct Context {
    Style out;
    Style err;
    std::string data_dir;      // absolute
    bool is_default_data_dir = true;
    ServerAddress address;
    std::string program;       // the path of this very executable
    std::vector<const Verb*> verbs;
    const Arguments* typed = nullptr;  // behind the verb that runs
    std::optional<base::TimePoint> at;  // --at: what is asked is of that moment; none: now
};

// Prints cause and hint to standard error. Returns the exit code.
int report(const Context& context, const Failure& failure);

// "berth up", with --data when this is not the default place.
std::string command_line(const Context& context, std::string_view verb_and_words);

// Why data_dir is empty.
Failure no_home();

// The server behind --data, BERTH_URL (with BERTH_TOKEN), BERTH_DATA, $XDG_DATA_HOME/berth or
// ~/.local/share/berth, in this order. Where there is no home either, data_dir stays empty.
// Errors: bad usage when BERTH_URL is no http address.
Success find_server(Context& context, std::string_view data_flag);

}  // namespace berth::cli
