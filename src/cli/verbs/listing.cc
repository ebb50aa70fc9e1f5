// SPDX-License-Identifier: Apache-2.0
#include "cli/verbs/listing.h"

#include <algorithm>

#include "codec/words/words.h"

namespace berth::cli {

int show_listing(Context& context, const Arguments& arguments, const std::string& path,
                 ReadListing read) {
    Client client(context);
    const OutputForm form = form_wanted(arguments, true);
    if (form == OutputForm::Document) {
        const auto body = client.get(path);
        if (!body) return report(context, body.error());
        print_document(arguments, *body);
        return kDone;
    }
    const auto listing = read(context, client, arguments);
    if (!listing) return report(context, listing.error());
    if (form == OutputForm::Table) print(listing->above);
    print_table(context, listing->table, form, listing->names);
    if (form == OutputForm::Table && !listing->below.empty()) {
        print(context.out.paint(Tone::Faint, printable(listing->below)) + "\n");
    }
    return kDone;
}

Success expect_known(std::string_view kind, const std::string& name,
                     const std::vector<std::string>& names, std::string hint) {
    if (std::ranges::find(names, name) != names.end()) return {};
    const std::vector<std::string_view> known(names.begin(), names.end());
    return refuse(
        kNoSuchThing,
        "no " + std::string(kind) + " \"" + name + "\"" + codec::did_you_mean(name, known),
        std::move(hint));
}

}  // namespace berth::cli
