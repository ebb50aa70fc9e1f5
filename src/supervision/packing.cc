// SPDX-License-Identifier: Apache-2.0
#include "supervision/packing.h"

#include <cstring>

namespace berth::supervision {

void Packer::put(std::int64_t number) {
    char raw[sizeof number];
    std::memcpy(raw, &number, sizeof number);
    bytes_.append(raw, sizeof raw);
}

void Packer::put_text(std::string_view text) {
    put(static_cast<std::int64_t>(text.size()));
    bytes_.append(text);
}

void Packer::put_texts(const std::vector<std::string>& texts) {
    put(static_cast<std::int64_t>(texts.size()));
    for (const std::string& text : texts) put_text(text);
}

std::int64_t Unpacker::number() {
    std::int64_t value = 0;
    if (rest_.size() < sizeof value) {
        is_good_ = false;
        rest_ = {};
        return 0;
    }
    std::memcpy(&value, rest_.data(), sizeof value);
    rest_.remove_prefix(sizeof value);
    return value;
}

std::string Unpacker::text() {
    const std::int64_t length = number();
    if (length < 0 || static_cast<std::uint64_t>(length) > rest_.size()) {
        is_good_ = false;
        rest_ = {};
        return {};
    }
    std::string value(rest_.substr(0, static_cast<std::size_t>(length)));
    rest_.remove_prefix(value.size());
    return value;
}

std::size_t Unpacker::count() {
    const std::int64_t value = number();
    if (value < 0 || static_cast<std::uint64_t>(value) > rest_.size() / 8) {
        is_good_ = false;
        rest_ = {};
        return 0;
    }
    return static_cast<std::size_t>(value);
}

std::vector<std::string> Unpacker::texts() {
    std::vector<std::string> values(count());
    for (std::string& value : values) value = text();
    return values;
}

}  // namespace berth::supervision
