// SPDX-License-Identifier: Apache-2.0
#include "fuzz/target.h"
#include "fuzz/targets.h"
#include "vgpu/arbiter/talk/order.h"

namespace berth::fuzz {

void arbiter_order(std::string_view input) {
    using namespace vgpu::arbiter;
    const auto order = read_order(input);
    if (!order) {
        expect(!order.error().message.empty(), "a refusal says why");
        return;
    }
    expect(order->name.size() <= kNameMax, "a name is bounded");
    expect(order->verb == Verb::status || !order->name.empty(), "an order names its tenant");
    for (const auto& part : {order->share, order->cap})
        expect(!part || (*part >= 0 && *part <= 1000), "a part is one of a GPU");
    for (const auto& ns : {order->expected_ns, order->park_ns})
        expect(!ns || *ns >= 0, "a time is not negative");
}

}  // namespace berth::fuzz
