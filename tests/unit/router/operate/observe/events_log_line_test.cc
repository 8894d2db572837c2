// SPDX-License-Identifier: BSD-3-Clause
#include "router/operate/observe/events.h"

#include <gmock/gmock.h>

#include <algorithm>

namespace surety {
namespace {

using namespace std::chrono_literals;
using Format = config::Log::Format;

StampedEvent event(const std::string& text, EventLevel level = EventLevel::warning) {
  return {{level, EventKind::link, text, {{"port", text}}}, {Time{}, UnixTime{1'764'000'000'007ms}}, 1};
}

TEST(LogLine, TextHasTimeAndLevel) {
  EXPECT_EQ(log_line(event("port wan0: link down"), Format::text, false),
            "2025-11-24T16:00:00.007Z surety: warning: port wan0: link down\n");
}

TEST(LogLine, TheJournalGetsItsNumbers) {
  EXPECT_EQ(log_line(event("a", EventLevel::error), Format::text, true), "<3>a\n");
  EXPECT_EQ(log_line(event("a", EventLevel::warning), Format::text, true), "<4>a\n");
  EXPECT_EQ(log_line(event("a", EventLevel::notice), Format::text, true), "<5>a\n");
  EXPECT_EQ(log_line(event("a", EventLevel::info), Format::text, true), "<6>a\n");
  EXPECT_EQ(log_line(event("a", EventLevel::debug), Format::text, true), "<7>a\n");
}

TEST(LogLine, JsonIsOneObjectALine) {
  EXPECT_EQ(log_line(event("wan0"), Format::json, false),
            R"({"time":"2025-11-24T16:00:00.007Z","level":"warning","kind":"link","text":"wan0",)"
            R"("fields":{"port":"wan0"}})"
            "\n");
  EXPECT_TRUE(log_line(event("wan0"), Format::json, true).starts_with("<4>{\"time\""));
}

TEST(LogLine, NoNameBreaksALine) {
  const std::string ten_thousand(10'000, '\n');
  for (const std::string name :
       {"a\"b'c\\d", "two\nlines\r\n<0>forged", "\x1b[2Jcleared", "\U0001F600", "\xff\xfe",
        "\xe2\x80\xa8next", "\xc2\x9bred", ten_thousand.c_str(), "cut \xf0\x9f\x98"})
    for (const bool journal : {false, true}) {
      const std::string text = log_line(event(name), Format::text, journal);
      EXPECT_EQ(std::ranges::count(text, '\n'), 1) << text;
      EXPECT_EQ(text.back(), '\n');
      EXPECT_EQ(text.find('\x1b'), text.npos);
      const std::string json = log_line(event(name), Format::json, false);
      EXPECT_EQ(std::ranges::count(json, '\n'), 1);
      EXPECT_FALSE(Json::parse(json, nullptr, false).is_discarded()) << json;
    }
}

TEST(Printable, WritesOutWhatATerminalWouldObey) {
  EXPECT_EQ(printable("plain \"quoted\""), "plain \"quoted\"");
  EXPECT_EQ(printable("a\nb\tc\x7f"), "a\\nb\\x09c\\x7f");
  EXPECT_EQ(printable("\xc3\xa4 \U0001F600"), "\xc3\xa4 \U0001F600");
  EXPECT_EQ(printable("\xc3"), "\\xc3") << "cut off";
  EXPECT_EQ(printable("\xc0\xaf"), "\\xc0\\xaf") << "overlong";
  EXPECT_EQ(printable("\xc2\x9b"), "\\xc2\\x9b");
  EXPECT_EQ(printable("\xe2\x80\xa8"), "\\xe2\\x80\\xa8");
}

}  // namespace
}  // namespace surety
