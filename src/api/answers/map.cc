// SPDX-License-Identifier: Apache-2.0
//
// Who is where, GPU by GPU: columns for a picture (api/map/columns.h), and apart from them the
// nodes that they are of. Both are the same as long as their ETag is.
#include "api/answers/job_views.h"
#include "api/answers/routes.h"
#include "api/http/problem.h"
#include "api/map/gzip.h"

namespace berth::api {
namespace {

Response not_modified(const std::string& etag) { return {304, "", "", {{"ETag", etag}}}; }

bool is_known(const Request& request, const std::string& etag) {
    return request.known_etags.find(etag) != std::string::npos;
}

Response packed(const Request& request, const std::string& plain, const std::string& small,
                const std::string& etag) {
    Response response;
    const bool is_small = lists(request.accepted_encodings, "gzip");
    response.body = is_small ? small : plain;
    if (is_small) response.headers.emplace_back("Content-Encoding", "gzip");
    response.headers.emplace_back("Vary", "Accept-Encoding");
    response.headers.emplace_back("ETag", etag);
    return response;
}

}  // namespace

void get_map(Site& site, Call call) {
    site.map.ask([call = std::move(call)](const std::shared_ptr<const MapPicture>& picture) {
        if (!picture) return call.respond(busy(503, "too many questions wait for an answer", 1));
        if (is_known(call.request, picture->etag)) return call.respond(not_modified(picture->etag));
        Response response = packed(call.request, picture->bytes, picture->gzipped, picture->etag);
        response.content_type = "application/octet-stream";
        call.respond(std::move(response));
    });
}

void get_topology(Site& site, Call call) {
    const std::shared_ptr<const Topology> topology = site.map.topology();
    if (is_known(call.request, topology->etag)) return call.respond(not_modified(topology->etag));
    call.respond(packed(call.request, topology->json, gzipped(topology->json), topology->etag));
}

}  // namespace berth::api
