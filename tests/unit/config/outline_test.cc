// SPDX-License-Identifier: BSD-3-Clause
#include "config/outline.h"

#include <gtest/gtest.h>

namespace surety::config {
namespace {

Outline outline(const std::string& text) {
  return outline_of(Document(text).root());
}
std::string words(const std::string& before, const std::string& after) {
  return in_words(difference(outline(before), outline(after)));
}

TEST(Outline, NamesWhatComesGoesAndChanges) {
  EXPECT_EQ(
      words("ports: {lan0: {device: null}, old: {device: null}}\nservices: {gold: {rate: 1 Mbit/s}}\n",
            "ports: {lan0: {device: null}, wan1: {device: null}}\nservices: {gold: {rate: 2 Mbit/s}}\n"),
      "ports: wan1 added, old removed; services: gold changed");
}

TEST(Outline, HowItIsWrittenIsNoMatter) {
  EXPECT_EQ(words("ports: {a: {device: null, mtu: 9000}}\nmetrics: {listen: off}\n",
                  "# a comment\nmetrics:\n  listen: off\nports:\n  a:\n    mtu: 9000\n    device: null\n"),
            "nothing has changed");
}

TEST(Outline, EntriesOfListsGoByWhatTellsThemApart) {
  EXPECT_EQ(words("routes: [{to: 10.1.0.0/16, via: 10.0.0.1}, {to: 10.2.0.0/16, via: 10.0.0.1}]\n",
                  "routes: [{to: 10.1.0.0/16, via: 10.0.0.2}, {to: 10.3.0.0/16, via: 10.0.0.1}]\n"),
            "routes: 10.3.0.0/16 added, 10.2.0.0/16 removed, 10.1.0.0/16 changed");
  EXPECT_EQ(words("neighbors: [{address: 10.0.0.1, mac: '02:00:00:00:00:01'}]\n",
                  "neighbors: [{address: 10.0.0.1, mac: '02:00:00:00:00:02'}]\n"),
            "neighbors: 10.0.0.1 changed");
  EXPECT_EQ(
      words("classify: [{match: {port: a}, service: s}]\n", "classify: [{match: {port: b}, service: s}]\n"),
      "classify: {match: {port: b}, service: s} added, {match: {port: a}, service: s} removed");
}

TEST(Outline, OrderOfAListMatters) {
  EXPECT_EQ(words("classify: [{service: a}, {service: b}]\n", "classify: [{service: b}, {service: a}]\n"),
            "classify: in another order");
  EXPECT_EQ(words("services: {a: {}, b: {}}\n", "services: {b: {}, a: {}}\n"), "nothing has changed");
}

TEST(Outline, TheSameEntryTwiceIsTwo) {
  EXPECT_EQ(words("routes: [{to: 10.1.0.0/16, via: 10.0.0.1}, {to: 10.1.0.0/16, via: 10.0.0.2}]\n",
                  "routes: [{to: 10.1.0.0/16, via: 10.0.0.1}]\n"),
            "routes: 10.1.0.0/16 (2) removed");
}

TEST(Outline, ManyAreCounted) {
  std::string after = "services: {";
  for (int i = 10; i < 30; ++i) after += (i > 10 ? ", s" : "s") + std::to_string(i) + ": {}";
  EXPECT_EQ(words("version: 1\n", "version: 1\n" + after + "}\n"),
            "services: s10, s11, s12, s13, s14 and 15 more added");
}

TEST(Outline, SectionsOfKeysAndOfOneWord) {
  EXPECT_EQ(words("metrics: {top_flows: 5}\nidle: poll\n", "metrics: {top_flows: 6}\nidle: adaptive\n"),
            "idle: adaptive added, poll removed; metrics: top_flows changed");
  EXPECT_EQ(words("", ""), "nothing has changed");
}

TEST(Outline, LongNamesAreCut) {
  const std::string text =
      words("version: 1\n", "version: 1\nclassify: [{service: " + std::string(1000, 'x') + "}]\n");
  EXPECT_LT(text.size(), 120U);
  EXPECT_TRUE(text.ends_with("xxx... added"));
}

}  // namespace
}  // namespace surety::config
