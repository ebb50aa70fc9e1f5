// SPDX-License-Identifier: Apache-2.0
#include "simulation/report/gpu_picture.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "simulation/report/figure_text.h"

namespace berth::simulation {
namespace {

constexpr std::size_t kMoments = 360;  // columns of the picture
constexpr std::size_t kJobColours = 8;
// Those of line_chart.h, so that times stand alike.
constexpr int kLeftEdge = 64;
constexpr int kRightEdge = 708;
constexpr int kAxisHeight = 24;
constexpr std::int32_t kNodeLabelsMax = 20;

constexpr reference::JobIndex kFree = -1;
constexpr reference::JobIndex kShared = -2;

constexpr std::string_view kPictureStyle = R"css(
.gpus path{fill:none}
.job0{stroke:var(--c0)}.job1{stroke:var(--c1)}.job2{stroke:var(--c2)}.job3{stroke:var(--c3)}
.job4{stroke:var(--c4)}.job5{stroke:var(--c5)}.job6{stroke:var(--c6)}.job7{stroke:var(--c7)}
.gpus .shared{stroke:var(--ink);stroke-dasharray:2 1}
.gpus .free{fill:var(--grid);opacity:.45}
.gpus .edge{stroke:var(--paper);stroke-width:1.5}
)css";

// Rows of GPUs by columns of time, and which job is there.
class GpuCells {
  public:
    GpuCells(const Experiment& experiment, const Run& run, const Span& span)
        : rows_(std::min(experiment.machines.gpus(), kGpuRowsMax)),
          span_(span),
          cells_(static_cast<std::size_t>(rows_) * kMoments, kFree) {
        for (const RunInterval& interval : run.replay.intervals) {
            const auto gpus = experiment.trace[static_cast<std::size_t>(interval.job)].gpus;
            for (const std::int32_t gpu : run.replay.gpus_of(interval, gpus)) {
                if (gpu < rows_) fill(gpu, interval);
            }
        }
    }

    std::int32_t rows() const { return rows_; }
    const reference::JobIndex* row(std::int32_t gpu) const {
        return cells_.data() + static_cast<std::size_t>(gpu) * kMoments;
    }

  private:
    std::size_t column(TimePoint at) const {
        const double width = (span_.to - span_.from) / kMoments;
        const double exact = (in_seconds(at.time_since_epoch()) - span_.from) / width;
        return std::min(static_cast<std::size_t>(std::max(std::ceil(exact - 0.5), 0.0)), kMoments);
    }

    void fill(std::int32_t gpu, const RunInterval& interval) {
        for (std::size_t at = column(interval.from); at < column(interval.to); ++at) {
            auto& cell = cells_[static_cast<std::size_t>(gpu) * kMoments + at];
            cell = cell == kFree || cell == interval.job ? interval.job : kShared;
        }
    }

    std::int32_t rows_;
    Span span_;
    std::vector<reference::JobIndex> cells_;
};

// One stroke from the left edge of a column to that of another.
std::string stroke(std::size_t from, std::size_t to, double y) {
    constexpr double kWidth = static_cast<double>(kRightEdge - kLeftEdge) / kMoments;
    return "M" + coordinate(kLeftEdge + kWidth * static_cast<double>(from)) + " " + coordinate(y) +
           "h" + coordinate(kWidth * static_cast<double>(to - from));
}

std::string strokes(const GpuCells& cells, int row_height) {
    std::array<std::string, kJobColours> jobs;
    std::string shared;
    for (std::int32_t row = 0; row < cells.rows(); ++row) {
        const auto* line = cells.row(row);
        const double y = (row + 0.5) * row_height;
        for (std::size_t begin = 0; begin < kMoments;) {
            std::size_t end = begin + 1;
            while (end < kMoments && line[end] == line[begin]) ++end;
            if (line[begin] == kShared) shared += stroke(begin, end, y);
            if (line[begin] >= 0) {
                jobs[static_cast<std::size_t>(line[begin]) % kJobColours] += stroke(begin, end, y);
            }
            begin = end;
        }
    }
    const std::string width = "\" stroke-width=\"" + coordinate(row_height - 1) + "\" d=\"";
    std::string svg;
    for (std::size_t at = 0; at < kJobColours; ++at) {
        svg += "<path class=\"job" + std::to_string(at) + width + jobs[at] + "\"/>";
    }
    if (!shared.empty()) svg += "<path class=\"shared" + width + shared + "\"/>";
    return svg;
}

std::string label_at(double x, double y, const char* anchor, const std::string& text) {
    return "<text x=\"" + coordinate(x) + "\" y=\"" + coordinate(y) + "\" text-anchor=\"" + anchor +
           "\">" + text + "</text>";
}

std::string nodes(const Machines& machines, std::int32_t rows, int row_height) {
    std::string svg;
    const std::int32_t last = machines.node_of(rows - 1);
    const std::int32_t step = last / kNodeLabelsMax + 1;
    for (std::int32_t node = 0; node <= last && last > 0; ++node) {
        const auto gpus = machines.gpus_on(node);
        const double top = gpus.front() * row_height;
        if (node > 0) {
            svg += "<path class=\"edge\" d=\"M" + coordinate(kLeftEdge) + " " + coordinate(top) +
                   "H" + coordinate(kRightEdge) + "\"/>";
        }
        const double middle =
            top + std::min<double>(gpus.size(), rows - gpus.front()) * row_height / 2;
        if (node % step == 0) {
            svg += label_at(kLeftEdge - 6, middle + 4, "end", "node " + std::to_string(node + 1));
        }
    }
    return svg;
}

}  // namespace

std::string gpu_picture(const Experiment& experiment, const Run& run, const Span& span) {
    const GpuCells cells(experiment, run, span);
    constexpr std::int32_t kHeight = 256;
    const int row_height = std::clamp(kHeight / cells.rows(), 4, 16);
    const int height = cells.rows() * row_height;
    std::string svg = "<svg class=\"gpus\" viewBox=\"0 0 720 " +
                      std::to_string(height + kAxisHeight) + "\" role=\"img\" aria-label=\"" +
                      escaped(run.policy) + ": which job held each of " +
                      std::to_string(cells.rows()) + " GPUs over time, a row for each GPU\">";
    svg += "<rect class=\"free\" x=\"" + coordinate(kLeftEdge) + "\" width=\"" +
           coordinate(kRightEdge - kLeftEdge) + "\" height=\"" + std::to_string(height) + "\"/>";
    svg += strokes(cells, row_height) + nodes(experiment.machines, cells.rows(), row_height);
    for (const double at : time_ticks(span)) {
        const double x = kLeftEdge + at / (span.to - span.from) * (kRightEdge - kLeftEdge);
        svg += label_at(x, height + 16, "middle", time_text(at));
    }
    return svg + "</svg>\n";
}

std::string_view gpu_picture_style() { return kPictureStyle; }

}  // namespace berth::simulation
