// SPDX-License-Identifier: BSD-3-Clause
#include "router/operate/observe/events.h"

#include <gmock/gmock.h>

#include <thread>

namespace surety {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;

struct Bed {
  Time now{};
  UnixTime wall{1'764'000'000'123ms};
  std::vector<std::string> written{};
  EventLog log{[this] {
                 return EventTime{now, wall};
               },
               [this](const StampedEvent& e) { written.push_back(e.event.text); }};

  void add(EventKind kind, const std::string& text) { log.add({EventLevel::notice, kind, text, {}}); }
};

TEST(OneLine, JoinsErrorsAndLeavesOutTheLinesThatTheyQuote) {
  EXPECT_EQ(one_line("a: error: x\n    line of a\n    ^\nb: error: y\n"), "a: error: x; b: error: y");
  EXPECT_EQ(one_line("a sentence"), "a sentence");
  EXPECT_EQ(one_line("\n"), "");
}

TEST(EventLog, SaysAndKeepsWhatIsAdded) {
  Bed bed;
  bed.log.add(
      {EventLevel::warning, EventKind::link, "port wan0: link down", {{"port", "wan0"}, {"up", false}}});
  EXPECT_THAT(bed.written, ElementsAre("port wan0: link down"));
  bed.now += 1500ms;
  const Json rows = bed.log.rows();
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0], Json({{"number", 1U},
                           {"time", "2025-11-24T16:00:00.123Z"},
                           {"age_seconds", 1.5},
                           {"level", "warning"},
                           {"kind", "link"},
                           {"text", "port wan0: link down"},
                           {"fields", {{"port", "wan0"}, {"up", false}}}}));
}

TEST(EventLog, EveryKindHasItsName) {
  EXPECT_EQ(name(EventKind::log), "log");
  EXPECT_EQ(name(EventKind::neighbor), "neighbor");
  EXPECT_EQ(name(EventKind::promise_missed), "promise_missed");
  EXPECT_EQ(name(EventKind::attack_limited), "attack_limited");
}

TEST(EventLog, KeepsTheLastThousand) {
  Bed bed;
  for (int i = 0; i < 1100; ++i) {
    bed.add(EventKind::link, std::to_string(i));
    bed.now += 1s;
  }
  const Json rows = bed.log.rows();
  EXPECT_EQ(rows.size(), EventLog::kKept);
  EXPECT_EQ(rows.front()["text"], "100");
  EXPECT_EQ(rows.front()["number"], 101U);
  EXPECT_EQ(rows.back()["text"], "1099");
  EXPECT_EQ(bed.log.forgotten(), 100U);
}

TEST(EventLog, PlainSentencesAreKeptFromWarningsOn) {
  Bed bed;
  bed.log.add({EventLevel::info, EventKind::log, "read in 1 ms", {}});
  bed.log.add({EventLevel::warning, EventKind::log, "no twin", {}});
  EXPECT_EQ(bed.written.size(), 2U);
  EXPECT_EQ(bed.log.rows().size(), 1U);
  EXPECT_EQ(bed.log.rows()[0]["text"], "no twin");
}

TEST(EventLog, AFloodOfOneKindIsLimitedAndSaid) {
  Bed bed;
  for (int i = 0; i < 1000; ++i) bed.add(EventKind::link, "flap");
  bed.add(EventKind::reload, "reloaded");
  ASSERT_EQ(bed.written.size(), EventLog::kAtOnce + 1) << "others are not held up";
  EXPECT_EQ(bed.written.back(), "reloaded");
  bed.log.settle();
  EXPECT_EQ(bed.written.size(), EventLog::kAtOnce + 1) << "there is no room yet";
  bed.now += 1s;
  bed.log.settle();
  EXPECT_EQ(bed.written.back(), "900 more events of kind link omitted: they came too fast");
  bed.log.settle();
  EXPECT_EQ(bed.written.size(), EventLog::kAtOnce + 2) << "said once";
}

TEST(EventLog, WhatWasLeftOutIsSaidBeforeTheNext) {
  Bed bed;
  for (int i = 0; i < 101; ++i) bed.add(EventKind::link, "flap");
  bed.now += 1s;
  bed.add(EventKind::link, "last");
  ASSERT_EQ(bed.written.size(), 102U);
  EXPECT_EQ(bed.written[100], "1 more events of kind link omitted: they came too fast");
  EXPECT_EQ(bed.written[101], "last");
}

TEST(EventLog, AWallClockThatIsSetBackChangesNoOrder) {
  Bed bed;
  bed.add(EventKind::link, "first");
  bed.now += 1s;
  bed.wall -= 1h;
  bed.add(EventKind::link, "second");
  const Json rows = bed.log.rows();
  EXPECT_EQ(rows[0]["text"], "first");
  EXPECT_EQ(rows[1]["text"], "second");
  EXPECT_EQ(rows[1]["time"], "2025-11-24T15:00:00.123Z");
  EXPECT_EQ(rows[0]["age_seconds"], 1.0);
  for (int i = 0; i < 100; ++i) bed.add(EventKind::link, "flap");
  bed.wall -= 24h;
  bed.now += 10s;
  bed.add(EventKind::link, "after");
  EXPECT_EQ(bed.written.back(), "after") << "the limit goes by the other clock";
}

TEST(EventLog, LongTextsAreCutBetweenCharacters) {
  Bed bed;
  std::string emoji;
  for (int i = 0; i < 10'000; ++i) emoji += "\U0001F600";
  Json fields = {{"name", emoji}};
  for (int i = 0; i < 100; ++i) fields["f" + std::to_string(i)] = i;
  bed.log.add({EventLevel::notice, EventKind::link, "port " + emoji, fields});
  const Json row = bed.log.rows()[0];
  const auto text = row["text"].get<std::string>(), field = row["fields"]["name"].get<std::string>();
  EXPECT_EQ(text.size(), EventLog::kMaxText);
  EXPECT_TRUE(text.ends_with("\U0001F600..."));
  EXPECT_LE(field.size(), EventLog::kMaxField);
  EXPECT_TRUE(field.ends_with("\U0001F600..."));
  EXPECT_EQ(row["fields"].size(), EventLog::kMaxFields);
  EXPECT_NO_THROW(std::ignore = row.dump());
}

TEST(EventLog, AnyThreadMayAdd) {
  Bed bed;
  const auto add = [&] {
    for (int i = 0; i < 40; ++i) bed.add(EventKind::link, "flap");
  };
  std::thread a(add), b(add);
  a.join();
  b.join();
  const Json rows = bed.log.rows();
  ASSERT_EQ(rows.size(), 80U);
  for (std::size_t i = 0; i < 80; ++i) EXPECT_EQ(rows[i]["number"], i + 1);
}

}  // namespace
}  // namespace surety
