// SPDX-License-Identifier: BSD-3-Clause
#include "config/text/quantity.h"

#include <gtest/gtest.h>

namespace surety::config {
namespace {

using namespace surety::literals;

template <class T>
struct Case {
  const char* text;
  T value;
};

TEST(ParseRate, TakesEveryUnit) {
  const Case<std::uint64_t> cases[] = {
      {"1 bit/s", 1},
      {"800 kbit/s", 800'000},
      {"34 Mbit/s", 34'000'000},
      {"1 Gbit/s", 1'000'000'000},
      {"1 Tbit/s", 1'000'000'000'000},
      {"5 b/s", 5},
      {"5 kb/s", 5000},
      {"5 Mb/s", 5'000'000},
      {"5 Gb/s", 5'000'000'000},
      {"3 B/s", 24},
      {"3 kB/s", 24'000},
      {"3 MB/s", 24'000'000},
      {"3 GB/s", 24'000'000'000},
      {"34Mbit/s", 34'000'000},
      {"  34   Mbit/s ", 34'000'000},
      {"0 bit/s", 0},
  };
  for (const auto& c : cases) EXPECT_EQ(parse_rate(c.text).value, Rate::bits_per_second(c.value)) << c.text;
}

TEST(ParseRate, FractionsAreExactAndRoundHalfUpInTheLastBit) {
  EXPECT_EQ(parse_rate("30.792 Mbit/s").value, 30'792'000_bps);
  EXPECT_EQ(parse_rate("1.5 kbit/s").value, 1500_bps);
  EXPECT_EQ(parse_rate("0.000000001 Gbit/s").value, 1_bps);
  EXPECT_EQ(parse_rate("1.4 bit/s").value, 1_bps);
  EXPECT_EQ(parse_rate("1.5 bit/s").value, 2_bps);
  // 2^53 + 1 kbit/s would lose its last digit in a double.
  EXPECT_EQ(parse_rate("0.123456789012345678 Tbit/s").value, 123'456'789'012_bps);
}

TEST(RateText, IsAWholeNumberOfTheLargestUnit) {
  const auto text = [](const char* rate) { return rate_text(parse_rate(rate).value.value()); };
  EXPECT_EQ(rate_text(Rate{}), "0 bit/s");
  for (const auto* same : {"1 bit/s", "1001 bit/s", "256 kbit/s", "34 Mbit/s", "1500 Mbit/s", "1 Gbit/s"})
    EXPECT_EQ(text(same), same);
  EXPECT_EQ(text("1 Tbit/s"), "1000 Gbit/s");
  EXPECT_EQ(text("0.5 Mbit/s"), "500 kbit/s");
}

TEST(ParseRate, ErrorsSayWhatToWrite) {
  EXPECT_EQ(parse_rate("34").error, "`34` has no unit; write a rate like `34 Mbit/s`");
  EXPECT_EQ(parse_rate("34 mbit/s").error, "`mbit/s` is not a unit of a rate; did you mean `Mbit/s`?");
  EXPECT_EQ(parse_rate("-34 Mbit/s").error, "`-34 Mbit/s` is negative; write a rate like `34 Mbit/s`");
  EXPECT_EQ(parse_rate("1.1 Tbit/s").error, "`1.1 Tbit/s` is too large; a rate is at most 1 Tbit/s");
  EXPECT_EQ(parse_rate("18446744073709551616 Gbit/s").error,
            "`18446744073709551616 Gbit/s` has too many digits for a rate; write it like `34 Mbit/s`");
  EXPECT_EQ(parse_rate("nan").error, "`nan` is not a rate; write it like `34 Mbit/s`");
  for (const auto* text :
       {"", " ", "inf", "Mbit/s", "1e6 bit/s", "1,5 Mbit/s", "1.2.3 Mbit/s", "0x10 bit/s", "+1 bit/s"}) {
    EXPECT_FALSE(parse_rate(text).value) << text;
    EXPECT_NE(parse_rate(text).error, "") << text;
  }
}

TEST(ParseBytes, TakesDecimalAndBinaryUnits) {
  const Case<std::uint64_t> cases[] = {
      {"1500 B", 1500},        {"10 kB", 10'000}, {"1 MB", 1'000'000},
      {"1 GB", 1'000'000'000}, {"1 KiB", 1024},   {"1 MiB", 1 << 20},
      {"1 GiB", 1 << 30},      {"0.5 KiB", 512},  {"1000 GB", 1'000'000'000'000},
  };
  for (const auto& c : cases) EXPECT_EQ(parse_bytes(c.text).value, Bytes(c.value)) << c.text;
  EXPECT_EQ(parse_bytes("1001 GB").error, "`1001 GB` is too large; a size is at most 1 TB");
  EXPECT_EQ(parse_bytes("10").error, "`10` has no unit; write a size like `10 kB`");
}

TEST(ParseDuration, TakesEveryUnit) {
  const Case<Duration> cases[] = {
      {"7 ns", 7ns},   {"7 us", 7us},    {"30 ms", 30ms},         {"100 s", 100s},
      {"2 min", 2min}, {"1.5 h", 90min}, {"0.0000000005 s", 1ns},
  };
  for (const auto& c : cases) EXPECT_EQ(parse_duration(c.text).value, c.value) << c.text;
  EXPECT_EQ(parse_time("5m").value, parse_duration("5 min").value);
  EXPECT_EQ(parse_time("30 m").value, parse_duration("30 min").value);
  EXPECT_EQ(parse_time("1.5h").value, parse_duration("90 min").value);
  EXPECT_FALSE(parse_time("m").value || parse_time("5 km").value || parse_duration("5m").value);
  EXPECT_EQ(parse_duration("30").error, "`30` has no unit; write a duration like `30 ms`");
  EXPECT_EQ(parse_duration("1001 h").error, "`1001 h` is too large; a duration is at most 1000 h");
}

TEST(ParsePackets, WholeOnes) {
  EXPECT_EQ(parse_packets("1 packet").value, 1u);
  EXPECT_EQ(parse_packets("100 packets").value, 100u);
  EXPECT_EQ(parse_packets("4294967295 packets").value, 4294967295u);
  EXPECT_EQ(parse_packets("4294967296 packets").error,
            "`4294967296 packets` is too large; a number of packets is at most 4294967295 packets");
  EXPECT_EQ(parse_packets("1.5 packets").error, "`1.5 packets` is not a whole number of packets");
  EXPECT_EQ(parse_packets("100").error, "`100` has no unit; write a number of packets like `100 packets`");
}

TEST(ParseDepth, BytesOrPackets) {
  EXPECT_EQ(parse_depth("10 kB").value, Depth::bytes(10'000));
  EXPECT_EQ(parse_depth("10 packets").value, Depth::packets(10));
  EXPECT_EQ(parse_depth("1 packet").value, Depth::packets(1));
  EXPECT_EQ(parse_depth("10").error, "`10` has no unit; write a depth like `10 kB` or `100 packets`");
  EXPECT_EQ(parse_depth("10 pakets").error,
            "`pakets` is not a unit of a number of packets; did you mean `packets`?");
}

TEST(ParseFraction, PlainOrPercent) {
  EXPECT_EQ(parse_fraction("0.04").value, 0.04);
  EXPECT_EQ(parse_fraction("4 %").value, 0.04);
  EXPECT_EQ(parse_fraction("0.5%").value, 0.005);
  EXPECT_EQ(parse_fraction("0").value, 0.0);
  EXPECT_EQ(parse_fraction("1").value, 1.0);
  EXPECT_EQ(parse_fraction("101 %").error, "`101 %` is too large; a fraction is at most 1");
  EXPECT_EQ(parse_fraction("-0.1").error, "`-0.1` is negative; write a fraction like `0.04` or `4 %`");
  EXPECT_EQ(parse_fraction("0.1 kB").error, "`0.1 kB` is not a fraction; write it like `0.04` or `4 %`");
}

TEST(ParseRatio, WholeMillionths) {
  EXPECT_EQ(parse_ratio("0.02").value, Ratio::millionths(20'000));
  EXPECT_EQ(parse_ratio("40 %").value, Ratio::millionths(400'000));
  EXPECT_EQ(parse_ratio("0.0000005").value, Ratio::millionths(1));
  EXPECT_EQ(parse_ratio("10").value, Ratio::millionths(10'000'000));
  EXPECT_EQ(parse_ratio("10.1").error, "`10.1` is too large; a ratio is at most 10");
}

TEST(ParseNumber, PlainDecimal) {
  EXPECT_EQ(parse_number("20").value, 20.0);
  EXPECT_EQ(parse_number("0.25").value, 0.25);
  EXPECT_EQ(parse_number("20 packets").error, "`20 packets` is not a number; write it like `20`");
}

TEST(ParseInteger, InItsRange) {
  EXPECT_EQ(parse_integer("68", 68, 9216).value, 68u);
  EXPECT_EQ(parse_integer("9216", 68, 9216).value, 9216u);
  for (const auto* text : {"67", "9217", "-68", "68.5", "68 B", "x", "99999999999999999999"}) {
    EXPECT_EQ(parse_integer(text, 68, 9216).error,
              std::string("`") + text + "` is not a whole number from 68 to 9216");
  }
}

TEST(ParseFlag, AsYaml11) {
  for (const auto* text : {"on", "true", "yes", "On", "TRUE"})
    EXPECT_EQ(parse_flag(text).value, true) << text;
  for (const auto* text : {"off", "false", "no", "Off", "FALSE"})
    EXPECT_EQ(parse_flag(text).value, false) << text;
  EXPECT_EQ(parse_flag("1").error, "`1` is neither `on` nor `off`");
}

}  // namespace
}  // namespace surety::config
