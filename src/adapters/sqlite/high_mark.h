// SPDX-License-Identifier: Apache-2.0
//
// How far has the log of this directory come? The small file `high` beside it tells, so that a log
// that was set back (restored, copied, without its write-ahead log) is noticed at the next start.
// It is written over at each commit, after it, and synced now and then: it may lag behind the log
// and is never ahead of it, so a lag means nothing.
//   high <incarnation of the log, or -> <sequence> <last job>
// The word `restored` in place of `high` says that the log beside it was put there on purpose.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "base/ids.h"
#include "base/result.h"

namespace berth::adapters::sqlite {

struct HighMark {
    std::string incarnation;  // empty = the log had none yet
    std::int64_t sequence = 0;
    base::JobId last_job{0};
    bool is_restored = false;

    bool operator==(const HighMark&) const = default;
};

class HighMarkFile {
  public:
    // None when there is none. Errors: Unavailable; Conflict, when it is none of ours.
    static base::Result<std::optional<HighMark>> read(const std::string& directory);
    // Makes it, durably, with this in it. Errors: Unavailable.
    static base::Result<HighMarkFile> make(const std::string& directory, const HighMark& mark);

    // One write without a sync. What fails leaves it behind the log.
    void put(const HighMark& mark);
    void sync();

    HighMarkFile(HighMarkFile&& other) noexcept : file_(std::exchange(other.file_, -1)) {}
    HighMarkFile& operator=(HighMarkFile&&) = delete;
    HighMarkFile(const HighMarkFile&) = delete;
    HighMarkFile& operator=(const HighMarkFile&) = delete;
    ~HighMarkFile();

  private:
    explicit HighMarkFile(int file) : file_(file) {}
    static base::Result<HighMarkFile> make_new(const std::string& directory, const HighMark& mark);
    bool write(const HighMark& mark);  // durably

    int file_;
};

}  // namespace berth::adapters::sqlite
