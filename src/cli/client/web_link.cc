// SPDX-License-Identifier: Apache-2.0
#include "cli/client/web_link.h"

#include "codec/text/json.h"

namespace berth::cli {

Outcome<std::string> web_link(Client& client, const ServerAddress& address, bool look_only) {
    const auto answer = client.post("links", look_only ? R"({"look_only":true})" : "");
    if (!answer) return tl::unexpected(answer.error());
    const auto tree = codec::parse_json(*answer, "answer");
    const codec::Value* url = tree ? tree->find("url") : nullptr;
    const std::size_t path = url == nullptr ? std::string::npos : url->text.find("/#");
    if (path == std::string::npos)
        return refuse(kFailed, "the server's answer has no link", "berth status");
    if (!address.socket.empty()) return url->text;
    return "http://" + address.host + ":" + address.port + url->text.substr(path);
}

}  // namespace berth::cli
