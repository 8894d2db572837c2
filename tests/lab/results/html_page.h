// SPDX-License-Identifier: BSD-3-Clause
// The pieces of a self-contained HTML page: style for light and dark, tables; no script,
// nothing from the network.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace surety::lab {

// For text and for attribute values.
std::string escape(std::string_view text);

// From <!doctype> to the page's <h1>, and what closes it. In between go <h2>, <p>, <section>, html_table(),
// to_svg(); <div class="plots"> sets plots side by side where there is room.
std::string page_header(std::string_view title);
std::string page_footer();

struct HtmlColumn {
  std::string title;
  bool number = false;  // to the right, digits of equal width
};
struct HtmlCell {
  std::string text;  // is escaped
  std::string css;   // "good", "bad", "note" or nothing
  HtmlCell(std::string shown, std::string css_class = "")
      : text(std::move(shown)), css(std::move(css_class)) {}
  HtmlCell(const char* shown) : text(shown) {}
};
// As many cells in a row as there are columns. Wide tables scroll by themselves.
std::string html_table(std::span<const HtmlColumn> columns, std::span<const std::vector<HtmlCell>> rows);

}  // namespace surety::lab
