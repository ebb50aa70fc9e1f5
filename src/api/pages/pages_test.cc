// SPDX-License-Identifier: Apache-2.0
#include "api/pages/pages.h"

#include <doctest/doctest.h>

#include <string>

namespace berth::api {
namespace {

const std::string kPacked =
    "3\n"
    "assets/app-1a2b.js\ttext/javascript\t\"j\"\thashed\t4\t2\n"
    "icon.svg\timage/svg+xml\t\"i\"\tnamed\t3\t0\n"
    "index.html\ttext/html; charset=utf-8\t\"x\"\tnamed\t5\t3\n"
    "codejssvgindexhtm";

Response asked(std::string path, std::string encodings = "", std::string etags = "",
               std::string method = "GET") {
    Request request;
    request.method = std::move(method);
    request.path = std::move(path);
    request.accepted_encodings = std::move(encodings);
    request.known_etags = std::move(etags);
    return Pages(kPacked).answer(request);
}

std::string header(const Response& response, std::string_view name) {
    for (const auto& [found, value] : response.headers) {
        if (found == name) return value;
    }
    return "";
}

}  // namespace

TEST_CASE("a file is answered with its type, and one named by a hash is kept for good") {
    const Response script = asked("/assets/app-1a2b.js");
    CHECK(script.status == 200);
    CHECK(script.body == "code");
    CHECK(script.content_type == "text/javascript");
    CHECK(header(script, "Cache-Control") == "public, max-age=31536000, immutable");
    CHECK(header(asked("/icon.svg"), "Cache-Control") == "no-cache");
}

TEST_CASE("each address one level deep that is no file's gets index.html, deeper ones 404") {
    for (const std::string path : {"/", "/index.html", "/queue", "/no-such-page"}) {
        CAPTURE(path);
        CHECK(asked(path).status == 200);
        CHECK(asked(path).body == "index");
        CHECK(header(asked(path), "Cache-Control") == "no-cache");
    }
    CHECK(asked("/assets/app-0000.js").status == 404);
    CHECK(asked("/queue/").status == 404);
}

TEST_CASE("who accepts gzip gets it where it is smaller") {
    const Response packed = asked("/queue", "br, gzip;q=0.8");
    CHECK(packed.body == "htm");
    CHECK(header(packed, "Content-Encoding") == "gzip");
    CHECK(header(packed, "Vary") == "Accept-Encoding");
    CHECK(asked("/queue", "*").body == "htm");
    for (const std::string encodings : {"", "br", "identity", "gzip;q=0", "gzip; q=0, br"}) {
        CAPTURE(encodings);
        CHECK(asked("/queue", encodings).body == "index");
    }
    const Response plain = asked("/icon.svg", "gzip");
    CHECK(plain.body == "svg");
    CHECK(header(plain, "Content-Encoding").empty());
}

TEST_CASE("who has it already gets no body") {
    for (const std::string etags : {R"("x")", R"(W/"x")", R"("y", "x")", "*"}) {
        CAPTURE(etags);
        const Response known = asked("/", "gzip", etags);
        CHECK(known.status == 304);
        CHECK(known.body.empty());
        CHECK(header(known, "ETag") == R"("x")");
        CHECK(header(known, "Content-Encoding").empty());
    }
    CHECK(asked("/", "", R"("y")").status == 200);
}

TEST_CASE("HEAD is answered as GET, other methods are refused") {
    CHECK(asked("/", "", "", "HEAD").status == 200);
    const Response refused = asked("/", "", "", "POST");
    CHECK(refused.status == 405);
    CHECK(header(refused, "Allow") == "GET, HEAD");
}

TEST_CASE("every page says that nothing loads from elsewhere and that no other page shows it") {
    Request request;
    request.method = "GET";
    request.path = "/";
    for (const Response& page :
         {asked("/"), asked("/icon.svg"), asked("/", "", "*"), Pages().answer(request)}) {
        const std::string policy = header(page, "Content-Security-Policy");
        CHECK(policy.find("default-src 'self'") != std::string::npos);
        CHECK(policy.find("frame-ancestors 'none'") != std::string::npos);
        CHECK(policy.find("unsafe") == std::string::npos);
        CHECK(header(page, "X-Content-Type-Options") == "nosniff");
        CHECK(header(page, "Referrer-Policy") == "no-referrer");
    }
}

TEST_CASE("without a dashboard one page says how to build it, and names the command line") {
    Request request;
    request.method = "GET";
    request.path = "/queue";
    const Response page = Pages().answer(request);
    CHECK(page.status == 200);
    CHECK(page.content_type == "text/html; charset=utf-8");
    CHECK(page.body.find("-DBERTH_DASHBOARD=ON") != std::string::npos);
    CHECK(page.body.find("berth why JOB") != std::string::npos);
}

}  // namespace berth::api
