// SPDX-License-Identifier: BSD-3-Clause
#include "router/pipeline/wire/parse_ipv4.h"

#include <gtest/gtest.h>

#include <random>

#include "tests/unit/router/pipeline/wire/parse_verdict.h"

namespace surety {
namespace {

using namespace frames;

Octets packet(const V4& h = {}, std::uint8_t protocol = 17) {
  return ethernet(kIpv4) + ip4(protocol, protocol == 17 ? udp(5001, 5002, 8) : zeros(24), h);
}

// One byte of the IP header changed, the checksum put right again.
Octets with(Octets frame, std::size_t offset, std::uint8_t value) {
  frame[14 + offset] = value;
  if (frame[14] % 16 == 5) fix_checksum(&frame[14]);
  return frame;
}

Octets options(Octets o) {
  o.resize((o.size() + 3) / 4 * 4);
  return packet({.options = o});
}

TEST(ParseIpv4, VersionAndLengths) {
  expect_verdicts({
      {"good", packet(), "forward"},
      {"19 bytes", ethernet(kIpv4) + Octets(19, 0x45), "drop truncated"},
      {"version 6", with(packet(), 0, 0x65), "drop ipv4_version"},
      {"version 0", with(packet(), 0, 0x05), "drop ipv4_version"},
      {"IHL 4", with(packet(), 0, 0x44), "drop ipv4_header_length"},
      {"IHL 0", with(packet(), 0, 0x40), "drop ipv4_header_length"},
      {"total length 0", with(packet(), 3, 0), "drop ipv4_total_length"},
      {"total length 19", with(packet(), 3, 19), "drop ipv4_total_length"},
      {"total length one more", with(packet(), 3, 37), "drop ipv4_total_length"},
      {"total length 65535", with(with(packet(), 2, 0xff), 3, 0xff), "drop ipv4_total_length"},
      {"IHL 15 of 36", with(packet(), 0, 0x4f), "drop ipv4_header_length"},
      {"IHL 10 of 36", with(packet(), 0, 0x4a), "drop ipv4_header_length"},
      {"header only, unknown protocol", ethernet(kIpv4) + ip4(253, {}), "forward"},
      {"reserved flag", with(packet(), 6, 0x80), "forward"},
      {"TTL 0 is judged elsewhere", packet({.ttl = 0}), "forward"},
  });
}

TEST(ParseIpv4, EverySingleBitErrorInTheHeaderIsRefused) {
  const Octets base = packet(), with_options = options({7, 7, 4, 0, 0, 0, 0});
  for (const Octets& good : {base, with_options}) {
    const std::size_t header = (good[14] & 0xfu) * std::size_t{4};
    for (std::size_t bit = 0; bit < header * 8; ++bit) {
      Octets bad = good;
      bad[14 + bit / 8] = static_cast<std::uint8_t>(bad[14 + bit / 8] ^ 1u << bit % 8);
      const std::string v = verdict(bad);
      EXPECT_TRUE(v == "drop ipv4_checksum" || bit < 32) << bit << ": " << v;
      EXPECT_TRUE(v.starts_with("drop ipv4_")) << bit << ": " << v;
    }
  }
}

TEST(ParseIpv4, ChecksumMinusZeroIsAsGoodAsZero) {
  Octets frame = packet();
  std::uint8_t* const ip = &frame[14];
  const unsigned sum = load_be16(ip + 10), id = load_be16(ip + 4) + sum;  // makes the checksum come out as 0
  ip[4] = high(id % 0xffff);
  ip[5] = low(id % 0xffff);
  fix_checksum(ip);
  ASSERT_EQ(load_be16(ip + 10), 0);
  EXPECT_EQ(verdict(frame), "forward");
  ip[10] = ip[11] = 0xff;
  EXPECT_EQ(verdict(frame), "forward");
}

TEST(ParseIpv4, CarriesOfTheChecksum) {
  for (const std::uint32_t a : {0x01000001u, 0xdfffffffu, 0x80000000u})
    for (const std::uint32_t b : {0x01ffffffu, 0xdeffffffu, 0x0a000001u})
      for (const std::uint8_t ttl : {std::uint8_t{1}, std::uint8_t{255}})
        EXPECT_EQ(verdict(packet({.source = a, .destination = b, .tos = 0xff, .ttl = ttl})), "forward");
}

// What the multiplication says against what RFC 1071 does: words added up, carries folded in.
TEST(ParseIpv4, ChecksumIsThatOfTheWords) {
  std::mt19937_64 random(1071);
  unsigned valid = 0;
  for (int i = 0; i < 1'000'000; ++i) {
    std::uint64_t a = random(), b = random();
    auto c = static_cast<std::uint32_t>(random());
    if (i % 8 == 0) a = -(random() % 4);  // near the carries
    if (i % 16 == 0) b = -(random() % 4);
    if (i % 32 == 0) c = -static_cast<std::uint32_t>(random() % 4);
    std::uint32_t words = (c & 0xffff) + (c >> 16);
    for (const std::uint64_t x : {a, b})
      for (int shift = 0; shift < 64; shift += 16) words += x >> shift & 0xffff;
    while (words > 0xffff) words = (words & 0xffff) + (words >> 16);
    if (i % 2 == 0) {  // every other one is made right
      const std::uint32_t rest = 0xffff - words, low = (c & 0xffff) + rest;
      c = (c & 0xffff'0000) | ((low & 0xffff) + (low >> 16));
      words = 0xffff;
    }
    const bool expected = words == 0xffff || words == 0;
    valid += expected;
    ASSERT_EQ(detail::ipv4_checksum_valid(a, b, c), expected) << std::hex << a << ' ' << b << ' ' << c;
  }
  EXPECT_GT(valid, 499'999u);
}

TEST(ParseIpv4, Options) {
  expect_verdicts({
      {"no operation", options({1, 1, 1, 1}), "forward"},
      {"end at once, rubbish behind", options({0, 131, 0, 0}), "forward"},
      {"record route", options({7, 7, 4, 0, 0, 0, 0, 0}), "forward"},
      {"timestamp", options({68, 8, 5, 0, 0, 0, 0, 0}), "forward"},
      {"forty bytes", options(Octets(40, 1)), "forward"},
      {"router alert", options({148, 4, 0, 0}), "forward"},
      {"router alert behind others", options({1, 7, 3, 4, 148, 4, 0, 0}), "forward"},
      {"router alert of another length", options({148, 3, 0, 0}), "drop ipv4_options"},
      {"loose source route", options({131, 7, 4, 192, 0, 2, 1, 0}), "drop ipv4_options"},
      {"strict source route", options({1, 137, 7, 4, 192, 0, 2, 1}), "drop ipv4_options"},
      {"router alert, then source route", options({148, 4, 0, 0, 131, 3, 4, 0}), "drop ipv4_options"},
      {"length 0", options({7, 0, 0, 0}), "drop ipv4_options"},
      {"length 1", options({7, 1, 0, 0}), "drop ipv4_options"},
      {"length to the end", options({7, 4, 4, 0}), "forward"},
      {"length beyond the header", options({7, 5, 4, 0}), "drop ipv4_options"},
      {"no room for a length", options({1, 1, 1, 7}), "drop ipv4_options"},
  });
}

// Exactly what a client and a server of the link say to each other (RFC 2131 4.1).
TEST(ParseIpv4, Dhcp) {
  constexpr std::uint32_t kAll = 0xffffffff, kServer = 0x0a010001, kElse = 0x0a020001;
  const auto between = [](std::uint16_t from, std::uint16_t to, const V4& h) {
    return ethernet(kIpv4) + ip4(17, udp(from, to, 240), h);
  };
  expect_verdicts({
      {"request", between(68, 67, {.source = 0, .destination = kAll}), "punt dhcp"},
      {"request with an address", between(68, 67, {.source = kElse, .destination = kAll}), "punt dhcp"},
      {"answer to all", between(67, 68, {.source = kServer, .destination = kAll}), "punt dhcp"},
      {"answer to one", between(67, 68, {.source = kServer, .destination = kElse}), "forward"},
      {"request to one", between(68, 67, {.source = kElse, .destination = kServer}), "forward"},
      {"answer from 0.0.0.0", between(67, 68, {.source = 0, .destination = kAll}),
       "drop ipv4_martian_source"},
      {"another port from 0.0.0.0", between(68, 69, {.source = 0, .destination = kAll}),
       "drop ipv4_martian_source"},
      {"from another port from 0.0.0.0", between(67, 67, {.source = 0, .destination = kAll}),
       "drop ipv4_martian_source"},
      {"from 0.0.0.0 to one", between(68, 67, {.source = 0}), "drop ipv4_martian_source"},
      {"from 0.0.0.0 to a group", between(68, 67, {.source = 0, .destination = 0xe0000001}),
       "drop ipv4_martian_source"},
      {"a fragment from 0.0.0.0", between(68, 67, {.source = 0, .destination = kAll, .place = 0x2000}),
       "drop ipv4_martian_source"},
      {"relays among themselves", between(67, 67, {.destination = kAll}), "punt multicast"},
      {"another protocol", ethernet(kIpv4) + ip4(6, udp(68, 67, 240), {.source = 0, .destination = kAll}),
       "drop ipv4_martian_source"},
      {"from 0.0.0.0 without ports", ethernet(kIpv4) + ip4(17, {}, {.source = 0, .destination = kAll}),
       "drop ipv4_martian_source"},
  });
}

TEST(ParseIpv4, Addresses) {
  constexpr std::uint32_t kGood = 0x0a010001, kElse = 0x0a020001;
  const auto from = [](std::uint32_t a) { return packet({.source = a}); };
  const auto to = [](std::uint32_t a) { return packet({.destination = a}); };
  expect_verdicts({
      {"from 0.0.0.0", from(0), "drop ipv4_martian_source"},
      {"from 0.0.0.0 to all", packet({.source = 0, .destination = 0xffffffff}), "drop ipv4_martian_source"},
      {"from 0.0.0.1 to all", packet({.source = 1, .destination = 0xffffffff}), "drop ipv4_martian_source"},
      {"from 127.0.0.1", from(0x7f000001), "drop ipv4_martian_source"},
      {"from 224.0.0.5", from(0xe0000005), "drop ipv4_martian_source"},
      {"from 240.0.0.1", from(0xf0000001), "drop ipv4_martian_source"},
      {"from 255.255.255.255", from(0xffffffff), "drop ipv4_martian_source"},
      {"from its destination", packet({.source = kElse, .destination = kElse}), "drop ipv4_martian_source"},
      {"from a neighbour in number", packet({.source = kGood, .destination = kGood + 1}), "forward"},
      {"to 0.0.0.0", to(0), "drop ipv4_martian_destination"},
      {"to 127.0.0.1", to(0x7f000001), "drop ipv4_martian_destination"},
      {"to 240.0.0.1", to(0xf0000001), "drop ipv4_martian_destination"},
      {"to 255.255.255.254", to(0xfffffffe), "drop ipv4_martian_destination"},
      {"to 255.255.255.255", to(0xffffffff), "punt multicast"},
      {"to 224.0.0.5", to(0xe0000005), "punt multicast"},
      {"to 239.1.1.1", to(0xef010101), "punt multicast"},
      {"to 169.254.1.1", to(0xa9fe0101), "punt link_local"},
      {"from 169.254.1.1", from(0xa9fe0101), "punt link_local"},
      {"to 169.253.255.255", to(0xa9fdffff), "forward"},
      {"from 169.255.0.0", from(0xa9ff0000), "forward"},
      {"router alert to many", packet({.destination = 0xe0000016, .options = {148, 4, 0, 0}}),
       "punt multicast"},
      {"martian wins over options' alert", packet({.source = 0, .options = {148, 4, 0, 0}}),
       "drop ipv4_martian_source"},
  });
}

TEST(ParseIpv4, GroupFramesCarryWhatIsForMany) {
  const auto group = [](std::uint32_t to) {
    return ethernet(kIpv4, kGroupMac) + ip4(17, udp(1, 2, 0), {.destination = to});
  };
  EXPECT_EQ(verdict(group(0xe0000005)), "punt multicast");
  EXPECT_EQ(verdict(group(0xffffffff)), "punt multicast");
  EXPECT_EQ(verdict(group(0xa9fe0101)), "drop foreign_mac");
}

TEST(ParseIpv4, Fragments) {
  const auto fragment = [](std::uint16_t place, std::uint8_t protocol, std::size_t payload) {
    return ethernet(kIpv4) + ip4(protocol, zeros(payload), {.place = place});
  };
  expect_verdicts({
      {"first of UDP", fragment(0x2000, 17, 8), "forward"},
      {"tiny first of UDP", fragment(0x2000, 17, 7), "drop fragment"},
      {"first of TCP", fragment(0x2000, 6, 16), "forward"},
      {"tiny first of TCP", fragment(0x2000, 6, 15), "drop fragment"},
      {"first of another", fragment(0x2000, 50, 1), "forward"},
      {"TCP at offset 8", fragment(0x2001, 6, 64), "drop fragment"},
      {"TCP at offset 8, last", fragment(0x0001, 6, 64), "drop fragment"},
      {"TCP at offset 16", fragment(0x2002, 6, 64), "forward"},
      {"UDP at offset 8", fragment(0x2001, 17, 64), "forward"},
      {"first, empty", fragment(0x2000, 50, 0), "drop fragment"},
      {"last, empty", fragment(0x0010, 50, 0), "drop fragment"},
      {"begins near 65535", fragment(0x1fff, 17, 1), "drop fragment"},
      {"reaches 65535", fragment(0x1ff0, 17, 65535 - 0x1ff0 * 8 - 20), "forward"},
      {"one beyond", fragment(0x1ff0, 17, 65535 - 0x1ff0 * 8 - 19), "drop fragment"},
      {"DF with MF", fragment(0x6000, 17, 8), "forward"},
  });
}

TEST(ParseIpv4, KeyAndFields) {
  ParseContext context = our_context();
  context.match_dscp = true;
  const V4 h{.source = 0x0a010203, .destination = 0x0b040506, .tos = 0xba, .ttl = 7, .options = {1, 1, 1, 1}};
  for (const bool with_options : {false, true}) {
    V4 v = h;
    if (!with_options) v.options.clear();
    ParsedPacket p;
    ASSERT_EQ(words(parse_exact(pad(packet(v), 80), p, context)), "forward");
    EXPECT_EQ(p.key.rest, std::uint64_t{2} << 61 | std::uint64_t{3} << 56 | 0x8a13'8913);
    EXPECT_EQ(p.key.address, (std::array<std::uint64_t, 4>{0x0605'040b'0302'010a, 0, 0, 0}));
    EXPECT_EQ(p.key.dscp, 0xba >> 2);
    EXPECT_FALSE(p.key.v6);
    EXPECT_EQ(p.length, with_options ? 40 : 36);
    EXPECT_EQ(p.l4_offset, with_options ? 38 : 34);
    EXPECT_EQ(p.protocol, 17);
    EXPECT_EQ(p.traffic_class, 0xba);
    EXPECT_EQ(p.ttl, 7);
    context.match_dscp = false;
    ASSERT_EQ(words(parse_exact(packet(v), p, context)), "forward");
    EXPECT_EQ(p.key.dscp, 0);
    context.match_dscp = true;
  }
}

TEST(ParseIpv4, FragmentsOfOneDatagramAreOneFlow) {
  ParsedPacket first, last;
  ASSERT_EQ(words(parse_exact(ethernet(kIpv4) + ip4(17, udp(5001, 5002, 8), {.place = 0x2000}), first)),
            "forward");
  ASSERT_EQ(words(parse_exact(ethernet(kIpv4) + ip4(17, zeros(9), {.place = 0x0002}), last)), "forward");
  EXPECT_EQ(first.key, last.key);
  EXPECT_EQ(first.key.rest, std::uint64_t{5} << 61 | std::uint64_t{3} << 56 | 17);
  EXPECT_TRUE(first.fragment && last.fragment);
}

}  // namespace
}  // namespace surety
