// SPDX-License-Identifier: Apache-2.0
//
// How do the lines of a status file come to be there, whatever the disk says? Room for them was
// taken when the file was made (supervision/status_file.h). What the disk does not take all the
// same is kept, and written from where it broke off, so that a reader sees whole lines and at most
// a torn last one.
#pragma once

#include <string>
#include <string_view>

#include "supervision/descriptor.h"

namespace berth::supervisor {

class StatusLines {
  public:
    // `file` is open for appending.
    explicit StatusLines(supervision::Descriptor file) : file_(std::move(file)) {}

    void add(std::string_view line);
    // Tries again. To be called now and then until all is written.
    void write_more();
    bool are_written() const { return unwritten_.empty(); }

  private:
    supervision::Descriptor file_;
    std::string unwritten_;
};

}  // namespace berth::supervisor
