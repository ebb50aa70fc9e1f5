// SPDX-License-Identifier: Apache-2.0
//
// What does every verb get? How to write to the two streams, where the server is, and the list of
// verbs. Results go to standard output, everything else to standard error.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/exit_code.h"
#include "cli/http_connection.h"
#include "cli/style.h"
#include "cli/verb.h"

namespace berth::cli {

struct Context {
    Style out;
    Style err;
    std::string data_dir;      // absolute
    bool is_default_data_dir = true;
    ServerAddress address;
    std::string program;       // the path of this very executable
    std::vector<const Verb*> verbs;
};

// Writes all of `text` to standard output.
void print(std::string_view text);
// Whether everything printed was written.
Success all_printed();
// Writes all of `text` to standard error.
void print_notice(std::string_view text);

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
