// SPDX-License-Identifier: Apache-2.0
#include "kube/objects/amounts_reader.h"

#include <limits>

#include "kube/objects/walk.h"

namespace berth::kube::objects {
namespace {

// Quantities are strings; people's own clients write bare numbers too, and the server takes them.
std::string_view read_quantity_text(codec::JsonReader& reader) {
    const bool is_number = reader.peek() == codec::JsonReader::Type::Number;
    return is_number ? reader.read_number_text() : reader.read_text();
}

// Thousandths of a byte end at 8 PiB; more is as good as endless on one node.
std::int64_t whole(std::int64_t thousandths) {
    if (thousandths == std::numeric_limits<std::int64_t>::max()) return thousandths;
    return thousandths / 1000 + (thousandths % 1000 > 0 ? 1 : 0);
}

}  // namespace

Amounts read_amounts(codec::JsonReader& reader, MetaPools& pools) {
    Amounts amounts;
    each_field(reader, [&](std::string_view key) {
        const Word resource = pools.words.keep(key);
        const auto value = parse_quantity(read_quantity_text(reader));
        if (!value) return reader.fail("wanted a quantity"), true;
        amounts.set(resource, *resource == "cpu" ? *value : whole(*value));
        return true;
    });
    return amounts;
}

}  // namespace berth::kube::objects
