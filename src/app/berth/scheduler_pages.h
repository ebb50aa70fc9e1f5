// SPDX-License-Identifier: Apache-2.0
//
// Where are the pages of a cluster's scheduler, and what do they say? /healthz: it takes its turns;
// /readyz: it does its part; /metrics: the numbers. Anyone who reaches the port may read them, and
// they change nothing.
#pragma once

#include <string>
#include <string_view>

#include "api/http/http.h"
#include "base/result.h"
#include "kube/scheduler/metrics.h"

namespace berth::app {

struct ListenPlace {
    std::string address;  // empty: all of this machine
    int port = 0;  // 0: any that is free
};
// Of "127.0.0.1:8080", "[::1]:8080" or ":8080". Errors: Invalid.
base::Result<ListenPlace> parse_listen_place(std::string_view text);

api::Response scheduler_page(const kube::scheduler::Replica& replica, const api::Request& request);

}  // namespace berth::app
