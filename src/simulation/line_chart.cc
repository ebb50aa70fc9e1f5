// SPDX-License-Identifier: Apache-2.0
#include "simulation/line_chart.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>

namespace berth::simulation {
namespace {

constexpr double kWidth = 720, kHeight = 260;
constexpr double kLeft = 64, kRight = 12, kTop = 12, kBottom = 32;
constexpr int kColours = 8;
constexpr int kYTicks = 4;

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
    std::string svg = "<svg viewBox=\"0 0 " + coordinate(kWidth) + " " + coordinate(kHeight) +
                      "\" role=\"img\" aria-label=\"" + escaped(axes.title) + "\">" +
                      grid(axes, plane);
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
