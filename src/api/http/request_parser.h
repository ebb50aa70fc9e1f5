// SPDX-License-Identifier: Apache-2.0
//
// What does a client say? One request as its bytes come in. Beast parses; this is included in
// http_connection.cc alone.
#pragma once

#include <optional>
#include <string_view>

#include "api/http/access.h"
#include "api/http/gate.h"
#include "api/http/http.h"
#include "codec/api/http_parser.h"

namespace berth::api {

inline constexpr std::size_t kHeaderBytesMax = 64 * 1024;
inline constexpr std::size_t kNetworkHeaderBytesMax = 16 * 1024;
inline constexpr std::size_t kBodyBytesMax = 1024 * 1024;
inline constexpr std::size_t kUnknownBodyBytesMax = 4096;  // of who has not shown a token

inline std::string_view text_of(boost::beast::string_view text) {
    return {text.data(), text.size()};
}

struct RequestParser {
    explicit RequestParser(bool is_local);

    void read_header();
    Sender sender() const;
    // The answer to one whose body cannot be read, or to one not known who says too much.
    std::optional<Response> admit(const Asker& asker);

    boost::beast::http::request_parser<boost::beast::http::string_body> request;
    bool has_begun = false;
    bool is_heard = false;
    bool has_address = false;  // it could be read, and is in `heard`
    Request heard;

  private:
    bool is_coding_known() const;
};

}  // namespace berth::api
