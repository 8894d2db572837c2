// SPDX-License-Identifier: BSD-3-Clause
#include "tests/lab/scenario/node_json.h"

#include <gtest/gtest.h>

#include "config/parse.h"

namespace surety::lab {
namespace {

std::string text(std::string_view yaml, std::initializer_list<std::string_view> without = {}) {
  const config::Document document(yaml);
  EXPECT_NE(document.root(), nullptr) << document.error();
  return json_text(*document.root(), without);
}

TEST(LabNodeJson, ScalarsAreStrings) {
  EXPECT_EQ(text("{a: 1, b: 2.5 Mbit/s, c: yes, d: \"q\\\"\", e: }"),
            R"({"a":"1","b":"2.5 Mbit/s","c":"yes","d":"q\"","e":null})");
}

TEST(LabNodeJson, ListsAndMapsKeepTheirOrder) {
  EXPECT_EQ(text("z: [1, [2], {}]\na: {y: 1, x: []}"), R"({"z":["1",["2"],{}],"a":{"y":"1","x":[]}})");
}

TEST(LabNodeJson, AliasesAreWrittenOut) {
  EXPECT_EQ(text("a: &x {k: 1}\nb: *x"), R"({"a":{"k":"1"},"b":{"k":"1"}})");
}

TEST(LabNodeJson, SomeKeysMayBeLeftOut) {
  EXPECT_EQ(text("{a: 1, b: {a: 2}, c: 3}", {"a", "c", "none"}), R"({"b":{"a":"2"}})");
  EXPECT_EQ(text("[1]", {"a"}), R"(["1"])");
}

TEST(LabNodeJson, TextThatIsNotUnicodeStaysText) {
  EXPECT_EQ(text("a: \"\xc3\xa9\""), "{\"a\":\"\xc3\xa9\"}");
}

TEST(LabNodeJson, ARouterReadsTheSameFromIt) {
  const std::string yaml =
      "version: 1\nports: {a: {device: null, shape: 2 Mbit/s}}\nmetrics: {listen: off}\n"
      "services: {s: {conditioner: police, rate: 1 Mbit/s, bucket: 10 kB, mark: {in: AF11}}}\n"
      "classify: [{match: {dscp: EF}, service: s}]\n";
  const auto from_yaml = config::parse(yaml, "r.yaml"), from_json = config::parse(text(yaml), "r.json");
  ASSERT_TRUE(from_json.ok());
  EXPECT_EQ(from_json.config->ports[0].shaper.rate, from_yaml.config->ports[0].shaper.rate);
  EXPECT_EQ(from_json.config->ports[0].device.kind, config::Device::Kind::null);
  EXPECT_EQ(from_json.config->metrics.listen, "");
  EXPECT_EQ(from_json.config->services[0].mark_in, from_yaml.config->services[0].mark_in);
  EXPECT_EQ(from_json.config->rules[0].match.dscp, from_yaml.config->rules[0].match.dscp);
}

}  // namespace
}  // namespace surety::lab
