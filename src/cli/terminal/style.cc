// SPDX-License-Identifier: Apache-2.0
#include "cli/terminal/style.h"

#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <iterator>

#include "model/limits.h"

namespace berth::cli {
namespace {

constexpr Glyphs kUnicode{"…", "·", "✓", "✗", "→", "–", "■", "▣", "□", "·", "!"};
constexpr Glyphs kAscii{"...", "|", "ok", "FAILED", "->", "-", "#", "%", "=", ".", "!"};

std::string_view variable_view(const char* name) {
    const char* value = std::getenv(name);
    return value ? value : "";
}

bool is_utf8_locale() {
    for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
        const std::string_view value = variable_view(name);
        if (value.empty()) continue;
        const std::string text(value);
        return strcasestr(text.c_str(), "utf-8") || strcasestr(text.c_str(), "utf8");
    }
    return false;
}

int columns_of(int descriptor) {
    winsize size{};
    if (ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
    const int columns = std::atoi(std::string(variable_view("COLUMNS")).c_str());
    return columns > 0 ? columns : kTableWidth;
}

struct Decoded {
    std::uint32_t point = 0;
    std::size_t bytes = 1;
};

// The character at the start of `text`. A byte that is not UTF-8 counts as a character.
Decoded decode(std::string_view text) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const unsigned lead = byte(0);
    const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC2 ? 2 : 1;
    if (length == 1 || length > text.size() || lead > 0xF4) return {lead, 1};
    std::uint32_t point = lead & (0xFFU >> (length + 1));
    for (std::size_t i = 1; i < length; ++i) {
        if ((byte(i) & 0xC0U) != 0x80U) return {lead, 1};
        point = point << 6 | (byte(i) & 0x3FU);
    }
    return {point, length};
}

struct Range {
    std::uint32_t first;
    std::uint32_t last;
};

bool is_in(std::uint32_t point, const Range* begin, const Range* end) {
    return std::any_of(begin, end,
                       [=](const Range& r) { return point >= r.first && point <= r.last; });
}

// Columns of one character: the wide blocks of East Asian scripts and emoji take two, combining
// marks none. Good enough for names; a rare exception only shifts one row.
int width_of(std::uint32_t point) {
    static constexpr Range kNone[] = {{0x300, 0x36F}, {0x200B, 0x200F}, {0xFE00, 0xFE0F}};
    static constexpr Range kWide[] = {{0x1100, 0x115F},   {0x2E80, 0x303E},  {0x3041, 0xA4CF},
                                      {0xAC00, 0xD7A3},   {0xF900, 0xFAFF},  {0xFE30, 0xFE6F},
                                      {0xFF00, 0xFF60},   {0xFFE0, 0xFFE6},  {0x1F300, 0x1F64F},
                                      {0x1F900, 0x1F9FF}, {0x20000, 0x3FFFD}};
    if (is_in(point, std::begin(kNone), std::end(kNone))) return 0;
    return is_in(point, std::begin(kWide), std::end(kWide)) ? 2 : 1;
}

}  // namespace

const Glyphs& Style::glyphs() const { return unicode ? kUnicode : kAscii; }

std::string Style::paint(Tone tone, std::string_view text) const {
    if (!colour || tone == Tone::Plain || text.empty()) return std::string(text);
    const char* code = "0";
    switch (tone) {
        case Tone::Plain: break;
        case Tone::Strong: code = "1"; break;
        case Tone::Faint: code = "2"; break;
        case Tone::Good: code = "32"; break;
        case Tone::Busy: code = "36"; break;
        case Tone::Warning: code = "33"; break;
        case Tone::Bad: code = "1;31"; break;
    }
    return "\x1b[" + std::string(code) + "m" + std::string(text) + "\x1b[0m";
}

Style style_of(int descriptor, const StyleWishes& wishes) {
    Style style;
    const bool is_dumb = variable_view("TERM") == "dumb";
    style.is_terminal = isatty(descriptor) == 1;
    style.colour = wishes.colour == "always" || (wishes.colour != "never" && style.is_terminal &&
                                                 !is_dumb && variable_view("NO_COLOR").empty());
    style.unicode = !wishes.ascii && style.is_terminal && !is_dumb && is_utf8_locale();
    style.width = columns_of(descriptor);
    return style;
}

int display_width(std::string_view text) {
    int width = 0;
    while (!text.empty()) {
        const Decoded next = decode(text);
        width += width_of(next.point);
        text.remove_prefix(next.bytes);
    }
    return width;
}

std::string truncated(std::string_view text, int width, std::string_view ellipsis) {
    if (display_width(text) <= width) return std::string(text);
    const int room = width - display_width(ellipsis);
    if (room <= 0) ellipsis = {};
    const int limit = room <= 0 ? width : room;
    std::size_t kept = 0;
    for (int used = 0; kept < text.size();) {
        const Decoded next = decode(text.substr(kept));
        used += width_of(next.point);
        if (used > limit) break;
        kept += next.bytes;
    }
    while (kept > 0 && text[kept - 1] == ' ') --kept;
    return std::string(text.substr(0, kept)) + std::string(ellipsis);
}

std::string printable(std::string_view text) {
    std::string clean;
    clean.reserve(text.size());
    while (!text.empty()) {
        const Decoded next = decode(text);
        const bool is_stray = next.bytes == 1 && next.point >= 0x80;
        if (is_stray || model::control_length(text) > 0) {
            clean += next.point == '\n' || next.point == '\t' ? ' ' : '?';
        } else {
            clean += text.substr(0, next.bytes);
        }
        text.remove_prefix(next.bytes);
    }
    return clean;
}

}  // namespace berth::cli
