// SPDX-License-Identifier: Apache-2.0
#include "simulation/trace/table_text.h"

#include <algorithm>

namespace berth::simulation {
namespace {

constexpr std::string_view kUtf8Mark = "\xef\xbb\xbf";
constexpr std::string_view kUtf16Marks[] = {"\xff\xfe", "\xfe\xff"};
constexpr std::string_view kSeparators = ",;\t|";
constexpr std::string_view kBlanks = " \t";

// The first of the most frequent outside quotes.
char separator_of(std::string_view header) {
    std::ptrdiff_t most = 0;
    char found = kSeparators.front();
    for (const char separator : kSeparators) {
        std::ptrdiff_t count = 0;
        bool is_quoted = false;
        for (const char letter : header) {
            if (letter == '"' && separator != '|') is_quoted = !is_quoted;
            if (letter == separator && !is_quoted) ++count;
        }
        if (count <= most) continue;
        most = count;
        found = separator;
    }
    return found;
}

}  // namespace

std::string_view trimmed(std::string_view text) {
    const std::size_t begin = text.find_first_not_of(kBlanks);
    if (begin == std::string_view::npos) return {};
    return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

TableText::TableText(std::string_view text) : rest_(text) {
    if (rest_.starts_with(kUtf8Mark)) rest_.remove_prefix(kUtf8Mark.size());
    const std::size_t begin = std::min(rest_.find_first_not_of("\r\n"), rest_.size());
    separator_ = separator_of(rest_.substr(begin, rest_.find('\n', begin) - begin));
}

base::Result<bool> TableText::next() {
    for (const std::string_view mark : kUtf16Marks) {
        if (lines_read_ == 0 && rest_.starts_with(mark)) {
            return base::invalid("found text in UTF-16, wanted UTF-8; save the file as UTF-8");
        }
    }
    while (!rest_.empty()) {
        cells_.clear();
        unquoted_.clear();
        line_ = lines_read_ + 1;
        for (is_record_over_ = false; !is_record_over_;) BERTH_TRY_VOID(read_cell());
        if (cells_.size() > 1 || !cells_.front().empty()) return true;
    }
    return false;
}

base::Status TableText::read_cell() {
    if (separator_ != '|') {
        const std::size_t begin = std::min(rest_.find_first_not_of(' '), rest_.size());
        if (rest_.substr(begin).starts_with('"')) {
            rest_.remove_prefix(begin + 1);
            return read_quoted();
        }
    }
    cells_.push_back(trimmed(end_of_cell()));
    return {};
}

// From behind the opening quote on.
base::Status TableText::read_quoted() {
    std::string* unquoted = nullptr;
    std::string_view cell;
    const std::string_view begin = rest_;
    for (std::size_t at = 0;;) {
        const std::size_t quote = begin.find('"', at);
        if (quote == std::string_view::npos) {
            return base::invalid("found a quote that is never closed, wanted \" at its end");
        }
        if (unquoted) unquoted->append(begin.substr(at, quote - at));
        if (!begin.substr(quote + 1).starts_with('"')) {
            cell = unquoted ? std::string_view(*unquoted) : begin.substr(0, quote);
            lines_read_ += static_cast<int>(std::ranges::count(begin.substr(0, quote), '\n'));
            rest_.remove_prefix(quote + 1);
            break;
        }
        if (!unquoted) unquoted = &unquoted_.emplace_back(begin.substr(0, quote));
        *unquoted += '"';
        at = quote + 2;
    }
    const std::string_view behind = trimmed(end_of_cell());
    if (!behind.empty()) {
        return base::invalid("found \"" + std::string(behind.substr(0, 20)) +
                             "\" behind a closing quote, wanted a separator");
    }
    cells_.push_back(cell);
    return {};
}

// Takes what is left of a cell off the front, and what ends it.
std::string_view TableText::end_of_cell() {
    const char ends[] = {separator_, '\n', '\0'};
    const std::size_t end = std::min(rest_.find_first_of(std::string_view(ends, 2)), rest_.size());
    std::string_view cell = rest_.substr(0, end);
    is_record_over_ = end == rest_.size() || rest_[end] == '\n';
    rest_.remove_prefix(std::min(end + 1, rest_.size()));
    if (!is_record_over_) return cell;
    ++lines_read_;
    if (cell.ends_with('\r')) cell.remove_suffix(1);
    return cell;
}

}  // namespace berth::simulation
