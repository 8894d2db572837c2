// SPDX-License-Identifier: BSD-3-Clause
#include "tests/lab/results/svg_plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <span>
#include <string_view>

#include "tests/lab/results/html_page.h"
#include "tests/lab/results/plot_scale.h"
#include "tests/lab/results/plot_thin.h"

namespace surety::lab {
namespace {

// Light enough for dark pages, dark enough for light ones, apart in hue for the
// colour-blind where neighbours.
constexpr std::array<std::string_view, 8> kColours{"#2f80d8", "#e07b1a", "#1f9d74", "#c45fb0",
                                                   "#b08d10", "#d9534f", "#7d74d9", "#1b9fb8"};
constexpr std::array<std::string_view, 6> kDashes{"", "7 3", "2 2", "9 3 2 3", "5 2", "1 3"};
constexpr double kLetter = 6.1;  // mean width at 11 px
constexpr double kEdge = 5;      // what a thick line may need beyond the axes
constexpr double kRow = 16;      // of the legend and of level names

std::string_view colour_of(std::size_t line) {
  return kColours[line % kColours.size()];
}

std::string px(double x) {
  std::string text = fmt::format("{:.1f}", x);
  if (text.ends_with(".0")) text.resize(text.size() - 2);
  return text == "-0" ? "0" : text;
}

bool starts_letter(char utf8) {
  return (static_cast<unsigned char>(utf8) & 0xc0) != 0x80;
}
std::size_t letters(std::string_view utf8) {
  return static_cast<std::size_t>(std::count_if(utf8.begin(), utf8.end(), starts_letter));
}
std::string first_letters(std::string_view utf8, std::size_t n) {
  std::size_t end = 0;
  for (; end < utf8.size(); ++end) {
    if (starts_letter(utf8[end]) && n-- == 0) break;
  }
  return std::string(utf8.substr(0, end));
}

std::string text_at(double x, double y, std::string_view anchor, std::string_view text,
                    std::string_view more = "") {
  return fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"{}\"{}>{}</text>\n", px(x), px(y), anchor, more,
                     escape(text));
}

struct Range {
  double least = std::numeric_limits<double>::infinity(), greatest = -least;
  void add(double v) {
    if (!std::isfinite(v)) return;
    least = std::min(least, v);
    greatest = std::max(greatest, v);
  }
  bool empty() const { return least > greatest; }
};

Scale x_scale(const Plot& plot) {
  Range range;
  for (const auto& line : plot.lines) {
    for (const double x : line.x) range.add(x);
  }
  if (range.empty()) return Scale::linear(0, 1);
  // From 0 where that costs little: a series over time starts with its first sample.
  return Scale::linear(range.least > 0 && range.least < range.greatest / 20 ? 0 : range.least,
                       range.greatest);
}

Scale y_scale(const Plot& plot) {
  Range range;
  range.add(0);
  for (const auto& line : plot.lines) {
    for (const double y : line.y) range.add(y);
  }
  for (const auto& level : plot.levels) range.add(level.y);
  return Scale::rounded_out(range.least, range.greatest);
}

class Drawing {
 public:
  Drawing(const Plot& plot, int width, int height)
      : plot_(plot), width_(width), height_(height), x_(x_scale(plot)), y_(y_scale(plot)) {
    std::size_t longest = 0;
    for (const auto& t : y_.ticks()) longest = std::max(longest, letters(t.label));
    left_ = 34 + kLetter * static_cast<double>(longest);
    for (const auto& level : plot.levels)
      right_ = std::max(right_, 12 + kLetter * static_cast<double>(letters(level.name)));
    right_ = std::min(right_, width_ / 4);
    top_ = (plot.title.empty() ? 10 : 30) + lay_out_legend();
  }

  std::string svg() {
    std::string svg = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" aria-label=\"{}\" width=\"{}\" height=\"{}\" "
        "viewBox=\"0 0 {} {}\" font-family=\"system-ui, sans-serif\" font-size=\"11\" "
        "fill=\"currentColor\">\n",
        escape(plot_.title), px(width_), px(height_), px(width_), px(height_));
    if (!plot_.title.empty())
      svg += text_at(left_, 19, "start", plot_.title, " font-size=\"13\" font-weight=\"600\"");
    svg += legend_ + axes();
    // An inner <svg> cuts off what lies outside, but for lines along its edges.
    svg += fmt::format("<svg x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" viewBox=\"{} {} {} {}\">\n",
                       px(left_ - kEdge), px(top_ - kEdge), px(inner_width() + 2 * kEdge),
                       px(inner_height() + 2 * kEdge), px(-kEdge), px(-kEdge), px(inner_width() + 2 * kEdge),
                       px(inner_height() + 2 * kEdge));
    for (const auto& level : plot_.levels) svg += level_line(level);
    for (std::size_t i = 0; i < plot_.lines.size(); ++i) svg += curve(i);
    return svg + "</svg>\n" + level_names() + "</svg>\n";
  }

 private:
  double inner_width() const { return width_ - left_ - right_; }
  double inner_height() const { return std::max(20.0, height_ - top_ - 42); }
  double across(double x) const { return x_.place(x) * inner_width(); }
  double down(double y) const { return (1 - y_.place(y)) * inner_height(); }

