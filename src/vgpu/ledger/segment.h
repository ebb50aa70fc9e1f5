// SPDX-License-Identifier: Apache-2.0
//
// How is memory shared by processes that do not trust each other's sizes? As a sealed memfd: it
// never shrinks below those who mapped it, and a segment of its creator's is read-only to others.
#pragma once

#include <cstddef>

namespace berth::vgpu::ledger {

enum class Writer { everyone, creator };

// A new segment of zeros, mapped for writing. It may be sealed only once it is mapped here.
struct Segment {
    int fd = -1;  // -1 with errno set: there is none
    void* at = nullptr;
};
Segment create_segment(const char* name, std::size_t size, Writer writer);

// Maps what another process passed. nullptr with errno set when it is not a segment of this size
// that is sealed against shrinking; then no process can make a read of it fail later.
void* map_segment(int fd, std::size_t size, Writer writer);

void unmap_segment(void* at, std::size_t size);

}  // namespace berth::vgpu::ledger
