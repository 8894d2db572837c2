// SPDX-License-Identifier: BSD-3-Clause
// Line plots as inline SVG, sized by hand: no network, no script, the same bytes every time.
#pragma once

#include <string>
#include <vector>

namespace surety::lab {

struct PlotLine {
  std::string name;
  std::vector<double> x, y;  // of equal length; NaN in y: a gap
};
struct PlotLevel {  // a horizontal line: a target, a threshold
  std::string name;
  double y = 0;
};
struct Plot {
  std::string title, x_label, y_label;  // labels with their units: "time (s)"
  std::vector<PlotLine> lines;
  std::vector<PlotLevel> levels;
};

// An <svg> element, 720 x 300 unless said otherwise, with axes, ticks at round numbers, grid and legend; text
// is escaped. Readable in light and dark pages and without colour vision (lines differ by dash as well).
std::string to_svg(const Plot& plot, int width = 720, int height = 300);

}  // namespace surety::lab
