// SPDX-License-Identifier: Apache-2.0
#include "cli/client/server_status.h"

#include <charconv>

#include "codec/words/timestamp.h"

namespace berth::cli {
namespace {

const codec::Value* member(const codec::Value& value, std::string_view name) {
    const codec::Value* found = value.find(name);
    return found && found->is_scalar() ? found : nullptr;
}

std::string member_text(const codec::Value& value, std::string_view name) {
    const codec::Value* found = member(value, name);
    return found ? found->text : std::string();
}

std::int64_t number_of(std::string_view text) {
    std::int64_t number = 0;
    std::from_chars(text.data(), text.data() + text.size(), number);
    return number;
}

base::MilliGpu gpus_of(const codec::Value& value, std::string_view name) {
    const auto amount = base::parse_thousandths(member_text(value, name));
    return base::MilliGpu{amount ? *amount : 0};
}

}  // namespace

ServerStatus read_server_status(const codec::Value& value) {
    ServerStatus status;
    status.version = member_text(value, "version");
    status.data_dir = member_text(value, "data_dir");
    status.profile = member_text(value, "profile");
    status.pid = number_of(member_text(value, "pid"));
    status.port = number_of(member_text(value, "port"));
    status.sequence = number_of(member_text(value, "sequence"));
    if (const auto started = codec::parse_time(member_text(value, "started")))
        status.started = *started;
    if (const codec::Value* gpus = value.find("gpus")) {
        status.total = gpus_of(*gpus, "total");
        status.ready = gpus_of(*gpus, "ready");
        status.used = gpus_of(*gpus, "used");
        status.idle = gpus_of(*gpus, "idle");
    }
    if (const codec::Value* storage = value.find("storage"))
        status.storage_full = member_text(*storage, "text");
    if (const codec::Value* jobs = value.find("jobs")) {
        for (const auto& [state, count] : jobs->members) status.jobs[state] = number_of(count.text);
    }
    if (const codec::Value* shares = value.find("shares")) {
        for (const codec::Value& item : shares->items)
            status.shares.push_back({member_text(item, "node"), member_text(item, "kept_by"),
                                     member_text(item, "lack")});
    }
    status.checkpoint_lack = member_text(value, "checkpoint_lack");
    return status;
}

}  // namespace berth::cli
