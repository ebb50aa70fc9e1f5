// SPDX-License-Identifier: Apache-2.0
#include "kube/objects/amounts_reader.h"

#include "kube/objects/walk.h"

namespace berth::kube::objects {
namespace {

// Quantities are strings; people's own clients write bare numbers too, and the server takes them.
std::string_view read_quantity_text(codec::JsonReader& reader) {
    const bool is_number = reader.peek() == codec::JsonReader::Type::Number;
    return is_number ? reader.read_number_text() : reader.read_text();
}

}  // namespace

Amounts read_thousandths(codec::JsonReader& reader, MetaPools& pools) {
    Amounts amounts;
    each_field(reader, [&](std::string_view key) {
        const Word resource = pools.words.keep(key);
        const auto value = parse_quantity(read_quantity_text(reader));
        if (!value) {
            reader.fail("wanted a quantity");
            return true;
        }
        amounts.set(resource, *value);
        return true;
    });
    return amounts;
}

Amounts read_amounts(codec::JsonReader& reader, MetaPools& pools) {
    return in_units(read_thousandths(reader, pools));
}

}  // namespace berth::kube::objects
