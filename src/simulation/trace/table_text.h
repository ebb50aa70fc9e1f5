// SPDX-License-Identifier: Apache-2.0
//
// Which cells does a text file of separated values have? One record at a time: a byte order mark is
// skipped, lines may end in CR LF, empty lines are passed over, and the first line tells the
// separator: the one of comma, semicolon, tab and "|" that it has most often. A cell in double
// quotes may hold separators, line ends and doubled quotes; beside "|" quotes are plain characters,
// as Slurm writes them.
//
// Cells are views of the text, trimmed of blanks outside quotes. Cost: the length of the text.
#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace berth::simulation {

class TableText {
  public:
    // `text` outlives it.
    explicit TableText(std::string_view text);

    // The next record that is not empty; false when there is none.
    // Errors: Invalid, what is wrong, without the place.
    base::Result<bool> next();

    // Of this record, until the next.
    const std::vector<std::string_view>& cells() const { return cells_; }
    // On which line of the file it begins.
    int line() const { return line_; }

  private:
    base::Status read_cell();
    base::Status read_quoted();
    std::string_view end_of_cell();

    std::string_view rest_;
    char separator_ = ',';
    std::vector<std::string_view> cells_;
    std::deque<std::string> unquoted_;  // cells that had doubled quotes
    bool is_record_over_ = false;
    int line_ = 0;
    int lines_read_ = 0;
};

// Without blanks and tabs at both ends.
std::string_view trimmed(std::string_view text);

}  // namespace berth::simulation
