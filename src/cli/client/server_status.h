// SPDX-License-Identifier: Apache-2.0
//
// How is the server? Its answer to GET /api/v1/status.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/quantity.h"
#include "codec/text/json.h"

namespace berth::cli {

struct ServerStatus {
    std::string version;
    std::string data_dir;
    std::string profile;
    std::int64_t pid = 0;
    std::int64_t port = 0;              // 0 = no TCP
    base::TimePoint started;
    base::MilliGpu total{0};
    base::MilliGpu ready{0};
    base::MilliGpu used{0};
    base::MilliGpu idle{0};
    std::map<std::string, std::int64_t> jobs;  // by state
    std::int64_t sequence = 0;          // of the newest event
    struct Shares {
        std::string node;
        std::string kept_by;  // empty where they cannot be kept
        std::string lack;
    };
    std::vector<Shares> shares;          // of nodes that differ
    std::string checkpoint_lack;         // why pauses keep no processes; empty = they can
    std::string storage_full;           // the cause, and what to do; empty = there is room
};

// A field that is not there keeps its default.
ServerStatus read_server_status(const codec::Value& value);

}  // namespace berth::cli
