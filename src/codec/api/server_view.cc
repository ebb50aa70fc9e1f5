// SPDX-License-Identifier: Apache-2.0
#include "codec/api/server_view.h"

#include "codec/api/api_style.h"

namespace berth::codec {

std::string server_json(const ServerView& server, const NameSource& names) {
    return plain_json(server, &names);
}
base::Result<ServerView> parse_server(std::string_view text) {
    return parse_document<ServerView>(text, ApiStyle({}, Reading::Lenient, nullptr));
}

std::string caller_json(const CallerView& caller) { return plain_json(caller, nullptr); }
std::string link_json(const LinkView& link) { return plain_json(link, nullptr); }
std::string notes_json(const NotesView& notes) { return plain_json(notes, nullptr); }

}  // namespace berth::codec
