// SPDX-License-Identifier: Apache-2.0
#include "vgpu/ledger/segment.h"

#include <doctest/doctest.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

using namespace berth::vgpu::ledger;

namespace {
constexpr std::size_t kSize = 8192;
}

TEST_CASE("what its creator writes, another mapping reads") {
    const Segment segment = create_segment("terms", kSize, Writer::creator);
    REQUIRE(segment.fd >= 0);
    const char* reader = static_cast<const char*>(map_segment(segment.fd, kSize, Writer::creator));
    REQUIRE(reader != nullptr);
    static_cast<char*>(segment.at)[100] = 42;
    CHECK(reader[100] == 42);
    unmap_segment(const_cast<char*>(reader), kSize);
    unmap_segment(segment.at, kSize);
    ::close(segment.fd);
}

TEST_CASE("no other process can make a creator's segment writable") {
    const Segment segment = create_segment("terms", kSize, Writer::creator);
    REQUIRE(segment.fd >= 0);
    CHECK(map_segment(segment.fd, kSize, Writer::everyone) == nullptr);
    CHECK(::mmap(nullptr, kSize, PROT_WRITE, MAP_SHARED, segment.fd, 0) == MAP_FAILED);
    void* reader = map_segment(segment.fd, kSize, Writer::creator);
    REQUIRE(reader != nullptr);
    CHECK(::mprotect(reader, kSize, PROT_READ | PROT_WRITE) == -1);
    CHECK(::pwrite(segment.fd, "x", 1, 0) == -1);
    unmap_segment(reader, kSize);
    unmap_segment(segment.at, kSize);
    ::close(segment.fd);
}

TEST_CASE("no process can shrink a segment below those who mapped it, or take that seal off") {
    const Segment segment = create_segment("account", kSize, Writer::everyone);
    REQUIRE(segment.fd >= 0);
    CHECK(::ftruncate(segment.fd, 0) == -1);
    CHECK(::fcntl(segment.fd, F_ADD_SEALS, F_SEAL_WRITE) == -1);
    unmap_segment(segment.at, kSize);
    ::close(segment.fd);
}

TEST_CASE("a file that could still shrink, or of another size, is not mapped") {
    const int loose = ::memfd_create("loose", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    REQUIRE(::ftruncate(loose, kSize) == 0);
    CHECK(map_segment(loose, kSize, Writer::everyone) == nullptr);
    CHECK(errno == EINVAL);
    ::close(loose);
    const Segment segment = create_segment("account", kSize, Writer::everyone);
    CHECK(map_segment(segment.fd, kSize * 2, Writer::everyone) == nullptr);
    CHECK(map_segment(segment.fd, kSize / 2, Writer::everyone) == nullptr);
    unmap_segment(segment.at, kSize);
    ::close(segment.fd);
}
