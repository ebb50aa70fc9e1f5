// SPDX-License-Identifier: Apache-2.0
#include "api/http/request_parser.h"

#include "api/http/problem.h"

namespace berth::api {

namespace http = boost::beast::http;

RequestParser::RequestParser(bool is_local) {
    request.eager(false);  // stops behind the header
    const std::size_t header = is_local ? kHeaderBytesMax : kNetworkHeaderBytesMax;
    request.header_limit(static_cast<std::uint32_t>(header));
    request.body_limit(kBodyBytesMax);
}

void RequestParser::read_header() {
    const auto& message = request.get();
    heard.method = text_of(message.method_string());
    heard.accepted_encodings = text_of(message[http::field::accept_encoding]);
    heard.known_etags = text_of(message[http::field::if_none_match]);
    heard.expected_etags = text_of(message[http::field::if_match]);
    heard.last_event = text_of(message["Last-Event-ID"]);
    has_address = parse_target(text_of(message.target()), heard);
}

Sender RequestParser::sender() const {
    const auto& message = request.get();
    const std::size_t origins = message.count(http::field::origin);
    const std::string_view origin = text_of(message[http::field::origin]);
    // A page that does not say where it is from, or says it twice, is another site's.
    const bool is_unclear = origins > 1 || (origins == 1 && origin.empty());
    return {text_of(message[http::field::authorization]), text_of(message[http::field::host]),
            is_unclear ? "null" : origin, message.count(http::field::host) == 1,
            has_address && asks_for_no_secrets(heard.method, heard.path)};
}

// Beast reads no body of any other coding, and would read what comes as the next request.
bool RequestParser::is_coding_known() const {
    const auto& message = request.get();
    const std::size_t codings = message.count(http::field::transfer_encoding);
    return codings == 0 ||
           (codings == 1 &&
            boost::beast::iequals(message[http::field::transfer_encoding], "chunked"));
}

std::optional<Response> RequestParser::admit(const Asker& asker) {
    heard.user = asker.user;
    heard.rights = asker.rights;
    heard.session = asker.session;
    if (!is_coding_known()) return problem(501, "a body comes as it is, or chunked");
    if (asker.is_known) return {};
    request.body_limit(kUnknownBodyBytesMax);
    if (request.content_length().value_or(0) <= kUnknownBodyBytesMax) return {};
    return problem(413, "without a token a request has at most 4 KiB, this one has more");
}

}  // namespace berth::api
