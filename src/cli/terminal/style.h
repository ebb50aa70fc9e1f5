// SPDX-License-Identifier: Apache-2.0
//
// How may text look on this stream? Colour and characters outside ASCII only on a terminal that
// shows them; NO_COLOR, TERM=dumb, --color and --ascii are obeyed. Nothing is shown by colour
// alone: every state has its word.
#pragma once

#include <string>
#include <string_view>

namespace berth::cli {

enum class Tone { Plain, Strong, Faint, Good, Busy, Warning, Bad };

// Characters with a twin in ASCII.
struct Glyphs {
    std::string_view ellipsis;
    std::string_view dot;
    std::string_view check;
    std::string_view cross;
    std::string_view arrow;
    std::string_view dash;
    std::string_view gpu_busy;
    std::string_view gpu_shared;
    std::string_view gpu_idle_held;
    std::string_view gpu_free;
    std::string_view gpu_bad;
};

inline constexpr int kTableWidth = 100;  // when nothing else is known

struct Style {
    bool is_terminal = false;
    bool colour = false;
    bool unicode = false;
    int width = kTableWidth;  // columns

    const Glyphs& glyphs() const;
    // `text` in that tone, or as it is without colour.
    std::string paint(Tone tone, std::string_view text) const;
};

struct StyleWishes {
    std::string_view colour = "auto";  // auto | always | never
    bool ascii = false;
};

// Looks at the stream `descriptor` and the environment.
Style style_of(int descriptor, const StyleWishes& wishes);

// How many terminal columns `text` takes; UTF-8, without escape sequences.
int display_width(std::string_view text);

// `text` cut to at most `width` columns, the cut marked by `ellipsis`.
std::string truncated(std::string_view text, int width, std::string_view ellipsis);

// `text` with control characters replaced: what users typed cannot steer the terminal.
std::string printable(std::string_view text);

}  // namespace berth::cli
