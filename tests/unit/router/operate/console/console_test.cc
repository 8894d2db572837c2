// SPDX-License-Identifier: BSD-3-Clause
#include "router/operate/console/console.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <system_error>

#include "tests/unit/router/operate/observe/sample_reading.h"

namespace surety {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

class ConsoleTest : public testing::Test {
 protected:
  ConsoleTest() {
    std::filesystem::create_directories(files_);
    std::ofstream(files_ / "index.html") << "<!doctype html>";
    std::ofstream(files_ / "page.js") << std::string(5000, ';');
    console_.emplace(
        files_,
        [this] {
          ++readings_;
          now_ += takes_;
          reading_.uptime_seconds = readings_;
          return reading_;
        },
        [this] { return now_; });
  }
  ~ConsoleTest() override { std::filesystem::remove_all(files_); }
  Json api(const std::string& table) { return Json::parse(console_->page("/api/" + table)->text); }

  const std::filesystem::path files_ =
      testing::TempDir() + "console-" + testing::UnitTest::GetInstance()->current_test_info()->name();
  Time now_{};
  Duration takes_{};
  int readings_ = 0;
  Reading reading_ = test::sample_reading();
  std::optional<Console> console_;
};

TEST_F(ConsoleTest, ServesItsFiles) {
  EXPECT_EQ(console_->page("/")->text, "<!doctype html>");
  EXPECT_EQ(console_->page("/")->type, "text/html; charset=utf-8");
  EXPECT_EQ(console_->page("/page.js")->type, "text/javascript; charset=utf-8");
  EXPECT_LT(console_->page("/page.js")->gzipped.size(), 100u);
  EXPECT_EQ(readings_, 0);
}

TEST_F(ConsoleTest, ServesNothingElse) {
  for (const char* path : {"", "/index.html", "/other.js", "/../page.js", "//page.js", "/api", "/api/nothing",
                           "/api/ports/", "/api/../ports"})
    EXPECT_EQ(console_->page(path), nullptr) << path;
}

TEST_F(ConsoleTest, WithoutFilesThereIsNone) {
  try {
    Console(files_ / "none", {}, {});
    FAIL();
  } catch (const std::system_error& e) {
    EXPECT_THAT(e.what(), HasSubstr((files_ / "none").string()));
  }
}

TEST_F(ConsoleTest, TablesAreThoseOfShow) {
  EXPECT_EQ(api(""), Json(kTables));
  for (const std::string_view name : kTables) {
    const Json shown = api(std::string(name));  // takes a reading first
    EXPECT_EQ(shown, table(reading_, name)) << name;
  }
  EXPECT_EQ(api("sold"), api("commitments")) << "an alias";
  EXPECT_THAT(
      console_->page("/api/ports")->headers,
      ElementsAre(Pair(testing::StrEq("Surety-Uptime"), "1.000"), Pair(testing::StrEq("Surety-Rows"), "2")));
}

TEST_F(ConsoleTest, TablesOfNoReadingAreBesideThem) {
  Json rows = Json::array({{{"text", "the link is up"}}});
  Console console(
      files_, [this] { return reading_; }, [this] { return now_; }, {{"events", [&] { return rows; }}});
  EXPECT_EQ(Json::parse(console.page("/api/")->text).back(), "events");
  EXPECT_EQ(Json::parse(console.page("/api/events")->text), rows);
  now_ += 10s;
  rows = nullptr;  // there is no time for it
  EXPECT_EQ(Json::parse(console.page("/api/events")->text), Json::array());
}

TEST_F(ConsoleTest, OneReadingASecondIsForAll) {
  const auto first = console_->page("/api/ports");
  now_ += 999ms;
  EXPECT_EQ(console_->page("/api/ports"), first);
  console_->page("/api/queues");
  EXPECT_EQ(readings_, 1);
  now_ += 1ms;
  EXPECT_NE(console_->page("/api/ports"), first);
  EXPECT_EQ(readings_, 2);
}

TEST_F(ConsoleTest, WhatWasSlowToMakeIsKeptForLonger) {
  takes_ = 500ms;
  console_->page("/api/ports");  // done at 500 ms: a tenth of the time until 5 s
  now_ = Time(4999ms);
  console_->page("/api/ports");
  console_->page("/api/queues");
  EXPECT_EQ(readings_, 1);
  now_ = Time(5s);
  console_->page("/api/ports");
  EXPECT_EQ(readings_, 2);
}

TEST_F(ConsoleTest, TheSameRowsHaveTheSameTag) {
  const auto first = console_->page("/api/ports")->tag;
  now_ += 1s;
  EXPECT_EQ(console_->page("/api/ports")->tag, first);
  now_ += 1s;
  ++reading_.ports[0].counters.rx_packets;
  EXPECT_NE(console_->page("/api/ports")->tag, first);
}

TEST_F(ConsoleTest, OfALongTableThereIsTheBeginning) {
  reading_.domains.assign(20'001, {.name = "d", .alpha = 0.5});
  EXPECT_EQ(api("domains").size(), 20'000u);
  EXPECT_EQ(console_->page("/api/domains")->headers.back().second, "20001");
}

TEST_F(ConsoleTest, AnyNameIsJson) {
  reading_.services[0].name = "\"<script>\n\xff\U0001F600";
  EXPECT_EQ(api("services")[0]["name"], "\"<script>\n\xef\xbf\xbd\U0001F600");
}

}  // namespace
}  // namespace surety
