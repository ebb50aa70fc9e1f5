// SPDX-License-Identifier: Apache-2.0
//
// How is a list that the server has shown? As the document it sent, or as a table of it: the same
// for nodes, pools, projects, GPUs and settings.
#pragma once

#include <string>
#include <vector>

#include "cli/client/client.h"
#include "cli/command_line/arguments.h"
#include "cli/command_line/context.h"
#include "cli/command_line/output.h"

namespace berth::cli {

struct Listing {
    Table table;
    std::vector<std::string> names;  // what -q and -o name show
    std::string below = {};  // a line below the table for people
    std::string above = {};  // lines above it, the first one is the answer
};

using ReadListing = Outcome<Listing> (*)(const Context&, Client&, const Arguments&);

// Of a verb with kListOutputFlag, kJsonFlag and kQuietFlag. `path`: whose answer the document is.
int show_listing(Context& context, const Arguments& arguments, const std::string& path,
                 ReadListing read);

// Errors: no `kind` is called so, with the nearest of the names that there are.
Success expect_known(std::string_view kind, const std::string& name,
                     const std::vector<std::string>& names, std::string hint);

}  // namespace berth::cli
