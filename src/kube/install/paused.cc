// SPDX-License-Identifier: Apache-2.0
#include "kube/install/paused.h"

#include <string>
#include <utility>
#include <vector>

#include "base/percent.h"
#include "kube/client/writes.h"
#include "kube/objects/receipts.h"
#include "kube/objects/walk.h"
#include "kube/objects/workload.h"

namespace berth::kube::install {
namespace {

using objects::Workload;

// Of one page. Answers where the next one begins; empty: this was the last.
base::Result<std::string> read_page(const std::string& body, objects::WorkloadKind kind,
                                    objects::PodPools& pools, std::vector<Workload>& paused) {
    std::string more;
    codec::JsonReader reader(body, codec::JsonReader::Zero::Replaced);
    objects::each_field(reader, [&](std::string_view key) {
        if (key == "metadata") {
            objects::each_field(reader, [&](std::string_view inner) {
                return inner == "continue" && objects::read_into(more, reader.read_text());
            });
            return true;
        }
        if (key != "items") return false;
        objects::each_item(reader, [&] {
            Workload workload = objects::read_workload(kind, reader, pools);
            if (!reader.is_failed() && objects::is_paused(workload))
                paused.push_back(std::move(workload));
        });
        return true;
    });
    if (reader.is_failed()) return base::fail(base::ErrorCode::Unavailable, reader.error());
    return more;
}

base::Error error_of(const std::string& what, const client::Outcome& outcome) {
    return {base::ErrorCode::Unavailable, what + ": " + outcome.message};
}

base::Status resume(Session& session, const Workload& workload) {
    auto receipt = *objects::receipt_of(*workload.meta.annotations);
    receipt.is_in_force = false;
    const auto done = session.ask(client::merge_patch(
        {workload.path(), objects::format(workload.meta.uid), ""}, R"({"spec":{"suspend":false}})",
        {{std::string(objects::kLastPause), objects::format(receipt)}}));
    if (done.is_done() || done.code == 404) return {};
    return tl::unexpected(error_of(workload.path(), done));
}

}  // namespace

base::Result<std::size_t> resume_paused(Session& session) {
    objects::PodPools pools;
    std::vector<Workload> paused;
    for (const objects::WorkloadTraits& kind : objects::kWorkloads) {
        const std::string path = objects::list_path(kind);
        std::string more;
        do {
            const auto page = session.ask(
                {client::Method::Get, path + "?limit=500&continue=" + base::percent_encoded(more)});
            if (page.code == 404) break;  // no such kind here
            if (!page.is_done()) return tl::unexpected(error_of(path, page));
            BERTH_TRY(next, read_page(page.body, kind.kind, pools, paused));
            more = std::move(next);
        } while (!more.empty());
    }
    for (const Workload& workload : paused) BERTH_TRY_VOID(resume(session, workload));
    return paused.size();
}

}  // namespace berth::kube::install
