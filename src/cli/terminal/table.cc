// SPDX-License-Identifier: Apache-2.0
#include "cli/terminal/table.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "base/check.h"

namespace berth::cli {
namespace {

constexpr int kGap = 2;

std::string csv_field(const std::string& text) {
    if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
    std::string quoted = "\"";
    for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
    return quoted + '"';
}

std::string csv_title(std::string_view title) {
    std::string name;
    for (const char c : title) {
        if (c >= 'A' && c <= 'Z') {
            name += static_cast<char>(c - 'A' + 'a');
        } else if (!name.ends_with('_')) {
            name += '_';
        }
    }
    return name;
}

}  // namespace

void Table::add_row(std::vector<Cell> cells) {
    BERTH_CHECK(cells.size() == columns_.size(), "a row has as many cells as the table columns");
    for (Cell& cell : cells) cell.text = printable(cell.text);
    rows_.push_back(std::move(cells));
}

std::vector<int> Table::layout(int width) const {
    std::vector<int> widths;
    for (std::size_t c = 0; c < columns_.size(); ++c) {
        int widest = display_width(columns_[c].title);
        for (const auto& row : rows_) widest = std::max(widest, display_width(row[c].text));
        widths.push_back(widest);
    }
    const int gaps = kGap * (static_cast<int>(columns_.size()) - 1);
    int excess = std::accumulate(widths.begin(), widths.end(), gaps) - width;
    while (excess-- > 0) {
        std::size_t cut = columns_.size();  // the column with most width for its worth
        for (std::size_t c = 0; c < columns_.size(); ++c) {
            const int least = std::max(columns_[c].width_min, display_width(columns_[c].title));
            if (columns_[c].worth == 0 || widths[c] <= least) continue;
            const bool is_better = cut == columns_.size() || widths[c] * columns_[cut].worth >
                                                                 widths[cut] * columns_[c].worth;
            if (is_better) cut = c;
        }
        if (cut == columns_.size()) break;
        --widths[cut];
    }
    return widths;
}

std::string Table::render(const Style& style) const {
    const std::vector<int> widths = layout(style.width);
    std::string out;
    const auto put_row = [&](const auto& text_of, const auto& tone_of) {
        std::string line;
        int pending = 0;  // spaces owed before the next visible text: none at the line's end
        for (std::size_t c = 0; c < columns_.size(); ++c) {
            const std::string text = truncated(text_of(c), widths[c], style.glyphs().ellipsis);
            const int spare = widths[c] - display_width(text);
            if (columns_[c].align == Align::Right) pending += spare;
            if (!text.empty()) {
                line.append(static_cast<std::size_t>(pending), ' ');
                line += style.paint(tone_of(c), text);
                pending = 0;
            }
            if (columns_[c].align == Align::Left) pending += spare;
            pending += kGap;
        }
        out += line + '\n';
    };
    put_row([&](std::size_t c) { return columns_[c].title; },
            [](std::size_t) { return Tone::Strong; });
    for (const auto& row : rows_) {
        put_row([&](std::size_t c) { return std::string_view(row[c].text); },
                [&](std::size_t c) { return row[c].tone; });
    }
    return out;
}

std::string Table::render_unbounded(Style style) const {
    style.width = std::numeric_limits<int>::max();
    return render(style);
}

std::string Table::csv() const {
    std::string out;
    for (std::size_t c = 0; c < columns_.size(); ++c) {
        out += (c ? "," : "") + csv_field(csv_title(columns_[c].title));
    }
    out += '\n';
    for (const auto& row : rows_) {
        for (std::size_t c = 0; c < row.size(); ++c) out += (c ? "," : "") + csv_field(row[c].text);
        out += '\n';
    }
    return out;
}

}  // namespace berth::cli
