// SPDX-License-Identifier: Apache-2.0
//
// In which domain do the tasks of a gang stand together, and which is tried first? Rule R13:
//   Domains in which all tasks fit, the fullest first, so that whole domains stay free. A level
//   that is required is never left; one that is preferred is, level by level outwards, up to the
//   required one or the whole pool. Where a wider domain must do, the parts at the preferred
//   level are filled one after the other, the one with most room first.
//   A job that runs already grows where it is.
// Ties go to the path that comes first, then to the node declared first.
//
// What is said to fit may still lack CPU or memory beside its GPUs: place.h finds out.
// Cost: one look at each domain of the levels tried; for the level "node", one step a node tried.
#pragma once

#include <functional>
#include <vector>

#include "scheduling/rights/pool_view.h"

namespace berth::scheduling {

using cluster::Region;

// Tasks of one job that are to be placed at once.
struct Step {
    const cluster::Job& job;
    int tasks = 1;
    View capacity = View::Idle;
};

// The level at which its tasks are to stand together if there is room: the one the job prefers, or
// the node itself for a gang that is better consolidated (model::Placement); -1 = none.
int preferred_level(const PoolView& view, const cluster::Job& job);

// Calls `visit` with the regions inside `within` where all tasks may fit, in the order in which
// they are to be tried, until it returns true.
void visit_regions(const PoolView& view, const Step& step, const Region& bound_to,
                   const std::function<bool(const Region&)>& visit);

// Every domain of the required level that the job may use, by path, however full.
std::vector<Region> required_regions(const PoolView& view, const cluster::Job& job);

// Of the region, the parts to fill one after the other; the last one is the region itself.
std::vector<Region> parts_of(const PoolView& view, const Step& step, const Region& region);

// The most tasks that fit by the free counts alone.
std::int64_t room_for_tasks(const PoolView& view, const Step& step, const Region& region);

}  // namespace berth::scheduling
