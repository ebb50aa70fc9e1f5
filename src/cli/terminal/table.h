// SPDX-License-Identifier: Apache-2.0
//
// How are rows laid out? Columns as wide as needed; when the sum is above the style's width the
// columns that may be cut share what is left in proportion to what they are worth, none below its
// least width, none wider than it needs. A row never wraps. The same table is written as CSV with
// full values.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/terminal/style.h"

namespace berth::cli {

enum class Align { Left, Right };

struct Column {
    std::string_view title;
    Align align = Align::Left;
    int worth = 0;        // 0 = never cut; else its weight when room is short
    int width_min = 4;    // of a column that may be cut
};

struct Cell {
    std::string text;     // made printable by the table
    Tone tone = Tone::Plain;

    Cell(std::string content = {}, Tone look = Tone::Plain)
        : text(std::move(content)), tone(look) {}
    Cell(std::string_view content) : text(content) {}
    Cell(const char* content) : text(content) {}
};

class Table {
  public:
    explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

    // As many cells as columns.
    void add_row(std::vector<Cell> cells);
    bool is_empty() const { return rows_.empty(); }

    // With a heading line and a line end behind each row; no trailing spaces.
    std::string render(const Style& style) const;
    // Full values, no cuts at all: `-o wide`.
    std::string render_unbounded(Style style) const;
    // RFC 4180, titles in lower case.
    std::string csv() const;

  private:
    std::vector<int> layout(int width) const;

    std::vector<Column> columns_;
    std::vector<std::vector<Cell>> rows_;
};

}  // namespace berth::cli
