// SPDX-License-Identifier: BSD-3-Clause
// Section `signalling`; what is wrong with it stands in tests/unit/broken/signalling*.yaml.
#include <gtest/gtest.h>

#include "config/address.h"
#include "config/parse.h"

namespace surety::config {
namespace {

using Mode = Signalling::Mode;

Signalling signalling(const std::string& value, const std::string& role = "core") {
  const auto result = parse("version: 1\nrouter: {id: 192.0.2.2, role: " + role +
                                "}\nports: {a: {device: null}}\nsignalling: " + value + "\n",
                            "dir/f.yaml");
  for (const auto& d : result.diagnostics) ADD_FAILURE() << d.format();
  return result.config ? result.config->signalling : Signalling{};
}

TEST(ParseSignalling, OffInOneWord) {
  EXPECT_EQ(signalling("off").mode, Mode::off);
  EXPECT_EQ(signalling("no").mode, Mode::off);
  EXPECT_EQ(signalling("{mode: off}").mode, Mode::off);
}

TEST(ParseSignalling, ModesAndTheKeyFileBesideTheConfiguration) {
  EXPECT_EQ(signalling("{mode: act, key_file: signal.key}").mode, Mode::act);
  EXPECT_EQ(signalling("{mode: observe, key_file: signal.key}").mode, Mode::observe);
  EXPECT_EQ(signalling("{mode: act, key_file: signal.key}").key_file, "dir/signal.key");
  EXPECT_EQ(signalling("{mode: act, key_file: /etc/k}").key_file, "/etc/k");
}

TEST(ParseSignalling, DefaultsAreThoseOfTheTypes) {
  const auto s = signalling("{mode: act, key_file: k}");
  EXPECT_EQ(s.max_age, std::chrono::seconds(10));
  EXPECT_EQ(s.report, Signalling::Report::samples);
  EXPECT_EQ(s.queue_limit, 1000u);
  EXPECT_EQ(s.source_limit, 10'000u);
  EXPECT_TRUE(s.borders.empty());
}

TEST(ParseSignalling, AgeAndLimits) {
  const auto s =
      signalling("{mode: act, key_file: k, max_age: 500 ms, queue_limit: 20, source_limit: 1000000}");
  EXPECT_EQ(s.max_age, std::chrono::milliseconds(500));
  EXPECT_EQ(s.queue_limit, 20u);
  EXPECT_EQ(s.source_limit, 1'000'000u);
}

TEST(ParseSignalling, Report) {
  EXPECT_EQ(signalling("{mode: act, key_file: k, report: events}").report, Signalling::Report::events);
  EXPECT_EQ(signalling("{mode: act, key_file: k, report: samples}").report, Signalling::Report::samples);
}

TEST(ParseSignalling, BordersOfBothFamilies) {
  const auto s = signalling(
      "{mode: act, key_file: k, borders: [{source: 10.1.0.0/16, border: 192.0.2.1}, "
      "{source: 10.1.7.0/24, border: 192.0.2.7}, {source: '2001:db8:1::/48', border: '2001:db8::1'}]}");
  ASSERT_EQ(s.borders.size(), 3u);
  EXPECT_EQ(to_string(s.borders[0].source), "10.1.0.0/16");
  EXPECT_EQ(to_string(s.borders[0].border), "192.0.2.1");
  EXPECT_EQ(to_string(s.borders[1].source), "10.1.7.0/24");
  EXPECT_EQ(to_string(s.borders[2].source), "2001:db8:1::/48");
  EXPECT_EQ(to_string(s.borders[2].border), "2001:db8::1");
}

TEST(ParseSignalling, ABorderNeedsNoBordersToObey) {
  EXPECT_EQ(signalling("{mode: act, key_file: k}", "border").mode, Mode::act);
}

TEST(ParseSignalling, ARouterThatDoesNotSignalNeedsNoId) {
  EXPECT_TRUE(parse("version: 1\nports: {a: {device: null}}\nsignalling: {mode: off}\n", "f").ok());
}

}  // namespace
}  // namespace surety::config