  std::string stroke(std::size_t line) const {
    std::string s = fmt::format("stroke=\"{}\"", colour_of(line));
    if (const auto dash = kDashes[line % kDashes.size()]; !dash.empty())
      s += fmt::format(" stroke-dasharray=\"{}\"", dash);
    return s;
  }

  // Rows of names above the axes; the height that they take. A single line needs no name but its own title.
  double lay_out_legend() {
    if (plot_.lines.size() < 2 && (plot_.lines.empty() || plot_.lines[0].name.empty())) return 0;
    double x = left_, y = plot_.title.empty() ? 14 : 36;
    const double first = y;
    for (std::size_t i = 0; i < plot_.lines.size(); ++i) {
      const double wide = 42 + kLetter * static_cast<double>(letters(plot_.lines[i].name));
      if (x > left_ && x + wide > width_ - 8) {
        x = left_;
        y += kRow;
      }
      legend_ += fmt::format("<path d=\"M{} {}h24\" fill=\"none\" stroke-width=\"2\" {}/>\n", px(x),
                             px(y - 4), stroke(i));
      legend_ += text_at(x + 29, y, "start", plot_.lines[i].name);
      x += wide;
    }
    return y - first + kRow;
  }

  std::string axes() const {
    std::string svg = "<g stroke=\"currentColor\" stroke-opacity=\"0.18\">\n", labels;
    const double bottom = top_ + inner_height();
    for (const auto& t : y_.ticks()) {
      const double y = top_ + down(t.value);
      svg += fmt::format("<path d=\"M{} {}h{}\"/>\n", px(left_), px(y), px(inner_width()));
      labels += text_at(left_ - 6, y + 4, "end", t.label);
    }
    for (const auto& t : x_.ticks()) {
      const double x = left_ + across(t.value);
      svg += fmt::format("<path d=\"M{} {}v{}\"/>\n", px(x), px(top_), px(inner_height()));
      labels += text_at(x, bottom + 15, "middle", t.label);
    }
    svg += fmt::format("<path d=\"M{} {}v{}h{}\" fill=\"none\" stroke-opacity=\"0.7\"/>\n</g>\n", px(left_),
                       px(top_), px(inner_height()), px(inner_width()));
    labels += text_at(left_ + inner_width() / 2, height_ - 8, "middle", plot_.x_label);
    const double middle = top_ + inner_height() / 2;
    labels += text_at(14, middle, "middle", plot_.y_label,
                      fmt::format(" transform=\"rotate(-90 14 {})\"", px(middle)));
    return svg + labels;
  }

  std::string level_line(const PlotLevel& level) const {
    return fmt::format(
        "<path d=\"M0 {}h{}\" stroke=\"currentColor\" stroke-opacity=\"0.65\" stroke-dasharray=\"4 4\"/>\n",
        px(down(level.y)), px(inner_width()));
  }

  // With an ellipsis where there is no room for all of it.
  std::string fitted(const std::string& name) const {
    const auto room = static_cast<std::size_t>((right_ - 8) / kLetter);
    if (letters(name) <= room) return name;
    return first_letters(name, room - 1) + "…";
  }

  // To the right of their lines; where they would overlap, each below the one before.
  std::string level_names() const {
    std::vector<PlotLevel> levels;
    for (const auto& l : plot_.levels) {
      if (l.y >= y_.from() && l.y <= y_.to()) levels.push_back(l);
    }
    std::stable_sort(levels.begin(), levels.end(), [](const auto& a, const auto& b) { return a.y > b.y; });
    std::string svg;
    double free = 0;
    for (const auto& l : levels) {
      const double y = std::max(free, top_ + down(l.y) + 4);
      svg += text_at(width_ - right_ + 6, y, "start", fitted(l.name), " fill-opacity=\"0.8\"");
      free = y + kRow - 4;
    }
    return svg;
  }

  bool drawable(const PlotLine& line, std::size_t i) const {
    return std::isfinite(line.x[i]) && std::isfinite(line.y[i]);
  }

  std::string curve(std::size_t index) const {
    const PlotLine& line = plot_.lines[index];
    const std::size_t n = std::min(line.x.size(), line.y.size());
    const auto shown = thinned(std::span(line.y).first(n), static_cast<std::size_t>(inner_width()));
    std::string path;
    bool pen_down = false;
    for (std::size_t k = 0; k < shown.size(); ++k) {
      const std::size_t i = shown[k];
      if (!drawable(line, i)) {
        pen_down = false;
        continue;
      }
      path += fmt::format("{}{} {}", pen_down ? 'L' : 'M', px(across(line.x[i])), px(down(line.y[i])));
      // A value by itself still shows, as a dot.
      if (!pen_down && (k + 1 == shown.size() || !drawable(line, shown[k + 1]))) path += "h.1";
      pen_down = true;
    }
    if (path.empty()) return "";
    return fmt::format(
        "<path d=\"{}\" fill=\"none\" stroke-width=\"1.6\" stroke-linejoin=\"round\" "
        "stroke-linecap=\"round\" {}>"
        "<title>{}</title></path>\n",
        path, stroke(index), escape(line.name));
  }

  const Plot& plot_;
  double width_, height_;
  Scale x_, y_;
  double left_ = 0, right_ = 14, top_ = 0;
  std::string legend_;
};

}  // namespace

std::string to_svg(const Plot& plot, int width, int height) {
  return Drawing(plot, width, height).svg();
}

}  // namespace surety::lab
