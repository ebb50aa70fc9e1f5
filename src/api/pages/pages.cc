// SPDX-License-Identifier: Apache-2.0
#include "api/pages/pages.h"

#include <algorithm>
#include <charconv>
#include <string>

#include "api/http/problem.h"
#include "base/check.h"

namespace berth::api {
namespace {

constexpr std::string_view kIndex = "index.html";

constexpr std::string_view kNoDashboard = R"(<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Berth</title>
<h1>Berth</h1>
<p>This server runs. Its build has no dashboard, which needs Node, or the network to fetch it.</p>
<p>To build it, in a clone of Berth:</p>
<pre>cmake --preset release -DBERTH_DASHBOARD=ON
cmake --build --preset release --target programs</pre>
<p>The command line says the same:</p>
<pre>berth status         what is in use
berth ls             jobs, and why they wait
berth why JOB        why one waits, and until when
berth project ls     quotas, and who is over quota
berth --help         all commands</pre>
</html>
)";

// Cuts the front of `text` off, up to the mark.
std::string_view cut(std::string_view& text, char mark) {
    const std::size_t end = text.find(mark);
    // ours: web/build.js packed it, and it is linked in
    BERTH_CHECK(end != std::string_view::npos, "a packed file is described in full");
    const std::string_view front = text.substr(0, end);
    text.remove_prefix(end + 1);
    return front;
}

std::size_t cut_number(std::string_view& text, char mark) {
    const std::string_view digits = cut(text, mark);
    std::size_t number = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    // ours: web/build.js packed it, and it is linked in
    BERTH_CHECK(error == std::errc() && end == digits.data() + digits.size(), "sizes are numbers");
    return number;
}

std::string_view cut_bytes(std::string_view& text, std::size_t size) {
    // ours: web/build.js packed it, and it is linked in
    BERTH_CHECK(size <= text.size(), "each packed file is there in full");
    const std::string_view front = text.substr(0, size);
    text.remove_prefix(size);
    return front;
}

Response safe_page(int status, std::string_view type) {
    Response response{status, {}, std::string(type), {}};
    response.headers = {
        {"Content-Security-Policy",
         "default-src 'self'; base-uri 'self'; form-action 'self'; frame-ancestors 'none'"},
        {"X-Content-Type-Options", "nosniff"},
        {"Referrer-Policy", "no-referrer"},
    };
    return response;
}

}  // namespace

Pages::Pages(std::string_view packed) {
    if (packed.empty()) return;
    // A line for each file, then for each what is in it, plain and packed.
    std::vector<std::pair<std::size_t, std::size_t>> sizes(cut_number(packed, '\n'));
    for (auto& [plain, gzipped] : sizes) {
        File file;
        file.path = cut(packed, '\t');
        file.type = cut(packed, '\t');
        file.etag = cut(packed, '\t');
        file.is_hashed = cut(packed, '\t') == "hashed";
        plain = cut_number(packed, '\t');
        gzipped = cut_number(packed, '\n');
        files_.push_back(file);
    }
    for (std::size_t i = 0; i < files_.size(); ++i) {
        files_[i].plain = cut_bytes(packed, sizes[i].first);
        files_[i].gzipped = cut_bytes(packed, sizes[i].second);
    }
    const bool is_sorted = std::ranges::is_sorted(files_, {}, &File::path);
    // ours: web/build.js packed it, and it is linked in
    BERTH_CHECK(packed.empty() && is_sorted && find(kIndex) != nullptr,
                "packed files are sorted, index.html among them, with nothing behind them");
}

const Pages::File* Pages::find(std::string_view path) const {
    const auto found = std::ranges::lower_bound(files_, path, {}, &File::path);
    return found != files_.end() && found->path == path ? &*found : nullptr;
}

Response Pages::answer(const Request& request) const {
    if (request.method != "GET" && request.method != "HEAD") {
        Response response = problem(405, "method " + request.method + " is not for pages");
        response.headers.emplace_back("Allow", "GET, HEAD");
        return response;
    }
    std::string_view path = request.path;
    if (path.starts_with('/')) path.remove_prefix(1);
    const File* file = find(path);
    if (file == nullptr && path.find('/') != std::string_view::npos) {
        return problem(404, "there is no page " + request.path + "; the API is below /api/v1/");
    }
    if (file == nullptr) file = find(kIndex);
    if (file == nullptr) {
        Response response = safe_page(200, "text/html; charset=utf-8");
        response.body = kNoDashboard;
        response.headers.emplace_back("Cache-Control", "no-cache");
        return response;
    }
    const bool is_known = lists(request.known_etags, file->etag);
    const bool is_gzipped = !file->gzipped.empty() && lists(request.accepted_encodings, "gzip");
    Response response = safe_page(is_known ? 304 : 200, file->type);
    response.headers.emplace_back("ETag", file->etag);
    response.headers.emplace_back("Vary", "Accept-Encoding");
    response.headers.emplace_back(
        "Cache-Control", file->is_hashed ? "public, max-age=31536000, immutable" : "no-cache");
    if (is_known) return response;
    if (is_gzipped) response.headers.emplace_back("Content-Encoding", "gzip");
    response.body = is_gzipped ? file->gzipped : file->plain;
    return response;
}

}  // namespace berth::api
