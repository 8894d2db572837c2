// SPDX-License-Identifier: BSD-3-Clause
#include "router/operate/subscribers/shaped_devices.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace surety {
namespace {

using testing::HasSubstr;

// As LibreQoS documents it.
const std::string kHeader =
    "Circuit ID,Circuit Name,Device ID,Device Name,Parent Node,MAC,IPv4,IPv6,Download Min Mbps,Upload Min "
    "Mbps,Download Max Mbps,Upload Max Mbps,Comment\n";

SubscriberList read(const std::string& rows) {
  const auto records = csv_records(kHeader + rows);
  EXPECT_TRUE(is_shaped_devices(records));
  return from_shaped_devices(
      records, {.prefix = "qos",
                .plan = {{"service", "home"}, {"shape", "1 Gbit/s"}, {"weight", 7}, {"queues", "down"}},
                .mark = {{"in", "AF21"}, {"out", "BE"}},
                .place = {{"port", "lan0"}}});
}

std::string reason(const std::string& rows) {
  try {
    read(rows);
  } catch (const BadList& e) {
    return e.what();
  }
  return "";
}

TEST(ShapedDevices, ACircuitIsASubscriberWithAPlanOfItsRates) {
  const auto list = read(
      "1,\"968 Circle St., Gurnee\",1,Device 1,AP_A,,\"100.64.0.1, 100.64.0.14\",,25,5,155,20,\n"
      "b/2,31 Marconi Street,2,Device 2,AP_A,,100.64.0.2,2001:db8::/56,2.5,0.1,105,18,\n"
      "1,968 Circle,3,Device 3,AP_A,,100.64.1.0/28,,25,5,155,20,\n"
      "3,,4,,,,100.64.0.3,,25,5,155,20,\n");
  ASSERT_EQ(list.all().size(), 3u);
  EXPECT_EQ(list.find("1")->terms, (Json{{"plan", "qos-25-5-155-20"},
                                         {"port", "lan0"},
                                         {"prefixes", {"100.64.0.1", "100.64.0.14", "100.64.1.0/28"}}}));
  EXPECT_EQ(list.find("b-2")->terms.at("prefixes"), (Json{"100.64.0.2", "2001:db8::/56"}));
  EXPECT_EQ(list.find("3")->line, 5u);
  EXPECT_EQ(list.plans.size(), 2u);
  EXPECT_EQ(
      list.plans.at("qos-25-5-155-20"),
      (Json{{"service", "qos-25-5-155-20"}, {"shape", "155 Mbit/s"}, {"weight", 25}, {"queues", "down"}}));
  EXPECT_EQ(list.services.at("qos-25-5-155-20"),
            (Json{{"conditioner", "trtcm"},
                  {"rate", "5 Mbit/s"},
                  {"peak", "20 Mbit/s"},
                  {"committed_burst", "62500 B"},
                  {"peak_burst", "250000 B"},
                  {"mark", {{"in", "AF21"}, {"out", "BE"}, {"red", "drop"}}}}));
  EXPECT_EQ(list.services.at("qos-2.5-0.1-105-18").at("committed_burst"), "3000 B") << "two packets";
  const std::string file = list.file_of("o");
  EXPECT_EQ(SubscriberList::from_file_of_owner(file).file_of("o"), file);
}

TEST(ShapedDevices, SaysWhatIsWrongWithALine) {
  const std::string ok = "1,,1,,,,100.64.0.1,,25,5,155,20,\n";
  EXPECT_THAT(reason(ok + "2,,1,,,,,,25,5,155,20,\n"), HasSubstr("line 3: circuit `2` has no address"));
  EXPECT_THAT(reason(ok + "2,,1,,,,100.64.0.2,,200,5,155,20,\n"), HasSubstr("line 3: a minimum"));
  EXPECT_THAT(reason(ok + "2,,1,,,,100.64.0.2,,0,5,155,20,\n"), HasSubstr("`0` is not a number of Mbit/s"));
  EXPECT_THAT(reason(ok + "2,,1,,,,100.64.0.2,,25M,5,155,20,\n"), HasSubstr("`25M`"));
  EXPECT_THAT(reason(ok + "1,,2,,,,100.64.0.2,,25,5,155,21,\n"),
              HasSubstr("circuit `1` has other rates on line 2"));
  EXPECT_THAT(reason("a b,,1,,,,100.64.0.1,,25,5,155,20,\na/b,,1,,,,100.64.0.2,,25,5,155,20,\n"),
              HasSubstr("circuits `a b` and `a/b` have the same name"));
  EXPECT_THAT(reason(ok + "2,\n"), HasSubstr("line 3: 2 fields"));
  EXPECT_THAT(reason("/x,,1,,,,100.64.0.1,,25,5,155,20,\n"), HasSubstr("line 2: `-x` cannot name"));
}

}  // namespace
}  // namespace surety
