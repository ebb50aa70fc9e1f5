// SPDX-License-Identifier: Apache-2.0
#include "adapters/sqlite/chain.h"

namespace berth::adapters::sqlite {
namespace {

void add_number(sha256_ctx& context, std::uint64_t number) {
    std::array<std::uint8_t, 8> bytes{};
    for (std::uint8_t& byte : bytes) {
        byte = static_cast<std::uint8_t>(number);
        number >>= 8;
    }
    sha256_update(&context, bytes.size(), bytes.data());
}

void add_text(sha256_ctx& context, std::string_view text) {
    add_number(context, text.size());
    sha256_update(&context, text.size(), reinterpret_cast<const std::uint8_t*>(text.data()));
}

Hash digest(sha256_ctx& context) {
    Hash hash;
    sha256_digest(&context, hash.size(), hash.data());
    return hash;
}

}  // namespace

CommitHash::CommitHash() {
    sha256_init(&events_);
    sha256_init(&launches_);
}

void CommitHash::add_event(std::string_view payload) { add_text(events_, payload); }

void CommitHash::add_launch(base::JobId job, std::string_view payload) {
    add_number(launches_, static_cast<std::uint64_t>(job.value));
    add_text(launches_, payload);
}

Hash CommitHash::after(const Hash& previous) {
    sha256_ctx all;
    sha256_init(&all);
    add_text(all, bytes_of(previous));
    add_text(all, bytes_of(digest(events_)));
    add_text(all, bytes_of(digest(launches_)));
    return digest(all);
}

}  // namespace berth::adapters::sqlite
