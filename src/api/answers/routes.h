// SPDX-License-Identifier: Apache-2.0
//
// Who answers? Addresses are in route_table.cc; each answer is a function of the file named after
// its subject.
#pragma once

#include "api/answers/site.h"

namespace berth::api {

// jobs.cc
void post_job(Site& site, Call call);
void pause_job(Site& site, Call call);
void resume_job(Site& site, Call call);
void cancel_job(Site& site, Call call);
void keep_job(Site& site, Call call);
void patch_job(Site& site, Call call);
// job_views.cc
void get_jobs(Site& site, Call call);
void get_job(Site& site, Call call);
void get_why(Site& site, Call call);
void get_timeline(Site& site, Call call);
void get_receipts(Site& site, Call call);
void get_takings(Site& site, Call call);
// spans.cc
void get_spans(Site& site, Call call);
// job_output.cc
void get_log(Site& site, Call call);
void get_attach(Site& site, Call call);
// events.cc
void get_events(Site& site, Call call);
// stream.cc
void get_stream(Site& site, Call call);
void show_news(Site& site);
// nodes.cc
void get_nodes(Site& site, Call call);
void put_node(Site& site, Call call);
// pools.cc
void get_pools(Site& site, Call call);
void put_pool(Site& site, Call call);
void delete_pool(Site& site, Call call);
// projects/views.cc
void get_projects(Site& site, Call call);
void get_project(Site& site, Call call);
// projects/change.cc
void put_project(Site& site, Call call);
void delete_project(Site& site, Call call);
// policy.cc
void get_policy(Site& site, Call call);
void put_policy(Site& site, Call call);
// what_if.cc
void get_fair_share(Site& site, Call call);
void post_what_if(Site& site, Call call);
void get_state(Site& site, Call call);
// replays.cc
void post_replay(Site& site, Call call);
void get_replay(Site& site, Call call);
void delete_replay(Site& site, Call call);
// monitoring.cc
void get_metrics(Site& site, Call call);
void get_health(Site& site, Call call);
void get_readiness(Site& site, Call call);
// ledger.cc
void get_ledger(Site& site, Call call);
// overview.cc
void get_overview(Site& site, Call call);
// map.cc
void get_map(Site& site, Call call);
void get_topology(Site& site, Call call);
// sessions.cc
void get_me(Site& site, Call call);
void post_link(Site& site, Call call);
void post_session(Site& site, Call call);
void delete_session(Site& site, Call call);
// openapi.cc
void get_openapi(Site& site, Call call);
// status.cc
void get_status(Site& site, Call call);
void post_shutdown(Site& site, Call call);

}  // namespace berth::api
