// SPDX-License-Identifier: BSD-3-Clause
#include "tests/lab/results/html_page.h"

#include <gmock/gmock.h>

namespace surety::lab {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(HtmlPage, EscapesWhatHtmlWouldRead) {
  EXPECT_EQ(escape("a<b>&\"c'd"), "a&lt;b&gt;&amp;&quot;c&#39;d");
  EXPECT_EQ(escape("h#2 → core.out"), "h#2 → core.out");
}

TEST(HtmlPage, NeedsNothingElse) {
  const std::string page = page_header("A <title>") + page_footer();
  EXPECT_TRUE(page.starts_with("<!doctype html>"));
  EXPECT_TRUE(page.ends_with("</html>\n"));
  EXPECT_THAT(page, HasSubstr("<title>A &lt;title&gt;</title>"));
  EXPECT_THAT(page, HasSubstr("<h1>A &lt;title&gt;</h1>"));
  for (const char* outside : {"http", "<script", "@import", "url("})
    EXPECT_THAT(page, Not(HasSubstr(outside)));
}

TEST(HtmlPage, IsReadableInTheDark) {
  EXPECT_THAT(page_header("t"), HasSubstr("prefers-color-scheme: dark"));
}

TEST(HtmlPage, Table) {
  const std::vector<HtmlColumn> columns{{"flow"}, {"rate", true}};
  const std::vector<std::vector<HtmlCell>> rows{{"a&b", {"5", "bad"}}, {{"c", "note"}, ""}};
  EXPECT_EQ(html_table(columns, rows),
            "<div class=\"table\"><table>\n"
            "<thead><tr><th>flow</th><th class=\"number\">rate</th></tr></thead>\n<tbody>\n"
            "<tr><td>a&amp;b</td><td class=\"number bad\">5</td></tr>\n"
            "<tr><td class=\"note\">c</td><td class=\"number\"></td></tr>\n"
            "</tbody></table></div>\n");
}

TEST(HtmlPage, TableWithoutRowsHasItsHead) {
  const std::vector<HtmlColumn> columns{{"flow"}};
  EXPECT_EQ(
      html_table(columns, {}),
      "<div "
      "class=\"table\"><table>\n<thead><tr><th>flow</th></tr></thead>\n<tbody>\n</tbody></table></div>\n");
}

}  // namespace
}  // namespace surety::lab
