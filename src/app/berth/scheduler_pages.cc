// SPDX-License-Identifier: Apache-2.0
#include "app/berth/scheduler_pages.h"

#include <charconv>

#include "api/http/problem.h"
#include "codec/text/exposition.h"

namespace berth::app {

base::Result<ListenPlace> parse_listen_place(std::string_view text) {
    const auto wanted = base::invalid("--listen: wanted [ADDRESS]:PORT such as :8080, found \"" +
                                      std::string(text) + "\"");
    const std::size_t colon = text.rfind(':');
    if (colon == std::string_view::npos) return wanted;
    const std::string_view digits = text.substr(colon + 1);
    std::string_view address = text.substr(0, colon);
    if (address.starts_with('[') && address.ends_with(']'))
        address = address.substr(1, address.size() - 2);
    ListenPlace place{std::string(address), 0};
    const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), place.port);
    const bool is_number = read.ec == std::errc() && read.ptr == digits.data() + digits.size();
    if (!is_number || place.port < 0 || place.port > 65'535) return wanted;
    return place;
}

api::Response scheduler_page(const kube::scheduler::Replica& replica, const api::Request& request) {
    if (request.method != "GET") return api::problem(405, "these pages are only read");
    if (request.path == "/healthz") return api::text_page(200, "ok\n");
    if (request.path == "/readyz") {
        const auto readiness = kube::scheduler::readiness_of(replica);
        return api::text_page(readiness.is_ready ? 200 : 503, readiness.words + "\n");
    }
    if (request.path == "/metrics")
        return {
            200, kube::scheduler::metrics_text(replica), std::string(codec::kExpositionType), {}};
    return api::problem(404, "there are /healthz, /readyz and /metrics");
}

}  // namespace berth::app
