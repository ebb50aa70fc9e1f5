// SPDX-License-Identifier: Apache-2.0
//
// What becomes of the output of an attached task, in its log? A full disk must not stop the job:
// what the log does not take, or is not to take while there is hardly any room, is counted, and a
// line says so as soon as the log takes it.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>

#include "supervision/descriptor.h"

namespace berth::supervisor {

class LogFile {
  public:
    explicit LogFile(supervision::Descriptor file) : file_(std::move(file)) {}

    void write(std::string_view bytes);
    // Whether it takes anything from now on.
    void keep(bool is_kept) { is_kept_ = is_kept; }

  private:
    // How many of the bytes it took.
    std::size_t put(std::string_view bytes);

    supervision::Descriptor file_;
    bool is_kept_ = true;
    std::int64_t dropped_ = 0;  // bytes that no line has reported
};

}  // namespace berth::supervisor
