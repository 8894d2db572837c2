// SPDX-License-Identifier: BSD-3-Clause
#include "router/operate/observe/show_command.h"

#include <gtest/gtest.h>

namespace surety {
namespace {

ShownTable table(std::uint64_t a, std::uint64_t b, bool with_b = true) {
  ShownTable t{{text("PORT", "name"), growing<count>("RX", "rx"),
                growing<number<human::bytes>>("BYTES", "in.bytes"), count("DEPTH", "depth")},
               {{{"name", "a"}, {"rx", a}, {"in", {{"bytes", 10 * a}}}, {"depth", 7U}}}};
  if (with_b) t.lines.push_back({{"name", "b"}, {"rx", b}, {"in", {{"bytes", 10 * b}}}, {"depth", 8U}});
  return t;
}
std::string shown(ShowRates& rates, ShownTable t, double elapsed) {
  rates.apply(t, elapsed);
  return render(t.columns, t.lines);
}

TEST(ShowRates, CountersBecomeRatesAndOthersStay) {
  ShowRates rates;
  EXPECT_EQ(shown(rates, table(100, 50), 0),
            "PORT   RX  BYTES  DEPTH\n"
            "a     100   1 kB      7\n"
            "b      50  500 B      8\n")
      << "nothing to compare it with";
  EXPECT_EQ(shown(rates, table(300, 50), 2),
            "PORT  RX/S  BYTES/S  DEPTH\n"
            "a      100     1 kB      7\n"
            "b        0      0 B      8\n");
}

TEST(ShowRates, LinesComeAndGo) {
  ShowRates rates;
  shown(rates, table(100, 0, false), 0);
  EXPECT_EQ(shown(rates, table(110, 50), 1),
            "PORT  RX/S  BYTES/S  DEPTH\n"
            "a       10    100 B      7\n"
            "b        -        -      8\n");
}

TEST(ShowRates, ACounterThatBeginsAnewIsNotNegative) {
  ShowRates rates;
  shown(rates, table(100, 0, false), 0);
  EXPECT_EQ(shown(rates, table(4, 0, false), 1),
            "PORT  RX/S  BYTES/S  DEPTH\n"
            "a        0      0 B      7\n");
}

}  // namespace
}  // namespace surety
