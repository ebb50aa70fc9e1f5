// SPDX-License-Identifier: Apache-2.0
#include "simulation/report/chart_file.h"

namespace berth::simulation {
namespace {

constexpr int kHeadHeight = 44;
constexpr double kLetterWidth = 6.2;  // of the names, about

}  // namespace

std::string chart_file(const Chart& chart) {
    std::string svg =
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 720 304\" "
        "font-family=\"system-ui,sans-serif\">\n<style>" +
        std::string(chart_style()) +
        ".paper{fill:var(--paper)}.title{font-size:13px;fill:var(--ink)}</style>\n"
        "<rect class=\"paper\" width=\"720\" height=\"304\"/>\n"
        "<text class=\"title\" x=\"64\" y=\"18\">" +
        escaped(chart.axes.title) + "</text>\n";
    double x = 64;
    for (std::size_t at = 0; at < chart.lines.size(); ++at) {
        const std::string& name = chart.lines[at].name;
        svg += "<path class=\"line line" + std::to_string(at) + "\" d=\"M" + coordinate(x) +
               " 34h18\"/><text x=\"" + coordinate(x + 24) + "\" y=\"38\">" + escaped(name) +
               "</text>\n";
        x += 44 + kLetterWidth * static_cast<double>(name.size());
    }
    return svg + "<g transform=\"translate(0 " + std::to_string(kHeadHeight) + ")\">" +
           line_chart(chart.axes, chart.lines) + "</g></svg>\n";
}

}  // namespace berth::simulation
