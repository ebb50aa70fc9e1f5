// SPDX-License-Identifier: Apache-2.0
//
// Who may write into a data directory? One process at a time: the one that holds the lock on the
// file `lock` in it and, as that can be removed, on the directory itself. The kernel drops the
// locks when the process ends, however it ends; the file stays and tells the process id.
#pragma once

#include <string>
#include <utility>

#include "base/result.h"

namespace berth::adapters::sqlite {

class DataLock {
  public:
    // Makes the directory (runtime/folder.h) when it is missing, and takes the lock.
    // Errors: Conflict, naming the process that has it; Forbidden, when another user could have
    // written there; Unavailable.
    static base::Result<DataLock> take(const std::string& directory);

    DataLock(DataLock&& other) noexcept
        : file_(std::exchange(other.file_, -1)), directory_(std::exchange(other.directory_, -1)) {}
    DataLock& operator=(DataLock&&) = delete;
    DataLock(const DataLock&) = delete;
    DataLock& operator=(const DataLock&) = delete;
    ~DataLock();

  private:
    explicit DataLock(int file) : file_(file) {}

    int file_;
    int directory_ = -1;
};

// Makes new names in a directory survive a crash of the machine.
base::Status sync_directory(const std::string& directory);

}  // namespace berth::adapters::sqlite
