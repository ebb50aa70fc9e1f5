// SPDX-License-Identifier: Apache-2.0
#include "doubles/fault_disk.h"

#include <errno.h>
#include <sqlite3.h>

#include <algorithm>
#include <cstring>

#include "base/check.h"

namespace berth::tests {
namespace {

constexpr std::size_t kSector = 512;
constexpr int kPathMax = 1024;

void apply(std::string& content, std::size_t offset, std::string_view bytes, bool cuts) {
    if (cuts) return content.resize(offset);
    if (content.size() < offset + bytes.size()) content.resize(offset + bytes.size());
    bytes.copy(content.data() + offset, bytes.size());
}

}  // namespace

// What SQLite calls; the interfaces are those of https://sqlite.org/c3ref/vfs.html.
struct FaultDiskCalls {
    struct Handle {
        sqlite3_file base;
        FaultDisk* disk;
        FaultDisk::FileRef* file;
    };
    using Outcome = FaultDisk::Outcome;

    static FaultDisk& disk_of(sqlite3_vfs* vfs) { return *static_cast<FaultDisk*>(vfs->pAppData); }
    static Handle& handle(sqlite3_file* file) { return *reinterpret_cast<Handle*>(file); }
    static FaultDisk::File& file_of(sqlite3_file* file) { return **handle(file).file; }

    static int close(sqlite3_file* file) {
        delete handle(file).file;
        return SQLITE_OK;
    }
    static int read(sqlite3_file* file, void* to, int size, sqlite3_int64 offset) {
        if (handle(file).disk->is_stopped_) return SQLITE_IOERR_READ;
        const std::string& content = file_of(file).now;
        const auto from = std::min(static_cast<std::size_t>(offset), content.size());
        const auto wanted = static_cast<std::size_t>(size);
        const std::size_t there = content.copy(static_cast<char*>(to), wanted, from);
        if (there == wanted) return SQLITE_OK;
        std::memset(static_cast<char*>(to) + there, 0, wanted - there);
        return SQLITE_IOERR_SHORT_READ;
    }
    static int write(sqlite3_file* file, const void* from, int size, sqlite3_int64 offset) {
        FaultDisk& disk = *handle(file).disk;
        if (disk.is_stopped_) return SQLITE_IOERR_WRITE;
        FaultDisk::Write write{
            static_cast<std::size_t>(offset),
            std::string(static_cast<const char*>(from), static_cast<std::size_t>(size))};
        const bool grows = write.offset + write.bytes.size() > file_of(file).now.size();
        const Outcome outcome = disk.next_call(grows);
        // A part of it was written all the same.
        if (outcome != Outcome::Done) {
            const auto part = disk.rng_.between(0, size - 1);
            write.bytes.resize(static_cast<std::size_t>(part));
        }
        if (!write.bytes.empty()) disk.write(file_of(file), std::move(write));
        if (outcome == Outcome::Full) return SQLITE_FULL;
        return outcome == Outcome::Done ? SQLITE_OK : SQLITE_IOERR_WRITE;
    }
    static int truncate(sqlite3_file* file, sqlite3_int64 size) {
        FaultDisk& disk = *handle(file).disk;
        if (disk.next_call(false) != Outcome::Done) return SQLITE_IOERR_TRUNCATE;
        disk.write(file_of(file), {static_cast<std::size_t>(size), {}, true});
        return SQLITE_OK;
    }
    static int sync(sqlite3_file* file, int) {
        FaultDisk& disk = *handle(file).disk;
        const Outcome outcome = disk.next_call(false);
        if (outcome == Outcome::Done) {
            disk.sync(file_of(file));
            return SQLITE_OK;
        }
        if (outcome == Outcome::Failed) disk.sync_some(file_of(file));
        return SQLITE_IOERR_FSYNC;
    }
    static int size(sqlite3_file* file, sqlite3_int64* size) {
        *size = static_cast<sqlite3_int64>(file_of(file).now.size());
        return SQLITE_OK;
    }
    // One process, one connection at a time: every lock is to be had.
    static int lock(sqlite3_file*, int) { return SQLITE_OK; }
    static int is_reserved(sqlite3_file*, int* is_reserved) {
        *is_reserved = 0;
        return SQLITE_OK;
    }
    static int control(sqlite3_file*, int, void*) { return SQLITE_NOTFOUND; }
    static int sector_size(sqlite3_file*) { return 4096; }
    static int abilities(sqlite3_file*) { return SQLITE_IOCAP_POWERSAFE_OVERWRITE; }

    // The index of the WAL is a file of its own, and a full disk does not let it grow.
    static int map_shared(sqlite3_file* file, int region, int size, int extend,
                          void volatile** memory) {
        auto& shared = file_of(file).shared;
        const auto wanted = static_cast<std::size_t>(region);
        *memory = nullptr;
        if (shared.size() <= wanted && extend == 0) return SQLITE_OK;
        while (shared.size() <= wanted) {
            const Outcome outcome = handle(file).disk->next_call(true);
            if (outcome != Outcome::Done) return SQLITE_IOERR_SHMSIZE;
            shared.push_back(std::make_unique<char[]>(static_cast<std::size_t>(size)));
        }
        *memory = shared[wanted].get();
        return SQLITE_OK;
    }
    static int lock_shared(sqlite3_file*, int, int, int) { return SQLITE_OK; }
    static void barrier(sqlite3_file*) {}
    static int unmap_shared(sqlite3_file* file, int) {
        file_of(file).shared.clear();  // the last connection was the only one
        return SQLITE_OK;
    }

