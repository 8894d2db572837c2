// SPDX-License-Identifier: BSD-3-Clause
// Eight at once is OrdinaryParser eight times.
#include "router/pipeline/wire/ordinary_eight.h"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>

#include "conditioners/rng.h"
#include "router/pipeline/wire/parse_ordinary.h"
#include "tests/unit/router/pipeline/wire/parse_verdict.h"

namespace surety {
namespace {

using namespace frames;

constexpr std::size_t kEight = OrdinaryEight::kPackets;
using Eight = std::array<Octets, kEight>;

// Copies that end where the frames end, so that a sanitizer sees the first byte read beyond them.
struct Exact {
  explicit Exact(const Eight& eight) {
    std::array<std::uint32_t, kEight> size;
    for (std::size_t i = 0; i < kEight; ++i) {
      size[i] = static_cast<std::uint32_t>(eight[i].size());
      copies[i] = std::make_unique<std::uint8_t[]>(eight[i].size());
      std::copy(eight[i].begin(), eight[i].end(), copies[i].get());
      frames[i] = copies[i].get();
    }
    sizes = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(size.data()));
  }
  std::array<std::unique_ptr<std::uint8_t[]>, kEight> copies;
  OrdinaryEight::Frames frames;
  __m256i sizes;
};

bool same(const ParsedPacket& a, const ParsedPacket& b) {
  return a.key == b.key && std::memcmp(&a.length, &b.length, 16) == 0;
}

// How many of the eight are taken. Those are ordinary and parsed alike; others are not ordinary, but where
// there are frames too short to be looked at eight at once.
int expect_agreement(const Eight& eight, const ParseContext& context) {
  const OrdinaryEight parser(context);
  const OrdinaryParser reference(context);
  const Exact exact(eight);
  std::size_t least = ~std::size_t{0};
  for (const Octets& f : eight) least = std::min(least, f.size());
  EXPECT_EQ(OrdinaryEight::reads(exact.sizes), least >= OrdinaryEight::kLeast);
  if (!OrdinaryEight::reads(exact.sizes)) return 0;
  const OrdinaryEight::Found found = parser.check(exact.frames, exact.sizes);
  EXPECT_EQ(found.v4 & found.v6, 0u);
  EXPECT_EQ(OrdinaryEight::reads6(exact.sizes), least >= OrdinaryEight::kLeast6);
  if (OrdinaryEight::reads6(exact.sizes)) {
    const OrdinaryEight::Found alone = parser.check6(exact.frames, exact.sizes);
    EXPECT_EQ(alone.v6, found.v6);
    for (std::size_t i = 0; i < kEight; ++i)
      if ((found.v6 >> i & 1) != 0) {
        EXPECT_EQ(alone.class_and_port[i], found.class_and_port[i]) << i;
      }
  }
  int taken = 0;
  for (std::size_t i = 0; i < kEight; ++i) {
    ParsedPacket got, wanted;
    std::memset(static_cast<void*>(&got), 0xee, sizeof got);  // of another packet
    const bool ordinary = reference(exact.frames[i], eight[i].size(), wanted);
    bool takes = (found.v4 >> i & 1) != 0;
    if (takes) parser.write4(exact.frames[i], found.class_and_port[i], got);
    if ((found.v6 >> i & 1) != 0) takes = parser.write6(exact.frames[i], found.class_and_port[i], got);
    if (takes) {
      EXPECT_TRUE(ordinary && same(got, wanted)) << i;
    } else {
      EXPECT_TRUE(!ordinary || (wanted.v6 && least < OrdinaryEight::kLeast6)) << i;
    }
    taken += takes;
  }
  return taken;
}

std::vector<Octets> samples() {
  Address6 loopback{}, low{}, high = kSource6;
  loopback[15] = 1;
  low[0] = 1;
  high[0] = 0xfd;
  const V6 marked{.traffic_class = 0xb9, .hop_limit = 3};
  return {
      ethernet(kIpv4) + ip4(17, udp(5001, 5002, 18)),
      ethernet(kIpv4) + ip4(6, tcp(5001, 5002, 9), {.tos = 0xb9, .ttl = 7}),
      ethernet(kIpv4) + ip4(6, tcp(1, 2, 20, 9)),
      pad(ethernet(kIpv4) + ip4(17, udp(1, 2, 0)), 60),
      ethernet(kIpv4) + ip4(17, udp(1, 2, 18), {.place = 0x2000}),
      ethernet(kIpv4) + ip4(17, udp(1, 2, 18), {.place = 0x8000}),
      ethernet(kIpv4) + ip4(17, udp(1, 2, 18), {.options = {1, 1, 1, 0}}),
      pad(ethernet(kIpv4) + ip4(1, {8, 0, 0, 0, 0, 0, 0, 0}), 60),
      ethernet(kIpv4, kTheirMac) + ip4(17, udp(1, 2, 18)),
      ethernet(kIpv6) + ip6(17, udp(5001, 5002, 0)),
      ethernet(kIpv6) + ip6(6, tcp(5001, 5002, 0), marked),
      ethernet(kIpv6) + ip6(17, udp(1, 2, 9), {.source = low, .destination = high}),
      ethernet(kIpv6) + ip6(17, udp(1, 2, 9), {.source = loopback}),
      ethernet(kIpv6) + ip6(17, udp(1, 2, 9), {.destination = kSource6}),
      ethernet(kIpv6) + ip6(60, Octets{17, 0, 1, 4, 0, 0, 0, 0} + udp(1, 2, 0)),
      pad(ethernet(kIpv6) + ip6(59, {}), 60),
      pad(ethernet(0x8100) + vlan(7, kIpv4) + ip4(17, udp(1, 2, 0)), 60),
      pad(ethernet(kArp), 60),
  };
}

TEST(OrdinaryEight, TakesEightOrdinaryOnes) {
  const auto s = samples();
  Eight eight;
  eight.fill(s[0]);
  EXPECT_EQ(expect_agreement(eight, our_context()), 8);
  eight = {s[0], s[1], s[2], s[3], s[0], s[1], s[2], s[3]};
  EXPECT_EQ(expect_agreement(eight, our_context()), 8);
  eight.fill(s[9]);
  EXPECT_EQ(expect_agreement(eight, our_context()), 8);
  eight = {s[9], s[0], s[10], s[1], s[11], s[2], s[10], s[3]};  // of both families
  EXPECT_EQ(expect_agreement(eight, our_context()), 8);
}

TEST(OrdinaryEight, OneThatIsNotLeavesTheOthersAlone) {
  const auto s = samples();
  for (std::size_t place = 0; place < kEight; ++place)
    for (const std::size_t other : {4u, 6u, 7u, 8u, 12u, 13u, 14u, 15u, 16u, 17u}) {
      Eight eight;
      eight.fill(s[1]);
      eight[place] = s[other];
      EXPECT_EQ(expect_agreement(eight, our_context()), 7) << place << ", " << other;
    }
}

TEST(OrdinaryEight, ReadsNothingBehindTheShortest) {
  const Octets shortest = ethernet(kIpv4) + ip4(17, udp(1, 2, 5)),
               next = ethernet(kIpv4) + ip4(17, udp(1, 2, 6));
  ASSERT_EQ(shortest.size(), OrdinaryEight::kLeast - 1);
  Eight eight;
  eight.fill(next);
  EXPECT_EQ(expect_agreement(eight, our_context()), 8);
  eight[5] = shortest;
  EXPECT_EQ(expect_agreement(eight, our_context()), 0);
  eight[5] = ethernet(kIpv6) + ip6(17, udp(1, 2, 0));  // the others are too short for its last check
  EXPECT_EQ(expect_agreement(eight, our_context()), 7);
}

TEST(OrdinaryEight, KeyHasTheDscpWhereARuleLooksAtIt) {
  ParseContext context = our_context();
  context.match_dscp = true;
  const auto s = samples();
  EXPECT_EQ(expect_agreement({s[0], s[1], s[2], s[3], s[9], s[10], s[11], s[1]}, context), 8);
}

// Every first byte of an address, which IPv4's are told by in halves.
TEST(OrdinaryEight, Addresses) {
  for (std::uint32_t first = 0; first < 256; ++first)
    for (std::uint32_t second : {0u, 1u, 254u}) {
      const std::uint32_t a = first << 24 | second << 16 | 0x0102;
      Eight eight;
      eight.fill(ethernet(kIpv4) + ip4(17, udp(1, 2, 18)));
      eight[1] = ethernet(kIpv4) + ip4(17, udp(1, 2, 18), {.source = a});
      eight[6] = ethernet(kIpv4) + ip4(17, udp(1, 2, 18), {.destination = a});
      eight[2] = ethernet(kIpv4) + ip4(17, udp(1, 2, 18), {.source = a, .destination = a});
      expect_agreement(eight, our_context());
      Address6 address = kSource6;
      address[0] = static_cast<std::uint8_t>(first);
      address[1] = static_cast<std::uint8_t>(second);
      eight[3] = ethernet(kIpv6) + ip6(17, udp(1, 2, 18), {.source = address});
      eight[7] = ethernet(kIpv6) + ip6(17, udp(1, 2, 18), {.destination = address});
      expect_agreement(eight, our_context());
    }
}

Octets mutant(Octets frame, Rng& rng) {
  for (std::uint32_t n = rng.next() % 3; n > 0; --n)
    frame[rng.next() % frame.size()] =
        static_cast<std::uint8_t>(rng.next() & 1 ? rng.next() : rng.next() % 9);
  const std::size_t header = (frame[14] & 0xfu) * std::size_t{4};
  if (load_be16(&frame[12]) == kIpv4 && header >= 20 && 14 + header <= frame.size() && (rng.next() & 3) != 0)
    fix_checksum(&frame[14]);
  if (rng.next() % 16 == 0) frame.resize(rng.next() % frame.size());
  if (rng.next() % 4 == 0) frame = pad(frame, 60 + rng.next() % 20);
  return frame;
}

TEST(OrdinaryEight, MutantsAreWhatTheyAreSingly) {
  const auto s = samples();
  Rng rng(20261126);
  ParseContext context = our_context();
  int taken = 0, not_taken = 0;
  for (int round = 0; round < 40'000; ++round) {
    context.match_dscp = rng.next() % 2 == 0;
    Eight eight;
    for (Octets& f : eight) f = mutant(s[rng.next() % s.size()], rng);
    const int n = expect_agreement(eight, context);
    taken += n;
    not_taken += 8 - n;
    if (HasFailure()) return;
  }
  EXPECT_GT(taken, 10'000);
  EXPECT_GT(not_taken, 10'000);
}

}  // namespace
}  // namespace surety
