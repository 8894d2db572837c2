// SPDX-License-Identifier: BSD-3-Clause
#include "router/pipeline/wire/tcp_mss.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "conditioners/rng.h"
#include "router/pipeline/wire/checksum.h"

namespace surety {
namespace {

using Bytes8 = std::vector<std::uint8_t>;

constexpr std::uint8_t kSyn = 0x02, kSynAck = 0x12, kAck = 0x10;

// A segment without data, whose checksum is right for a pseudo header of zeros.
Bytes8 segment(std::uint8_t flags, Bytes8 options) {
  while (options.size() % 4 != 0) options.push_back(0);
  Bytes8 s = {0x12, 0x34, 0x00, 0x50, 1, 2, 3, 4, 0, 0, 0, 0, 0, flags, 0xff, 0xff, 0, 0, 0, 0};
  s.insert(s.end(), options.begin(), options.end());
  s[12] = static_cast<std::uint8_t>(s.size() / 4 << 4);
  Sum sum;
  sum.add(s);
  store(&s[16], sum.checksum_field());
  return s;
}

bool intact(const Bytes8& s) {
  Sum sum;
  sum.add(s);
  return sum.valid();
}

TEST(TcpMss, LowersThatOfASynAndKeepsTheChecksum) {
  for (const std::uint8_t flags : {kSyn, kSynAck}) {
    Bytes8 s = segment(flags, {2, 4, 0x05, 0xb4, 1, 3, 3, 7});
    EXPECT_TRUE(clamp_mss(s, 1360));
    EXPECT_EQ(load_be16(&s[22]), 1360);
    EXPECT_TRUE(intact(s));
    EXPECT_EQ(Bytes8(s.begin() + 24, s.end()), Bytes8({1, 3, 3, 7})) << "other options stay";
  }
}

// As in SYNs of some stacks: the option lies across two words of the checksum.
TEST(TcpMss, AtAnOddOffset) {
  Bytes8 s = segment(kSyn, {1, 2, 4, 0x05, 0xb4, 3, 3, 7});
  EXPECT_TRUE(clamp_mss(s, 1300));
  EXPECT_EQ(load_be16(&s[23]), 1300);
  EXPECT_TRUE(intact(s));
}

TEST(TcpMss, NeverRaisesIt) {
  const Bytes8 before = segment(kSyn, {2, 4, 0x05, 0x50});
  Bytes8 s = before;
  EXPECT_FALSE(clamp_mss(s, 1360)) << "1360 already";
  EXPECT_FALSE(clamp_mss(s, 9000));
  EXPECT_EQ(s, before);
}

TEST(TcpMss, LeavesOtherSegments) {
  for (const Bytes8& before : {segment(kAck, {2, 4, 0x05, 0xb4}),         // no SYN
                               segment(kSyn, {}),                         // no option
                               segment(kSyn, {0, 2, 4, 0x05, 0xb4}),      // behind the end of the options
                               segment(kSyn, {2, 3, 0x05, 0xb4}),         // of another length
                               segment(kSyn, {3, 0, 2, 4, 0x05, 0xb4}),   // an option of no length
                               segment(kSyn, {3, 40, 2, 4, 0x05, 0xb4}),  // an option beyond the end
                               segment(kSyn, {1, 1, 1, 2})}) {            // cut behind its kind
    Bytes8 s = before;
    EXPECT_FALSE(clamp_mss(s, 1000));
    EXPECT_EQ(s, before);
  }
  Bytes8 cut = segment(kSyn, {2, 4, 0x05, 0xb4});
  cut.resize(22);
  EXPECT_FALSE(clamp_mss(cut, 1000)) << "the header ends beyond the buffer";
  EXPECT_FALSE(clamp_mss(std::span(cut).first(3), 1000));
}

// Any bytes: a change is one of the MSS alone, and the checksum stays as right or wrong as it was.
TEST(TcpMss, RandomBytesKeepTheirSum) {
  Rng rng(7);
  std::size_t changed = 0;
  for (int n = 0; n < 200'000; ++n) {
    Bytes8 s(20 + rng.next() % 41);
    for (auto& b : s) b = static_cast<std::uint8_t>(rng.next() % (rng.next() % 2 == 0 ? 6 : 256));
    s[12] = static_cast<std::uint8_t>((s[12] % 11 + 5) << 4);
    s[13] |= kSyn;
    const Bytes8 before = s;
    const auto most = static_cast<std::uint16_t>(1 + rng.next() % 0xffff);
    if (!clamp_mss(s, most)) {
      EXPECT_EQ(s, before);
      continue;
    }
    ++changed;
    Sum a, b;
    a.add(before);
    b.add(s);
    EXPECT_EQ(a.folded() % 0xffff, b.folded() % 0xffff);
  }
  EXPECT_GT(changed, 100u);
}

}  // namespace
}  // namespace surety
