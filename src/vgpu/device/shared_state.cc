// SPDX-License-Identifier: Apache-2.0
#include "vgpu/device/shared_state.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>

#include "vgpu/device/control_group.h"
#include "vgpu/device/memory.h"

namespace berth::vgpu::device {
namespace {

// Another number for another layout: processes of two builds never meet in one file.
constexpr std::uint64_t kReady = 0x6265727468000000 ^ sizeof(Layout);
constexpr std::uint64_t kNsPerS = 1'000'000'000;

tl::unexpected<std::string> failure(const std::string& path, const std::string& what) {
    return tl::unexpected<std::string>("state \"" + path + "\": " + what);
}

std::string system_error() { return std::strerror(errno); }

void initialise(Layout& layout, const Description& description) {
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&layout.mutex, &attributes);
    pthread_mutexattr_destroy(&attributes);
    std::memcpy(&layout.description, &description, sizeof(description));
    layout.contents_end = (sizeof(Layout) + kPageBytes - 1) / kPageBytes * kPageBytes;
    layout.next_serial = 1;
    layout.virtual_ns = 1;
    layout.ready.store(kReady, std::memory_order_release);
}

// Room for what is touched at once. A file system that cannot say so is believed to have it.
bool give_room(int file, std::uint64_t begin, std::uint64_t bytes) {
    return ::fallocate(file, FALLOC_FL_KEEP_SIZE, static_cast<off_t>(begin),
                       static_cast<off_t>(bytes)) == 0 ||
           errno == EOPNOTSUPP;
}

constexpr std::uint32_t kPieceBlocks = 64;

// With a lock on the file, so that one process makes what all then find.
tl::expected<Layout*, std::string> map_and_make(int file, const Configuration& configuration) {
    const std::string& path = configuration.state_path;
    struct stat status{};
    if (::fstat(file, &status) != 0) return failure(path, system_error());
    if (status.st_size < static_cast<off_t>(sizeof(Layout)) &&
        ::ftruncate(file, sizeof(Layout)) != 0)
        return failure(path, "cannot grow: " + system_error());
    if (!give_room(file, 0, offsetof(Layout, blocks)))
        return failure(path, "cannot grow: " + system_error());
    void* place = ::mmap(nullptr, sizeof(Layout), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (place == MAP_FAILED) return failure(path, "cannot be mapped: " + system_error());
    auto* layout = static_cast<Layout*>(place);
    const std::uint64_t ready = layout->ready.load(std::memory_order_acquire);
    std::string problem;
    if (ready == 0)
        initialise(*layout, configuration.description);
    else if (ready != kReady)
        problem = "not of this version; remove it or name another file";
    else if (std::memcmp(&layout->description, &configuration.description, sizeof(Description)) !=
             0)
        problem = "made for other GPUs than described now; remove it or name another file";
    if (problem.empty()) return layout;
    ::munmap(place, sizeof(Layout));
    return failure(path, problem);
}

}  // namespace

tl::expected<std::unique_ptr<SharedState>, std::string> SharedState::attach(
    const Configuration& configuration) {
    const std::string& path = configuration.state_path;
    const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (file < 0) return failure(path, "cannot be opened: " + system_error());
    while (::flock(file, LOCK_EX) != 0 && errno == EINTR) {
    }
    const auto layout = map_and_make(file, configuration);
    ::flock(file, LOCK_UN);
    if (!layout) {
        ::close(file);
        return tl::unexpected(layout.error());
    }
    return std::unique_ptr<SharedState>(
        new SharedState(*layout, file, control_group_of(configuration.cgroups, ::getpid())));
}

SharedState::~SharedState() {
    ::munmap(layout_, sizeof(Layout));
    ::close(file_);
}

bool SharedState::has_records(std::uint32_t blocks) const {
    const std::uint32_t pieces = (layout_->blocks_end + kPieceBlocks - 1) / kPieceBlocks;
    if (blocks <= pieces * kPieceBlocks) return true;
    return give_room(file_, offsetof(Layout, blocks) + sizeof(Block) * kPieceBlocks * pieces,
                     sizeof(Block) * kPieceBlocks);
}

std::uint64_t steady_ns() {
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<std::uint64_t>(now.tv_sec) * kNsPerS +
           static_cast<std::uint64_t>(now.tv_nsec);
}

std::uint64_t SharedState::now_ns() const {
    if (layout_->description.time == Time::Real) return steady_ns();
    return std::atomic_ref(layout_->virtual_ns).load(std::memory_order_relaxed);
}

void SharedState::pass_until(std::uint64_t until_ns) const {
    if (layout_->description.time == Time::Virtual) {
        const std::atomic_ref clock(layout_->virtual_ns);
        clock.store(std::max(clock.load(), until_ns));
        return;
    }
    timespec until{};
    until.tv_sec = static_cast<time_t>(until_ns / kNsPerS);
    until.tv_nsec = static_cast<long>(until_ns % kNsPerS);
    while (::clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr) == EINTR) {
    }
}

Locked::Locked(const SharedState& state) : layout_(*state) {
    if (pthread_mutex_lock(&layout_.mutex) != EOWNERDEAD) return;
    repair(state);
    pthread_mutex_consistent(&layout_.mutex);
}

Locked::~Locked() { pthread_mutex_unlock(&layout_.mutex); }

}  // namespace berth::vgpu::device
