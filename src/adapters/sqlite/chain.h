// SPDX-License-Identifier: Apache-2.0
//
// Is the log what was once written? Each commit has a hash over its events, the commands of the
// jobs they submit and the hash of the commit before, so that a changed, lost or exchanged byte
// anywhere changes every later hash. SHA-256; the row of a commit's last event has its hash. The
// chain shows damage and careless edits. Who can write the file can also write a new chain. hash =
// SHA-256(hash before, SHA-256(events), SHA-256(commands)) with the length of each text in front of
// it. Cost: about 0.3 us for an event of 300 bytes.
#pragma once

#include <nettle/sha2.h>

#include <array>
#include <cstdint>
#include <string_view>

#include "base/ids.h"

namespace berth::adapters::sqlite {

using Hash = std::array<std::uint8_t, SHA256_DIGEST_SIZE>;

class CommitHash {
  public:
    CommitHash();

    // Both in order of the events. The payloads as they are stored.
    void add_event(std::string_view payload);
    void add_launch(base::JobId job, std::string_view payload);

    // Once. The hash before the first commit is all zeros.
    Hash after(const Hash& previous);

  private:
    sha256_ctx events_;
    sha256_ctx launches_;
};

inline std::string_view bytes_of(const Hash& hash) {
    return {reinterpret_cast<const char*>(hash.data()), hash.size()};
}

}  // namespace berth::adapters::sqlite
