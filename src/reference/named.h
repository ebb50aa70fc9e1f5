// SPDX-License-Identifier: Apache-2.0
//
// Which order does a name mean? What `berth simulate --reference` takes: a name, and for those
// with settings any of them behind colons: "finish-fair:soon=5m:worst=130".
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "base/result.h"
#include "reference/order.h"

namespace berth::reference {

struct NamedOrder {
    std::string_view name;
    std::string_view summary;
};

// In the order of the documentation.
std::span<const NamedOrder> order_names();

// Whether it is that of an order, without settings.
bool is_order_name(std::string_view name);

struct Surroundings {
    std::int32_t gpus = 0;      // of the cluster
    std::vector<GpuMs> sizes;   // of past jobs, where they are known
};

// Errors: Invalid, naming what was wanted and found.
base::Result<std::unique_ptr<Order>> order_named(std::string_view text,
                                                 const Surroundings& surroundings);

}  // namespace berth::reference
