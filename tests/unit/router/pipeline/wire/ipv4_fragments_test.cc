// SPDX-License-Identifier: BSD-3-Clause
#include "router/pipeline/wire/ipv4_fragments.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "router/pipeline/wire/bytes.h"
#include "tests/unit/router/pipeline/wire/frame_builder.h"

namespace surety {
namespace {

using frames::Octets;
using frames::operator+;

Octets numbered(std::size_t n) {
  Octets payload(n);
  for (std::size_t i = 0; i < n; ++i) payload[i] = static_cast<std::uint8_t>(i * 7 + i / 256);
  return payload;
}

std::vector<Octets> cut(const Octets& packet, std::uint16_t mtu) {
  std::vector<Octets> all;
  for (Ipv4Fragments f(packet, mtu); f.more();) {
    Octets one(65535);
    one.resize(f.write_next(one.data()));
    all.push_back(one);
  }
  return all;
}

std::size_t header_of(const Octets& ip) {
  return (ip[0] & 0xfu) * std::size_t{4};
}
std::size_t offset_of(const Octets& ip) {
  return (load_be16(&ip[6]) & 0x1fffu) * std::size_t{8};
}
bool more_follow(const Octets& ip) {
  return (ip[6] & 0x20) != 0;
}
// The packet that they were, by whoever puts them together; in any order.
Octets put_together(const std::vector<Octets>& fragments, std::size_t base = 0) {
  Octets payload;
  for (const Octets& f : fragments) {
    const std::size_t at = offset_of(f) - base, n = f.size() - header_of(f);
    payload.resize(std::max(payload.size(), at + n));
    std::copy_n(f.begin() + static_cast<std::ptrdiff_t>(header_of(f)), n,
                payload.begin() + static_cast<std::ptrdiff_t>(at));
  }
  return payload;
}

TEST(Ipv4Fragments, EverySizeAtEveryMtuComesTogetherAgain) {
  for (const std::uint16_t mtu : std::initializer_list<std::uint16_t>{68, 69, 75, 76, 576, 1280, 1400, 1500})
    for (const std::size_t size : {mtu - 19ul, mtu + 0ul, 2ul * mtu, 1480ul, 2000ul, 9000ul}) {
      const Octets payload = numbered(size);
      const auto all = cut(frames::ip4(17, payload, {.place = 0, .tos = 0xb9, .ttl = 7}), mtu);
      EXPECT_EQ(put_together(all), payload);
      for (std::size_t i = 0; i < all.size(); ++i) {
        const Octets& f = all[i];
        ASSERT_LE(f.size(), mtu);
        EXPECT_EQ(load_be16(&f[2]), f.size());
        EXPECT_EQ(frames::checksum(f.data(), header_of(f)), 0);
        EXPECT_EQ(more_follow(f), i + 1 < all.size());
        EXPECT_EQ((f.size() - header_of(f)) % 8 != 0 && more_follow(f), false);
        EXPECT_EQ((Octets{f[1], f[8], f[9]}), (Octets{0xb9, 7, 17}));
        EXPECT_EQ(load_be16(&f[4]), 0x1234) << "one identification for all";
      }
      // The last one may be as long as the MTU, the others are so many times eight bytes.
      const std::size_t room = mtu - 20ul, each = room / 8 * 8;
      EXPECT_EQ(all.size(), size <= room ? 1 : 1 + (size - room + each - 1) / each) << size << ' ' << mtu;
    }
}

TEST(Ipv4Fragments, AFragmentIsCutFurther) {
  const Octets payload = numbered(2000);
  for (const unsigned more : {0x2000u, 0u}) {
    const auto all = cut(frames::ip4(6, payload, {.place = static_cast<std::uint16_t>(more | 185)}), 1000);
    ASSERT_EQ(all.size(), 3u);
    EXPECT_EQ(offset_of(all[0]), 185 * 8u);
    EXPECT_EQ(put_together(all, 185 * 8), payload);
    EXPECT_EQ(more_follow(all.back()), more != 0);
  }
}

// RFC 791 3.1: the copied flag is the type's first bit.
TEST(Ipv4Fragments, OnlyCopiedOptionsAreInAll) {
  const Octets record_route{7, 7, 4, 0, 0, 0, 0}, router_alert{148, 4, 0, 0}, security{130, 3, 9}, nop{1};
  const auto all =
      cut(frames::ip4(17, numbered(300),
                      {.place = 0, .options = record_route + nop + router_alert + security + nop}),
          196);
  ASSERT_GE(all.size(), 2u);
  EXPECT_EQ(Octets(all[0].begin() + 20, all[0].begin() + 36),
            record_route + nop + router_alert + security + nop);
  EXPECT_EQ(header_of(all[1]), 28u);
  EXPECT_EQ(Octets(all[1].begin() + 20, all[1].begin() + 28), router_alert + security + Octets{0});
  EXPECT_EQ(put_together(all), numbered(300));
  const auto none = cut(frames::ip4(17, numbered(300), {.place = 0, .options = {0, 148, 4, 0}}), 196);
  EXPECT_EQ(header_of(none[1]), 20u) << "what stands behind the end is no option";
}

}  // namespace
}  // namespace surety
