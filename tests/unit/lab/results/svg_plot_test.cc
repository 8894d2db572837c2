// SPDX-License-Identifier: BSD-3-Clause
#include "tests/lab/results/svg_plot.h"

#include <gmock/gmock.h>

#include <limits>
#include <set>

namespace surety::lab {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

PlotLine line(std::vector<double> x, std::vector<double> y, std::string name = "a") {
  return {.name = std::move(name), .x = std::move(x), .y = std::move(y)};
}
Plot plot(std::vector<PlotLine> lines) {
  Plot p;
  p.lines = std::move(lines);
  return p;
}
std::size_t count(const std::string& text, const std::string& what) {
  std::size_t n = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++n;
  return n;
}
// What stands between `before` and `after`, every time.
std::vector<std::string> between(const std::string& text, const std::string& before,
                                 const std::string& after) {
  std::vector<std::string> found;
  for (std::size_t at = text.find(before); at != std::string::npos; at = text.find(before, at)) {
    at += before.size();
    found.push_back(text.substr(at, text.find(after, at) - at));
  }
  return found;
}
// The path of the only line.
std::string path(const std::string& svg) {
  const std::string end = "\" fill=\"none\" stroke-width=\"1.";
  const std::string before = svg.substr(0, svg.find(end));
  return before.substr(before.rfind("d=\"") + 3);
}

// Left margin 34 + 2 letters, right 14, top 10 + a row of the legend, bottom 42:
// the axes enclose 659.8 x 232.
TEST(SvgPlot, PutsValuesInTheirPlaces) {
  EXPECT_EQ(path(to_svg(plot({line({0, 5, 10}, {0, 10, 20})}))), "M0 232L329.9 116L659.8 0");
}

TEST(SvgPlot, HasTheSizeAskedFor) {
  EXPECT_THAT(to_svg(plot({})), HasSubstr("width=\"720\" height=\"300\" viewBox=\"0 0 720 300\""));
  EXPECT_THAT(to_svg(plot({}), 400, 200), HasSubstr("width=\"400\" height=\"200\" viewBox=\"0 0 400 200\""));
}

TEST(SvgPlot, IsTheSameEveryTime) {
  const Plot p = plot({line({1, 2, 3}, {4, 5, 6}), line({1, 2, 3}, {7, 5, 6}, "b")});
  EXPECT_EQ(to_svg(p), to_svg(p));
}

TEST(SvgPlot, ShowsLabelsTicksAndNamesEscaped) {
  Plot p = plot({line({0, 10}, {0, 20}, "a<b"), line({0, 10}, {1, 1}, "c")});
  p.title = "Q & \"A\"";
  p.x_label = "time (s)";
  p.y_label = "kbit/s";
  p.levels = {{"target", 15}};
  const std::string svg = to_svg(p);
  for (const char* text :
       {">a&lt;b</text>", ">c</text>", ">Q &amp; &quot;A&quot;</text>", ">time (s)</text>", ">kbit/s</text>",
        ">target</text>", ">0</text>", ">5</text>", ">20</text>", ">10</text>"})
    EXPECT_THAT(svg, HasSubstr(text));
}

TEST(SvgPlot, LinesDifferByColourAndDash) {
  std::vector<PlotLine> lines;
  for (int i = 0; i < 12; ++i) lines.push_back(line({0, 1}, {0, 1}, std::to_string(i)));
  const std::string svg = to_svg(plot(lines));
  const auto strokes = between(svg, "stroke-linecap=\"round\" ", ">");
  const std::set<std::string> kinds(strokes.begin(), strokes.end());
  EXPECT_EQ(kinds.size(), 12u);
}

TEST(SvgPlot, TakesItsInkFromThePage) {
  const std::string svg = to_svg(plot({line({0, 1}, {0, 1})}));
  EXPECT_THAT(svg, HasSubstr("fill=\"currentColor\""));
  EXPECT_THAT(svg, Not(HasSubstr("black")));
  EXPECT_EQ(count(svg, "<text"), count(svg, "</text>"));
}

TEST(SvgPlot, LeavesAGapWhereThereIsNoValue) {
  const double none = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(path(to_svg(plot({line({0, 1, 2, 3, 4}, {0, 10, none, 20, none})}))),
            "M0 232L164.9 116M494.8 0h.1");
}

TEST(SvgPlot, LevelsCountForTheRange) {
  Plot p = plot({line({0, 10}, {0, 10})});
  p.levels = {{"max", 40}};
  EXPECT_THAT(to_svg(p), HasSubstr(">40</text>"));
}

TEST(SvgPlot, LevelNamesDoNotOverlap) {
  Plot p = plot({line({0, 10}, {0, 100})});
  p.levels = {{"low", 50}, {"high", 51}};
  const std::string svg = to_svg(p);
  const auto names = between(svg, "fill-opacity=\"0.8\">", "<");
  EXPECT_THAT(names, ElementsAre("high", "low"));
  const auto y_of = [&](const std::string& name) {
    const std::string before = svg.substr(0, svg.find(">" + name + "<"));
    return std::stod(before.substr(before.rfind(" y=\"") + 4));
  };
  EXPECT_GE(y_of("low") - y_of("high"), 12);
}

TEST(SvgPlot, ALongLevelNameIsCut) {
  Plot p = plot({line({0, 10}, {0, 100})});
  p.levels = {{std::string(500, 'x'), 50}};
  EXPECT_THAT(to_svg(p), HasSubstr("xxx…</text>"));
  EXPECT_THAT(to_svg(p), Not(HasSubstr(std::string(40, 'x'))));
}

TEST(SvgPlot, ASeriesStartsAtZeroWhereThatCostsLittle) {
  EXPECT_EQ(path(to_svg(plot({line({1, 100}, {0, 20})}))), "M6.6 232L659.8 0");
  EXPECT_EQ(path(to_svg(plot({line({50, 100}, {0, 20})}))), "M0 232L659.8 0");
}

TEST(SvgPlot, LongSeriesAreThinned) {
  PlotLine l;
  for (int i = 0; i < 1'000'000; ++i) {
    l.x.push_back(i);
    l.y.push_back(i % 100);
  }
  EXPECT_LT(to_svg(plot({l})).size(), 60'000u);
}

TEST(SvgPlot, OfNothingHasAxes) {
  EXPECT_THAT(to_svg(Plot{}), HasSubstr(">0.2</text>"));
}

}  // namespace
}  // namespace surety::lab
