// SPDX-License-Identifier: BSD-3-Clause
#include "router/operate/observe/reading_merge.h"

#include <gtest/gtest.h>

namespace surety {
namespace {

QueueReading queue_of(const std::string& interface, std::uint64_t packets, std::uint64_t bytes,
                      std::uint64_t dropped) {
  QueueReading q;
  q.interface = interface;
  q.counters[0].departures = packets;
  q.counters[0].departed_bytes = bytes;
  q.counters[1].departures = packets;
  q.counters[1].departed_bytes = bytes;
  q.counters[1].forced_drops = dropped;
  return q;
}

InterfaceReading interface_of(const std::string& name, std::optional<double> shape, std::size_t members = 0) {
  InterfaceReading i;
  i.name = name;
  i.customer = name + "-inc";
  i.members = members;
  i.shape_bytes_per_second = shape;
  return i;
}

TEST(ShaperMinutes, HaveWhatPassedSinceTheLastOne) {
  const std::vector<InterfaceReading> interfaces{
      interface_of("acme", 1e6), interface_of("free", std::nullopt), interface_of("homes", 2e6, 9),
      interface_of("homes.3", 2e6), interface_of("idle", 1e6)};
  Reading workers;
  workers.interface_queues = {queue_of("acme", 5, 500, 0), queue_of("acme", 5, 500, 2),
                              queue_of("free", 1, 1, 1), queue_of("homes", 9, 9, 9),
                              queue_of("idle", 0, 0, 0)};
  workers.member_queues = {queue_of("homes.3", 1, 90, 0)};
  ShaperMinutes minutes;
  const auto first = minutes.take(interfaces, workers);
  ASSERT_EQ(first.size(), 2u);
  EXPECT_EQ(first[0].customer, "acme-inc");
  EXPECT_EQ(first[0].service, "shaper");
  EXPECT_EQ(first[0].contract, "acme");
  EXPECT_TRUE(first[0].down);
  EXPECT_EQ(first[0].tally.committed_bytes_per_second, 1e6);
  EXPECT_EQ(first[0].tally.delivered_in_bytes, 1000u);
  EXPECT_EQ(first[0].tally.delivered_out_bytes, 1000u);
  EXPECT_EQ(first[0].tally.lost_packets, 2u);
  EXPECT_EQ(first[0].tally.offered_bytes, 2200u) << "two of 100 bytes were dropped";
  EXPECT_EQ(first[1].contract, "homes.3");
  EXPECT_TRUE(minutes.take(interfaces, workers).empty());
  workers.interface_queues[0] = queue_of("acme", 1, 40, 0);  // it has begun again, as the other is: 4 in all
  workers.interface_queues[1] = queue_of("acme", 1, 40, 0);
  EXPECT_EQ(minutes.take(interfaces, workers).at(0).tally.delivered_in_bytes, 80u);
}

// The queues of a tag keep their counters when it gets a plan of its own, and another name.
TEST(ShaperMinutes, AnotherNameOfATagHasWhatPassedUnderIt) {
  InterfaceReading member = interface_of("homes.7", 2e6), smith = interface_of("smith", 1e6);
  member.of = smith.of = "homes";
  member.tags = smith.tags = "200.7";
  Reading before, after;
  before.member_queues = {queue_of("homes.7", 10, 1000, 0)};
  after.interface_queues = {queue_of("smith", 12, 1200, 0)};
  ShaperMinutes minutes;
  minutes.take(std::vector{member}, before);
  const auto rows = minutes.take(std::vector{smith}, after);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].tally.delivered_in_bytes, 200u);
  after.interface_queues.clear();
  after.member_queues = {queue_of("homes.7", 13, 1300, 0)};
  EXPECT_EQ(minutes.take(std::vector{member}, after).at(0).tally.delivered_in_bytes, 100u);
}

}  // namespace
}  // namespace surety
