// SPDX-License-Identifier: BSD-3-Clause
// Files that nobody writes by hand: every one is answered, none crashes or hangs (ctest's own limit tells).
#include <gtest/gtest.h>

#include "config/parse.h"
#include "config/text/document.h"

namespace surety::config {
namespace {

std::string repeated(std::string_view part, std::size_t bytes) {
  std::string s;
  while (s.size() < bytes) s += part;
  return s;
}

bool refused(const std::string& text) {
  const auto result = parse(text, "f");
  EXPECT_FALSE(result.diagnostics.empty());
  return !result.ok();
}

constexpr std::size_t kLarge = 300'000;

TEST(Hostile, TenMegabytesAreRefusedUnread) {
  EXPECT_TRUE(refused(std::string(10'000'000, '[')));
}

TEST(Hostile, EndlessPunctuation) {
  for (const auto* part : {"[", "{", "- ", "? ", "a: ", "&a ", "*a ", "!", "\"", "'", "|", ">", "%", "\t",
                           ":", ", ", "---\n", "a: b: "}) {
    EXPECT_TRUE(refused(repeated(part, 20'000))) << part;
  }
}

TEST(Hostile, EndlessLists) {
  EXPECT_TRUE(refused("version: 1\nworkers: [" + repeated("1,", kLarge) + "1]\n"));
  EXPECT_TRUE(refused("version: 1\nroutes:\n" + repeated("- {to: x}\n", kLarge)));
  EXPECT_TRUE(refused("version: 1\nports: {a: {device: null}}\nclassify:\n" +
                      repeated("- {match: {port: b}, service: c}\n", kLarge)));
}

TEST(Hostile, ThousandsOfUnknownKeysAndNames) {
  std::string keys, ports;
  for (int i = 0; i < 20'000; ++i) {
    keys += "key" + std::to_string(i) + ": 1\n";
    ports += "  port" + std::to_string(i) + ": {device: null, queues: nothing" + std::to_string(i) + "}\n";
  }
  EXPECT_TRUE(refused(keys));
  EXPECT_TRUE(refused("version: 1\nports:\n" + ports));
}

TEST(Hostile, WideAliases) {
  const std::string rules =
      "version: 1\nports: {a: {device: null}}\nclassify:\n  - &r {match: {port: b}, service: s}\n";
  const auto result = parse(rules + repeated("  - *r\n", kLarge), "f");
  // What stands behind an alias is reported once, where it stands.
  ASSERT_EQ(result.diagnostics.size(), 2u);
  EXPECT_EQ(result.diagnostics[0].message, "there is no port `b`; there are: a");
  EXPECT_EQ(result.diagnostics[1].message, "there is no service `s`; there are none");
}

TEST(Hostile, ZeroBytesAndOtherEncodings) {
  EXPECT_TRUE(refused(std::string(1000, '\0')));
  EXPECT_TRUE(refused("\xff\xfev\0e\0r\0"));
  EXPECT_TRUE(refused("\xff\xff\xff\xff: \x80\x81\n"));
}

TEST(Hostile, CarriageReturnsAndAByteOrderMarkAreFine) {
  EXPECT_TRUE(parse("\xef\xbb\xbfversion: 1\r\nports: {a: {device: null}}\r\n", "f").ok());
}

TEST(Hostile, EveryBeginningOfAFileIsAnswered) {
  const std::string text =
      "version: 1\nports: {a: {device: null, shape: 1 Mbit/s, queues: q}}\nqueues: {q: [{name: x, dscp: "
      "[EF]}]}\n"
      "services: {s: {conditioner: police, rate: 1 Mbit/s, bucket: 4 kB}}\nclassify: [{match: {port: a}, "
      "service: s}]\n";
  ASSERT_TRUE(parse(text, "f").ok());
  for (std::size_t n = 0; n < text.size(); ++n) {
    const auto result = parse(text.substr(0, n), "f");
    EXPECT_TRUE(result.ok() || !result.diagnostics.empty()) << n;
  }
}

}  // namespace
}  // namespace surety::config
