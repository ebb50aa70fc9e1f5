// SPDX-License-Identifier: Apache-2.0
#include "api/http/http.h"

#include <algorithm>

namespace berth::api {
namespace {

int hex_digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

bool decode(std::string_view text, std::string& out) {
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '%') {
            out += text[i];
            continue;
        }
        const int high = i + 2 < text.size() ? hex_digit(text[i + 1]) : -1;
        const int low = i + 2 < text.size() ? hex_digit(text[i + 2]) : -1;
        if (high < 0 || low < 0) return false;
        out += static_cast<char>(high * 16 + low);
        i += 2;
    }
    return true;
}

}  // namespace

const std::string* Request::find(std::string_view name) const {
    const auto found = std::ranges::find(query, name, &std::pair<std::string, std::string>::first);
    return found == query.end() ? nullptr : &found->second;
}

bool parse_target(std::string_view target, Request& request) {
    const std::size_t mark = std::min(target.find('?'), target.size());
    request.path.clear();
    if (!decode(target.substr(0, mark), request.path)) return false;
    std::string_view rest = target.substr(std::min(mark + 1, target.size()));
    while (!rest.empty()) {
        const std::size_t end = std::min(rest.find('&'), rest.size());
        const std::string_view pair = rest.substr(0, end);
        const std::size_t equals = std::min(pair.find('='), pair.size());
        auto& [name, value] = request.query.emplace_back();
        if (!decode(pair.substr(0, equals), name)) return false;
        if (!decode(pair.substr(std::min(equals + 1, pair.size())), value)) return false;
        rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    return true;
}

bool lists(std::string_view list, std::string_view word) {
    while (!list.empty()) {
        const std::size_t comma = std::min(list.find(','), list.size());
        std::string_view item = list.substr(0, comma);
        list.remove_prefix(std::min(comma + 1, list.size()));
        item.remove_prefix(std::min(item.find_first_not_of(" \t"), item.size()));
        if (item.starts_with("W/")) item.remove_prefix(2);
        const std::size_t end = std::min(item.find_first_of("; \t"), item.size());
        const std::string_view name = item.substr(0, end);
        const bool is_refused = item.ends_with("q=0");
        if ((name == word || name == "*") && !is_refused) return true;
    }
    return false;
}

Response text_page(int status, std::string text) {
    return {status, std::move(text), "text/plain; charset=utf-8", {}};
}

std::string_view status_text(int status) {
    switch (status) {
        case 200: return "OK";
        case 201: return "Created";
        case 202: return "Accepted";
        case 204: return "No Content";
        case 304: return "Not Modified";
        case 400: return "Bad Request";
        case 401: return "Unauthorized";
        case 403: return "Forbidden";
        case 404: return "Not Found";
        case 405: return "Method Not Allowed";
        case 408: return "Request Timeout";
        case 409: return "Conflict";
        case 412: return "Precondition Failed";
        case 413: return "Content Too Large";
        case 421: return "Misdirected Request";
        case 422: return "Unprocessable Content";
        case 429: return "Too Many Requests";
        case 431: return "Request Header Fields Too Large";
        case 501: return "Not Implemented";
        case 503: return "Service Unavailable";
        case 504: return "Gateway Timeout";
        default: return "Internal Server Error";
    }
}

void append_response(std::string& out, const Response& response, bool closes) {
    out += "HTTP/1.1 ";
    out += std::to_string(response.status);
    out += ' ';
    out += status_text(response.status);
    // Of what did not change, type and length are those that the client has.
    if (response.status != 304) {
        out += "\r\nContent-Type: ";
        out += response.content_type;
    }
    if (response.status != 304 && !response.stream) {
        out += "\r\nContent-Length: ";
        out += std::to_string(response.body.size());
    }
    for (const auto& [name, value] : response.headers) {
        out += "\r\n";
        out += name;
        out += ": ";
        out += value;
    }
    if (closes) out += "\r\nConnection: close";
    out += "\r\n\r\n";
    if (!response.is_to_head) out += response.body;
}

}  // namespace berth::api
