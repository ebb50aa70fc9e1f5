// SPDX-License-Identifier: Apache-2.0
#include "vgpu/ledger/segment.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace berth::vgpu::ledger {
namespace {

Segment failed(int fd) {
    const int reason = errno;
    ::close(fd);
    errno = reason;
    return {};
}

}  // namespace

Segment create_segment(const char* name, std::size_t size, Writer writer) {
    const int fd = ::memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0) return {};
    if (::ftruncate(fd, static_cast<off_t>(size)) != 0) return failed(fd);
    void* at = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (at == MAP_FAILED) return failed(fd);
    const int write = writer == Writer::creator ? F_SEAL_FUTURE_WRITE : 0;
    if (::fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL | write) != 0) {
        ::munmap(at, size);
        return failed(fd);
    }
    return {fd, at};
}

void* map_segment(int fd, std::size_t size, Writer writer) {
    // Not fstat: that is a younger function of the C library than those of many containers.
    const off_t found = ::lseek(fd, 0, SEEK_END);
    if (found < 0) return nullptr;
    const int seals = ::fcntl(fd, F_GET_SEALS);
    if (seals < 0) return nullptr;
    if ((seals & F_SEAL_SHRINK) == 0 || found != static_cast<off_t>(size)) {
        errno = EINVAL;
        return nullptr;
    }
    const int protection = writer == Writer::everyone ? PROT_READ | PROT_WRITE : PROT_READ;
    void* at = ::mmap(nullptr, size, protection, MAP_SHARED, fd, 0);
    return at == MAP_FAILED ? nullptr : at;
}

void unmap_segment(void* at, std::size_t size) { ::munmap(at, size); }

}  // namespace berth::vgpu::ledger
