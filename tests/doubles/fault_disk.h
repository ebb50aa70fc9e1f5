// SPDX-License-Identifier: Apache-2.0
//
// A disk in memory under SQLite that fails when a test says so: a VFS of its own, the default one
// while it lives. It is as unkind as disks are: what was not synced may survive a power cut in any
// part, in pieces of 512 bytes; a sync that failed may have lost what it was to write, although the
// next one succeeds; a full disk takes the first part of a write. Calls that change the disk are
// counted, and any of them can be the one that fails.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/rng.h"

struct sqlite3_vfs;

namespace berth::tests {

enum class DiskFault {
    Error,  // this call fails: a write is torn, a sync loses what it likes
    Full,  // from this call on nothing grows, until make_room()
    Crash,  // the machine stops here, in the middle of this call
};

class FaultDisk {
  public:
    explicit FaultDisk(std::uint64_t seed);
    ~FaultDisk();
    FaultDisk(const FaultDisk&) = delete;
    FaultDisk& operator=(const FaultDisk&) = delete;

    // Calls that changed the disk, or would have.
    std::int64_t calls() const { return calls_; }
    // Call number `call`, counted from the first one ever, is the one that fails.
    void fail_at(std::int64_t call, DiskFault fault) { fail_at_ = call, fault_ = fault; }
    bool has_failed() const { return has_failed_; }

    bool is_full() const { return is_full_; }
    void make_room() { is_full_ = false; }

    // The machine starts again after a power cut: of what was not synced, something is there.
    void cut_power();

  private:
    friend struct FaultDiskCalls;

    struct Write {
        std::size_t offset = 0;
        std::string bytes;
        bool cuts = false;  // the file ends at `offset`
    };
    struct File {
        std::string now;  // what a read sees
        std::string durable;  // what was synced
        std::vector<Write> unsynced;
        std::vector<std::unique_ptr<char[]>> shared;  // the WAL's index
    };
    using FileRef = std::shared_ptr<File>;

    // What becomes of one call that changes the disk.
    enum class Outcome { Done, Failed, Full, Stopped };
    Outcome next_call(bool grows);
    void write(File& file, Write write);
    void sync(File& file);
    // Of the unsynced writes some reach the disk, whole, torn or not at all.
    void sync_some(File& file);

    std::string name_;
    std::unique_ptr<sqlite3_vfs> vfs_;
    base::Rng rng_;
    std::map<std::string, FileRef> files_;
    std::int64_t calls_ = 0;
    std::int64_t fail_at_ = 0;
    DiskFault fault_ = DiskFault::Error;
    bool has_failed_ = false;
    bool is_full_ = false;
    bool is_stopped_ = false;
};

}  // namespace berth::tests
