// SPDX-License-Identifier: Apache-2.0
#include "scheduling/explain/reserved_before.h"

#include "scheduling/backfill/backfill.h"
#include "scheduling/place/place.h"

namespace berth::scheduling {

ReservedBefore reserved_before(const PoolView& view, const model::Plan& plan,
                               const cluster::Job& job) {
    const cluster::Trial trial(view.cluster);
    const bool is_asked_later = plan.is_empty() && plan.backfill.empty();
    NodeWindows windows;
    Backfill backfill;
    is_asked_later ? backfill.make(view, windows) : backfill.take_over(view, plan.backfill);
    Backfill::Opening opening(backfill, job);
    opening.open();
    ReservedBefore reserved;
    reserved.gpus = backfill.kept_gpus();
    reserved.keep_share = opening.keeps_share();
    reserved.fits_beside = !reserved.keep_share && place(view, job, job.ask(), View::Idle);
    for (const auto& gang : backfill.still_waiting()) reserved.gangs.push_back(gang.job);
    return reserved;
}

std::vector<JobId> gangs_with_the_share(const PoolView& view, const model::Plan& plan,
                                        const cluster::Job& job) {
    if (job.preemptible) return {};
    ReservedBefore reserved = reserved_before(view, plan, job);
    if (!reserved.keep_share) return {};
    std::erase_if(reserved.gangs,
                  [&](JobId gang) { return view.cluster.job(gang).project != job.project; });
    return std::move(reserved.gangs);
}

}  // namespace berth::scheduling