    static int open(sqlite3_vfs* vfs, const char* path, sqlite3_file* opened, int flags,
                    int* out_flags) {
        static const sqlite3_io_methods kCalls{
            2,           close,   read,         write,   truncate,    sync,      size,
            lock,        lock,    is_reserved,  control, sector_size, abilities, map_shared,
            lock_shared, barrier, unmap_shared, nullptr, nullptr};
        FaultDisk& disk = disk_of(vfs);
        opened->pMethods = nullptr;
        const std::string name = path == nullptr ? "(temporary)" : path;
        auto found = disk.files_.find(name);
        if (found == disk.files_.end()) {
            if ((flags & SQLITE_OPEN_CREATE) == 0) return SQLITE_CANTOPEN;
            if (disk.next_call(true) != Outcome::Done) return SQLITE_CANTOPEN;
            found = disk.files_.emplace(name, std::make_shared<FaultDisk::File>()).first;
        }
        handle(opened) = {{&kCalls}, &disk, new FaultDisk::FileRef(found->second)};
        if (out_flags != nullptr) *out_flags = flags;
        return SQLITE_OK;
    }
    static int remove(sqlite3_vfs* vfs, const char* path, int) {
        FaultDisk& disk = disk_of(vfs);
        if (disk.next_call(false) != Outcome::Done) return SQLITE_IOERR_DELETE;
        return disk.files_.erase(path) == 1 ? SQLITE_OK : SQLITE_IOERR_DELETE_NOENT;
    }
    static int access(sqlite3_vfs* vfs, const char* path, int, int* is_there) {
        const auto& files = disk_of(vfs).files_;
        const auto found = files.find(path);
        // As the real one: an empty file is none.
        *is_there = found != files.end() && !found->second->now.empty() ? 1 : 0;
        return SQLITE_OK;
    }
    static int full_path(sqlite3_vfs*, const char* path, int size, char* to) {
        sqlite3_snprintf(size, to, "%s", path);
        return SQLITE_OK;
    }
    static int random_bytes(sqlite3_vfs* vfs, int size, char* to) {
        for (int i = 0; i < size; ++i) {
            to[i] = static_cast<char>(disk_of(vfs).rng_.between(0, 255));
        }
        return size;
    }
    static int sleep(sqlite3_vfs*, int microseconds) { return microseconds; }
    static int time(sqlite3_vfs*, double* day) {
        *day = 2'461'000.5;
        return SQLITE_OK;
    }
    static int last_error(sqlite3_vfs* vfs, int, char*) {
        return disk_of(vfs).is_full_ ? ENOSPC : EIO;
    }
};

FaultDisk::FaultDisk(std::uint64_t seed)
    : name_("fault disk"), vfs_(std::make_unique<sqlite3_vfs>()), rng_(seed) {
    using Calls = FaultDiskCalls;
    vfs_->iVersion = 1;
    vfs_->szOsFile = sizeof(Calls::Handle);
    vfs_->mxPathname = kPathMax;
    vfs_->zName = name_.c_str();
    vfs_->pAppData = this;
    vfs_->xOpen = Calls::open;
    vfs_->xDelete = Calls::remove;
    vfs_->xAccess = Calls::access;
    vfs_->xFullPathname = Calls::full_path;
    vfs_->xRandomness = Calls::random_bytes;
    vfs_->xSleep = Calls::sleep;
    vfs_->xCurrentTime = Calls::time;
    vfs_->xGetLastError = Calls::last_error;
    BERTH_CHECK(sqlite3_vfs_register(vfs_.get(), 1) == SQLITE_OK, "a VFS can be registered");
}

// The one that was the default before is it again.
FaultDisk::~FaultDisk() { sqlite3_vfs_unregister(vfs_.get()); }

FaultDisk::Outcome FaultDisk::next_call(bool grows) {
    if (is_stopped_) return Outcome::Stopped;
    if (++calls_ == fail_at_) {
        has_failed_ = true;
        if (fault_ == DiskFault::Error) return Outcome::Failed;
        is_stopped_ = fault_ == DiskFault::Crash;
        is_full_ = fault_ == DiskFault::Full;
        if (is_stopped_) return Outcome::Stopped;
    }
    return is_full_ && grows ? Outcome::Full : Outcome::Done;
}

void FaultDisk::write(File& file, Write write) {
    apply(file.now, write.offset, write.bytes, write.cuts);
    file.unsynced.push_back(std::move(write));
}

void FaultDisk::sync(File& file) {
    for (const Write& write : file.unsynced)
        apply(file.durable, write.offset, write.bytes, write.cuts);
    file.unsynced.clear();
}

void FaultDisk::sync_some(File& file) {
    for (const Write& write : file.unsynced) {
        if (write.cuts) {
            if (rng_.chance(1, 2)) apply(file.durable, write.offset, {}, true);
            continue;
        }
        const std::string_view bytes(write.bytes);
        for (std::size_t begin = 0; begin < bytes.size();) {
            const std::size_t end =
                std::min(bytes.size(), begin + kSector - (write.offset + begin) % kSector);
            if (rng_.chance(1, 2)) {
                apply(file.durable, write.offset + begin, bytes.substr(begin, end - begin), false);
            }
            begin = end;
        }
    }
    file.unsynced.clear();
}

void FaultDisk::cut_power() {
    for (const auto& [path, file] : files_) {
        sync_some(*file);
        file->now = file->durable;
    }
    is_stopped_ = false;
}

}  // namespace berth::tests
