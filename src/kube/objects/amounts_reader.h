// SPDX-License-Identifier: Apache-2.0
//
// How are amounts read? An object of resource names and quantities: requests, allocatable.
#pragma once

#include "kube/objects/amounts.h"
#include "kube/objects/meta.h"

namespace berth::kube::objects {

// A quantity that cannot be read fails the reader.
Amounts read_thousandths(codec::JsonReader& reader, MetaPools& pools);
// In units, as a scheduler counts.
Amounts read_amounts(codec::JsonReader& reader, MetaPools& pools);

}  // namespace berth::kube::objects
