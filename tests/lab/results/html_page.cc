// SPDX-License-Identifier: BSD-3-Clause
#include "tests/lab/results/html_page.h"

#include <fmt/format.h>

namespace surety::lab {
namespace {

constexpr std::string_view kStyle = R"(
:root { color-scheme: light dark; --ground: #fff; --panel: #f7f8fa; --text: #1d2430; --faint: #667085; --rule: #e1e5eb;
        --good: #17803d; --bad: #c42b2b; }
@media (prefers-color-scheme: dark) {
  :root { --ground: #12161c; --panel: #191f27; --text: #e3e8ef; --faint: #97a3b4; --rule: #2c3541; --good: #4cc27a;
          --bad: #ff7b72; }
}
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 2rem 1.5rem 4rem; max-width: 96rem; background: var(--ground); color: var(--text);
       font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Liberation Sans", sans-serif; }
h1 { font-size: 1.7rem; line-height: 1.2; margin: 0 0 .4rem; }
h2 { font-size: 1.2rem; margin: 2.4rem 0 .6rem; padding-bottom: .3rem; border-bottom: 1px solid var(--rule); }
h3 { font-size: 1rem; margin: 1.4rem 0 .4rem; }
p { margin: .3rem 0 .8rem; max-width: 60rem; }
.note { color: var(--faint); }
.good { color: var(--good); font-weight: 600; }
.bad { color: var(--bad); font-weight: 600; }
.table { overflow-x: auto; margin: .6rem 0 1rem; }
table { border-collapse: collapse; font-size: 13.5px; }
th, td { padding: .3rem .65rem; text-align: left; white-space: nowrap; border-bottom: 1px solid var(--rule); }
th { color: var(--faint); font-weight: 600; vertical-align: bottom; }
tbody tr:hover { background: var(--panel); }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; }
.plots { display: flex; flex-wrap: wrap; gap: 1.2rem; }
.plots > svg { background: var(--panel); border: 1px solid var(--rule); border-radius: 8px; max-width: 100%; height: auto; }
)";

std::string class_of(const HtmlColumn& column, const std::string& css) {
  std::string names = column.number ? "number" : "";
  if (!css.empty()) names += (names.empty() ? "" : " ") + css;
  return names.empty() ? "" : fmt::format(" class=\"{}\"", escape(names));
}

}  // namespace

std::string escape(std::string_view text) {
  std::string safe;
  for (const char c : text) {
    switch (c) {
      case '&':
        safe += "&amp;";
        break;
      case '<':
        safe += "&lt;";
        break;
      case '>':
        safe += "&gt;";
        break;
      case '"':
        safe += "&quot;";
        break;
      case '\'':
        safe += "&#39;";
        break;
      default:
        safe += c;
    }
  }
  return safe;
}

std::string page_header(std::string_view title) {
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{0}</title>\n"
      "<style>{1}</style>\n</head>\n<body>\n<h1>{0}</h1>\n",
      escape(title), kStyle);
}

std::string page_footer() {
  return "</body>\n</html>\n";
}

std::string html_table(std::span<const HtmlColumn> columns, std::span<const std::vector<HtmlCell>> rows) {
  std::string html = "<div class=\"table\"><table>\n<thead><tr>";
  for (const auto& c : columns) html += fmt::format("<th{}>{}</th>", class_of(c, ""), escape(c.title));
  html += "</tr></thead>\n<tbody>\n";
  for (const auto& row : rows) {
    html += "<tr>";
    for (std::size_t i = 0; i < columns.size(); ++i)
      html += fmt::format("<td{}>{}</td>", class_of(columns[i], row.at(i).css), escape(row.at(i).text));
    html += "</tr>\n";
  }
  return html + "</tbody></table></div>\n";
}

}  // namespace surety::lab
