// SPDX-License-Identifier: Apache-2.0
//
// How do lines become a picture? One inline SVG, with axes, round ticks and no script.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace berth::simulation {

struct Point {
    double x = 0;
    double y = 0;
};

// In the colours of the page, by its place in the list: class "line0", "line1" ...
struct Line {
    std::string name;
    std::vector<Point> points;
};

enum class Scale { Linear, Log };

struct Axes {
    std::string title;
    Scale x_scale = Scale::Linear;
    double x_from = 0;
    double x_to = 1;
    double y_to = 1;
    std::vector<double> x_ticks;
    std::function<std::string(double)> x_text;
    std::function<std::string(double)> y_text;
};

std::string line_chart(const Axes& axes, std::span<const Line> lines);

// What every picture looks like, as style sheet: colours for light and dark, --c0 to --c7 of the
// lines, --ink, --faint, --grid and --paper.
std::string_view chart_style();

// `text` as content or attribute of a page.
std::string escaped(std::string_view text);
// At most one decimal: coordinates.
std::string coordinate(double value);

}  // namespace berth::simulation
