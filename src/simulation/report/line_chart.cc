// SPDX-License-Identifier: Apache-2.0
#include "simulation/report/line_chart.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>

namespace berth::simulation {
namespace {

constexpr double kWidth = 720;
constexpr double kHeight = 260;
constexpr double kLeft = 64;
constexpr double kRight = 12;
constexpr double kTop = 12;
constexpr double kBottom = 32;
constexpr int kColours = 8;
constexpr int kYTicks = 4;

constexpr std::string_view kChartStyle = R"css(
:root{color-scheme:light dark;--ink:#1c2733;--faint:#667788;--grid:#d9e0e6;--paper:#fff;
--c0:#1f6fb4;--c1:#d1621a;--c2:#2a8a4a;--c3:#b3327d;
--c4:#7a5cc0;--c5:#8a6d12;--c6:#118c95;--c7:#5d6b78}
@media (prefers-color-scheme:dark){:root{--ink:#dde6ee;--faint:#93a3b3;--grid:#34414d;
--paper:#141a20;--c0:#5aa9ea;--c1:#f0914e;--c2:#5fc682;--c3:#e873b6;
--c4:#b09cf0;--c5:#d3b350;--c6:#4fc6cf;--c7:#a3b1bd}}
text{font-size:11px;fill:var(--faint)}
.grid{stroke:var(--grid);fill:none}
.line{fill:none;stroke-width:1.8;stroke-linejoin:round}
.line0{stroke:var(--c0)}.line1{stroke:var(--c1)}.line2{stroke:var(--c2)}
.line3{stroke:var(--c3)}.line4{stroke:var(--c4)}.line5{stroke:var(--c5)}
.line6{stroke:var(--c6)}.line7{stroke:var(--c7)}
)css";

class Plane {
  public:
    explicit Plane(const Axes& axes) : axes_(axes) {}

    double x(double value) const {
        const auto place = [&](double at) {
            return axes_.x_scale == Scale::Log ? std::log10(std::max(at, axes_.x_from)) : at;
        };
        const double span = place(axes_.x_to) - place(axes_.x_from);
        const double part = span > 0 ? (place(value) - place(axes_.x_from)) / span : 0;
        return kLeft + std::clamp(part, 0.0, 1.0) * (kWidth - kLeft - kRight);
    }
    double y(double value) const {
        const double part = axes_.y_to > 0 ? value / axes_.y_to : 0;
        return kHeight - kBottom - std::clamp(part, 0.0, 1.0) * (kHeight - kTop - kBottom);
    }

  private:
    const Axes& axes_;
};

std::string grid(const Axes& axes, const Plane& plane) {
    std::string svg;
    const auto line = [&](double x1, double y1, double x2, double y2) {
        svg += "<path class=\"grid\" d=\"M" + coordinate(x1) + " " + coordinate(y1) + "L" +
               coordinate(x2) + " " + coordinate(y2) + "\"/>";
    };
    const auto label = [&](double x, double y, const char* anchor, const std::string& text) {
        svg += "<text x=\"" + coordinate(x) + "\" y=\"" + coordinate(y) + "\" text-anchor=\"" +
               anchor + "\">" + escaped(text) + "</text>";
    };
    for (int tick = 0; tick <= kYTicks; ++tick) {
        const double value = axes.y_to * tick / kYTicks;
        line(kLeft, plane.y(value), kWidth - kRight, plane.y(value));
        label(kLeft - 6, plane.y(value) + 4, "end", axes.y_text(value));
    }
    for (const double value : axes.x_ticks) {
        if (value < axes.x_from || value > axes.x_to) continue;
        line(plane.x(value), kTop, plane.x(value), kHeight - kBottom);
        label(plane.x(value), kHeight - kBottom + 16, "middle", axes.x_text(value));
    }
    return svg;
}

}  // namespace

std::string line_chart(const Axes& axes, std::span<const Line> lines) {
    const Plane plane(axes);
    const std::string width = coordinate(kWidth);
    const std::string height = coordinate(kHeight);
    std::string svg = "<svg width=\"" + width + "\" height=\"" + height + "\" viewBox=\"0 0 " +
                      width + " " + height + "\" role=\"img\" aria-label=\"" + escaped(axes.title) +
                      "\">" + grid(axes, plane);
    for (std::size_t at = 0; at < lines.size(); ++at) {
        svg += "<path class=\"line line" + std::to_string(at % kColours) + "\" d=\"";
        const char* command = "M";
        for (const Point& point : lines[at].points) {
            svg += command + coordinate(plane.x(point.x)) + " " + coordinate(plane.y(point.y));
            command = "L";
        }
        svg += "\"><title>" + escaped(lines[at].name) + "</title></path>";
    }
    return svg + "</svg>\n";
}

std::string_view chart_style() { return kChartStyle; }

std::string escaped(std::string_view text) {
    std::string safe;
    for (const char letter : text) {
        switch (letter) {
            case '<': safe += "&lt;"; break;
            case '>': safe += "&gt;"; break;
            case '&': safe += "&amp;"; break;
            case '"': safe += "&quot;"; break;
            default: safe += letter;
        }
    }
    return safe;
}

std::string coordinate(double value) {
    const auto tenths = static_cast<std::int64_t>(std::llround(value * 10));
    std::string text = std::to_string(tenths / 10);
    if (tenths % 10 != 0) text += "." + std::to_string(std::abs(tenths % 10));
    return text;
}

}  // namespace berth::simulation
