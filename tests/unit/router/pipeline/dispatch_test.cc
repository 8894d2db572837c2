// SPDX-License-Identifier: BSD-3-Clause
#include "router/pipeline/dispatch.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "tests/unit/router/pipeline/data_plane.h"

namespace surety {
namespace {

using test::Udp;
using test::udp_frame;

constexpr std::uint64_t kSeed = 7;

frames::Octets between(std::uint32_t source, std::uint32_t destination, std::uint16_t from, std::uint16_t to,
                       std::uint16_t vlan = 0) {
  Udp u;
  u.source = source;
  u.destination = destination;
  u.from = from;
  u.to = to;
  u.vlan = vlan;
  return udp_frame(u);
}

TEST(Dispatch, BothDirectionsOfAFlowComeToOneWorker) {
  const Dispatch dispatch(Spread::flow, 4, kSeed);
  for (std::uint16_t i = 0; i < 100; ++i) {
    const auto there = between(0x0a010001 + i, 0x0a020001, 1000, static_cast<std::uint16_t>(5000 + i));
    const auto back = between(0x0a020001, 0x0a010001 + i, static_cast<std::uint16_t>(5000 + i), 1000);
    EXPECT_EQ(dispatch(there), dispatch(back)) << i;
  }
}

TEST(Dispatch, FlowsAreSpreadEvenly) {
  const Dispatch dispatch(Spread::flow, 3, kSeed);
  std::map<std::size_t, int> count;
  for (std::uint32_t i = 0; i < 3000; ++i)
    ++count[dispatch(
        between(0x0a010001 + i / 50, 0x0a020001, static_cast<std::uint16_t>(1000 + i % 50), 80))];
  ASSERT_EQ(count.size(), 3u);
  // Binomial, n = 3000, p = 1/3: a deviation of 150 is more than five sigma.
  for (const auto& [worker, n] : count) EXPECT_NEAR(n, 1000, 150) << worker;
}

TEST(Dispatch, TagsDoNotMatter) {
  const Dispatch dispatch(Spread::flow, 8, kSeed);
  for (std::uint16_t i = 0; i < 50; ++i)
    EXPECT_EQ(dispatch(between(1000u + i, 2, i, 80, 17)), dispatch(between(1000u + i, 2, i, 80)));
}

TEST(Dispatch, BySourceKeepsAContractTogether) {
  const Dispatch dispatch(Spread::source, 4, kSeed);
  std::set<std::size_t> workers;
  for (std::uint32_t customer = 0; customer < 64; ++customer) {
    const std::size_t home = dispatch(between(0x0a010000 + customer, 1, 1, 1));
    workers.insert(home);
    for (std::uint16_t flow = 0; flow < 20; ++flow)
      EXPECT_EQ(dispatch(between(0x0a010000 + customer, 0xc6336400u + flow, flow, 443)), home);
  }
  EXPECT_EQ(workers.size(), 4u);
}

TEST(Dispatch, ByDestinationLikewise) {
  const Dispatch dispatch(Spread::destination, 4, kSeed);
  for (std::uint16_t flow = 0; flow < 20; ++flow)
    EXPECT_EQ(dispatch(between(0x0a010000u + flow, 0x0a020001, flow, 443)),
              dispatch(between(1, 0x0a020001, 1, 1)));
}

TEST(Dispatch, NoneIsTheFirstWorker) {
  const Dispatch dispatch(Spread::none, 4, kSeed);
  for (std::uint16_t i = 0; i < 20; ++i) EXPECT_EQ(dispatch(between(i, 2, i, 80)), 0u);
}

// All fragments of a datagram, the first one among them, come to one worker.
TEST(Dispatch, FragmentsGoByTheirAddresses) {
  const Dispatch dispatch(Spread::flow, 8, kSeed);
  auto first = between(1, 2, 1000, 80), second = between(1, 2, 4711, 99);
  first[20] = 0x20;  // more fragments
  second[21] = 8;    // offset 64
  EXPECT_EQ(dispatch(first), dispatch(second));
}

// Whatever the bytes: no read beyond them, and always a worker that is there.
TEST(Dispatch, ShortAndStrangeFramesGoSomewhere) {
  const Dispatch dispatch(Spread::flow, 4, kSeed);
  const auto whole = between(1, 2, 3, 4, 17);
  for (std::size_t n = 0; n <= whole.size(); ++n) {
    const frames::Octets cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(n));
    EXPECT_LT(dispatch(cut), 4u) << n;
  }
  frames::Octets arp(60, 0);
  arp[12] = 8;
  arp[13] = 6;
  EXPECT_EQ(dispatch(arp), 0u);
}

TEST(Dispatch, Ipv6FlowsToo) {
  const Dispatch dispatch(Spread::flow, 4, kSeed);
  std::set<std::size_t> workers;
  for (std::uint8_t i = 0; i < 64; ++i) {
    frames::Octets frame(14 + 48, 0);
    frame[12] = 0x86;
    frame[13] = 0xdd;
    frame[14] = 0x60;
    frame[14 + 6] = 17;
    frame[14 + 8] = 0x20;
    frame[14 + 23] = i;
    frame[14 + 24] = 0x20;
    workers.insert(dispatch(frame));
  }
  EXPECT_EQ(workers.size(), 4u);
}

}  // namespace
}  // namespace surety
