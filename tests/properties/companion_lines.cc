// SPDX-License-Identifier: Apache-2.0
#include "companion_lines.h"

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

std::string with_companions(base::Rng& rng, std::string line) {
    const bool may_have =
        line.starts_with("submit ") && line.find(" may_share=") == std::string::npos;
    if (!may_have || rng.chance(1, 2)) return line;
    line += " companion.head.cpu=" + pick(rng, {"0", "1", "3", "8"}) +
            pick(rng, {"", "", "", " companion.head.label.disk=ssd"}) +
            pick(rng, {"", "", "", " companion.head.tolerations=keep"}) +
            pick(rng, {"", "", "", " companion.head.filter=@name!=n0"}) +
            pick(rng, {"", "", " companion.head.memory=8G"});
    if (rng.chance(2, 3)) return line;
    return line + " companion.actor.count=" + std::to_string(rng.between(1, 4)) +
           pick(rng, {"", " companion.actor.resources=rdma:1", " companion.actor.cpu=1"});
}

}  // namespace berth::proof
