// SPDX-License-Identifier: BSD-3-Clause
#include "router/pipeline/wire/martians.h"

#include <gtest/gtest.h>

#include <string>

namespace surety {
namespace {

// What the predicates say of one address: s source martian, d destination martian, m for many, l link-local.
std::string verdict(std::uint32_t a) {
  std::string text;
  if (ipv4::martian_source(a)) text += 's';
  if (ipv4::martian_destination(a)) text += 'd';
  if (ipv4::for_many(a)) text += 'm';
  if (ipv4::link_local(a)) text += 'l';
  return text;
}

std::string verdict(const ipv6::Address& a) {
  std::string text;
  if (ipv6::martian_source(a)) text += 's';
  if (ipv6::martian_destination(a)) text += 'd';
  if (ipv6::multicast(a)) text += 'm';
  if (ipv6::link_local(a)) text += 'l';
  return text;
}

TEST(Martians, BothEdgesOfEveryIpv4Block) {
  struct Block {
    std::uint32_t first, last;
    const char* verdict;
  };
  constexpr Block kBlocks[] = {
      {0x00000000, 0x00ffffff, "sd"},  // 0/8
      {0x01000000, 0x7effffff, ""},    //
      {0x7f000000, 0x7fffffff, "sd"},  // 127/8
      {0x80000000, 0xa9fdffff, ""},    //
      {0xa9fe0000, 0xa9feffff, "l"},   // 169.254/16
      {0xa9ff0000, 0xdfffffff, ""},    //
      {0xe0000000, 0xefffffff, "sm"},  // 224/4
      {0xf0000000, 0xfffffffe, "sd"},  // 240/4
      {0xffffffff, 0xffffffff, "sm"},  // limited broadcast
  };
  std::uint32_t next = 0;
  for (const Block& b : kBlocks) {
    EXPECT_EQ(b.first, next) << "the table must cover everything";
    EXPECT_EQ(verdict(b.first), b.verdict) << std::hex << b.first;
    EXPECT_EQ(verdict(b.last), b.verdict) << std::hex << b.last;
    EXPECT_EQ(verdict(b.first + (b.last - b.first) / 2), b.verdict) << std::hex << b.first;
    next = b.last + 1;
  }
  EXPECT_EQ(next, 0u);
}

TEST(Martians, FirstByteTableNeverCallsASpecialIpv4AddressOrdinary) {
  unsigned ordinary = 0;
  for (std::uint32_t first = 0; first < 256; ++first) {
    bool special = false;
    for (std::uint32_t second = 0; second < 256; ++second)
      for (const std::uint32_t rest : {0x0000u, 0x0001u, 0x8000u, 0xffffu})
        special |= !verdict(first << 24 | second << 16 | rest).empty();
    EXPECT_EQ(ipv4::kOrdinary[first] != 0, !special) << first;
    ordinary += ipv4::kOrdinary[first];
  }
  EXPECT_EQ(ordinary, 224u - 3);
}

TEST(Martians, Ipv6) {
  struct Case {
    ipv6::Address address;
    const char* verdict;
  };
  constexpr Case kCases[] = {
      {{0, 0}, "sd"},                                     // ::
      {{0, 1}, "sd"},                                     // ::1
      {{0, 2}, ""},                                       // ::2
      {{1, 0}, ""},                                       // 0:0:0:1::
      {{1, 1}, ""},                                       // 0:0:0:1::1
      {{0, 0x0000'fffe'ffff'ffff}, ""},                   //
      {{0, 0x0000'ffff'0000'0000}, "sd"},                 // ::ffff:0.0.0.0
      {{0, 0x0000'ffff'ffff'ffff}, "sd"},                 // ::ffff:255.255.255.255
      {{0, 0x0001'0000'0000'0000}, ""},                   //
      {{1, 0x0000'ffff'0a00'0001}, ""},                   //
      {{0x0064'ff9b'0000'0000, 0x0a00'0001}, ""},         // NAT64
      {{0x2001'0db8'0000'0000, 1}, ""},                   //
      {{0xfc00'0000'0000'0000, 1}, ""},                   // unique local
      {{0xfe7f'ffff'ffff'ffff, 1}, ""},                   //
      {{0xfe80'0000'0000'0000, 1}, "l"},                  // fe80::/10
      {{0xfebf'ffff'ffff'ffff, ~std::uint64_t{0}}, "l"},  //
      {{0xfec0'0000'0000'0000, 1}, ""},                   // former site-local
      {{0xfeff'ffff'ffff'ffff, 1}, ""},                   //
      {{0xff00'0000'0000'0000, 1}, "sdm"},                // reserved scope
      {{0xff01'0000'0000'0000, 1}, "sdm"},                // interface-local
      {{0xff02'0000'0000'0000, 1}, "sm"},                 // link-local multicast
      {{0xff11'0000'0000'0000, 1}, "sdm"},                // flags do not matter
      {{0xff0e'0000'0000'0000, 1}, "sm"},                 // global multicast
      {{~std::uint64_t{0}, ~std::uint64_t{0}}, "sm"},     //
  };
  for (const Case& c : kCases) {
    EXPECT_EQ(verdict(c.address), c.verdict) << std::hex << c.address.high << " " << c.address.low;
    const auto first = static_cast<std::uint8_t>(c.address.high >> 56);
    EXPECT_FALSE(ipv6::ordinary(first) && *c.verdict != 0) << std::hex << c.address.high;
  }
}

TEST(Martians, FirstBytesOfOrdinaryIpv6Addresses) {
  for (unsigned first = 0; first < 256; ++first)
    EXPECT_EQ(ipv6::ordinary(static_cast<std::uint8_t>(first)), first >= 1 && first <= 0xfd) << first;
}

}  // namespace
}  // namespace surety
