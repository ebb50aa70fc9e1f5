// SPDX-License-Identifier: Apache-2.0
#include "cli/terminal/page_lines.h"

#include <algorithm>

namespace berth::cli {
namespace {

constexpr int kLabelWidth = 12;

// Where a line of at most `room` bytes that begins at `start` ends: at a space when there is one.
std::size_t line_end(const std::string& text, std::size_t start, std::size_t room) {
    if (text.size() - start <= room) return text.size();
    const std::size_t space = text.rfind(' ', start + room);
    return space == std::string::npos || space <= start ? start + room : space;
}

}  // namespace

std::string line(std::string_view label, const std::string& text, const Style& style) {
    std::string padded(label);
    padded.resize(std::max<std::size_t>(padded.size() + 2, kLabelWidth), ' ');
    std::string out = "  " + style.paint(Tone::Faint, padded);
    std::string margin;
    for (const std::string& part :
         wrapped(printable(text), style, static_cast<int>(padded.size()) + 2)) {
        out += margin + part + "\n";
        margin.assign(padded.size() + 2, ' ');
    }
    return out;
}

std::vector<std::string> wrapped(const std::string& text, const Style& style, int margin) {
    const auto room =
        static_cast<std::size_t>(std::max(20, std::min(style.width, kTableWidth) - margin));
    std::vector<std::string> lines;
    for (std::size_t start = 0;;) {
        const std::size_t end = line_end(text, start, room);
        lines.push_back(text.substr(start, end - start));
        start = end < text.size() && text[end] == ' ' ? end + 1 : end;
        if (start >= text.size()) return lines;
    }
}

std::string headline(std::string sentence, const std::string& tag, const Style& style) {
    sentence = printable(sentence);
    std::string text;
    std::size_t start = 0;
    const auto width = static_cast<std::size_t>(std::max(40, std::min(style.width, kTableWidth)));
    while (sentence.size() - start > width) {
        const std::size_t end = line_end(sentence, start, width);
        text += style.paint(Tone::Strong, sentence.substr(start, end - start)) + "\n";
        start = sentence[end] == ' ' ? end + 1 : end;
    }
    const std::string last = sentence.substr(start);
    text += style.paint(Tone::Strong, last);
    if (tag.empty()) return text + "\n";
    int gap = static_cast<int>(width) - display_width(last) - display_width(tag);
    if (gap < 2) {
        text += "\n";
        gap = static_cast<int>(width) - display_width(tag);
    }
    return text + std::string(static_cast<std::size_t>(std::max(gap, 0)), ' ') +
           style.paint(Tone::Warning, tag) + "\n";
}

std::string sentence_of(std::string text) {
    while (!text.empty() && (text.back() == '.' || text.back() == ' ')) text.pop_back();
    return text + ".";
}

}  // namespace berth::cli
