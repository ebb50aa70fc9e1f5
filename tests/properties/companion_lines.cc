// SPDX-License-Identifier: Apache-2.0
#include "companion_lines.h"

#include <string_view>

#include "random_words.h"

namespace berth::proof {
std::vector<std::string> random_host_nodes(base::Rng& rng, int pools) {
    std::vector<std::string> lines;
    for (std::int64_t i = rng.between(0, 2); i > 0; --i) {
        lines.push_back("node host" + std::to_string(i) + pick(rng, {"", " cpu=4", " cpu=16"}) +
                        pick(rng, {"", "", " resources=pods:3", " resources=rdma:2"}) +
                        pick(rng, {"", "", " label.disk=ssd", " taints=keep:NoSchedule"}) +
                        (pools > 1 ? pick(rng, {"", " label.pool=second"}) : ""));
    }
    return lines;
}

namespace {

// Companions ask for GPUs beside tasks that do.
std::string any_gpus(base::Rng& rng, const std::string& line, std::string_view name) {
    const bool has_gpus = (line + " ").find(" gpus=0 ") == std::string::npos;
    if (!has_gpus || rng.chance(1, 2)) return "";
    return " companion." + std::string(name) +
           ".gpus=" + pick(rng, {"1", "1", "2", "0.5", "2x0.3"});
}

}  // namespace

std::string with_companions(base::Rng& rng, std::string line) {
    const bool may_have =
        line.starts_with("submit ") && line.find(" may_share=") == std::string::npos;
    if (!may_have || rng.chance(1, 2)) return line;
    line += " companion.head.cpu=" + pick(rng, {"0", "1", "3", "8"}) + any_gpus(rng, line, "head") +
            pick(rng, {"", "", "", " companion.head.label.disk=ssd"}) +
            pick(rng, {"", "", "", " companion.head.tolerations=keep"}) +
            pick(rng, {"", "", "", " companion.head.filter=@name!=n0"}) +
            pick(rng, {"", "", " companion.head.memory=8G"});
    if (rng.chance(2, 3)) return line;
    return line + " companion.actor.count=" + std::to_string(rng.between(1, 4)) +
           any_gpus(rng, line, "actor") +
           pick(rng, {"", " companion.actor.resources=rdma:1", " companion.actor.cpu=1"});
}

}  // namespace berth::proof
