// SPDX-License-Identifier: Apache-2.0
//
// Which order does a name mean? What `berth simulate --policy` takes: a name, and for those with
// settings any of them behind colons: "geo8:levels=4:inside=narrowest".
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "base/result.h"
#include "ordering/order.h"

namespace berth::ordering {

struct NamedOrder {
    std::string_view name;
    std::string_view summary;
};

// In the order of the documentation.
std::span<const NamedOrder> order_names();

struct Surroundings {
    std::int32_t gpus = 0;      // of the cluster
    std::vector<GpuMs> sizes;   // of past jobs, where they are known
};

// Errors: Invalid, naming what was wanted and found.
base::Result<std::unique_ptr<Order>> order_named(std::string_view text,
                                                 const Surroundings& surroundings);

}  // namespace berth::ordering
