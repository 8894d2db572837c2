// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/linux/icmp_error.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/unit/router/daemon/linux/responder_frames.h"

namespace surety {
namespace {

using namespace std::chrono_literals;
using namespace responder_frames;
using Result = IcmpErrorResult;

constexpr Time kNow{};

struct IcmpErrorTest : testing::Test {
  PortAddresses addresses{{prefix("10.1.0.254/24"), prefix("2001:db8:1::fe/64")}, {}, kOurs};
  IcmpErrors errors{2, kNow};
  std::vector<std::uint8_t> room = std::vector<std::uint8_t>(IcmpErrors::kLargest, 0xcc);

  // What came of it; the frame in `sent`, empty if none.
  Result report(IcmpProblem problem, const Octets& frame, std::uint16_t mtu = 1400, Time now = kNow,
                Customer customer = 0, const InterfaceInformation* told = nullptr) {
    Slot slot{room.data(), static_cast<std::uint32_t>(room.size()), 99};
    const Result r = errors.report(problem, mtu, frame, 14, customer, kOurs, addresses, slot, now, told);
    sent = slot.length == 0 ? Octets{} : without_flow_label(Octets(room.begin(), room.begin() + slot.length));
    return r;
  }
  Octets sent;
};

// An error as RFC 792 has it, about the IP packet of `frame`.
Octets error4(std::uint8_t type, std::uint8_t code, std::uint16_t mtu, const Octets& frame,
              std::size_t quoted) {
  Octets icmp = Octets{type, code, 0, 0, 0, 0} + be16(mtu) +
                Octets(frame.begin() + 14, frame.begin() + 14 + static_cast<std::ptrdiff_t>(quoted));
  Octets padded = icmp;
  if (padded.size() % 2 != 0) padded.push_back(0);
  const Octets sum = be16(frames::checksum(padded.data(), padded.size()));
  icmp[2] = sum[0];
  icmp[3] = sum[1];
  Octets ip =
      frames::ip4(1, icmp, {.source = word("10.1.0.254"), .destination = word("10.1.0.1"), .tos = 48 << 2});
  ip[4] = ip[5] = 0;
  frames::fix_checksum(ip.data());
  return ethernet(kPeer, kOurs, 0x0800) + ip;
}
Octets error6(std::uint8_t type, std::uint8_t code, std::uint16_t mtu, const Octets& frame,
              std::size_t quoted) {
  const Octets icmp = Octets{type, code, 0, 0, 0, 0} + be16(mtu) +
                      Octets(frame.begin() + 14, frame.begin() + 14 + static_cast<std::ptrdiff_t>(quoted));
  Octets ip = ip6("2001:db8:1::fe", "2001:db8:1::1", 64, icmp);
  ip[0] = 0x6c;  // DSCP CS6
  return ethernet(kPeer, kOurs, 0x86dd) + ip;
}
Octets packet6(std::size_t data) {
  return ethernet(kOurs, kPeer, 0x86dd) + Octets{0x60, 0, 0, 0} + be16(8 + data) + Octets{17, 1} +
         octets(address("2001:db8:1::1")) + octets(address("2001:db8:2::1")) + frames::udp(1000, 2000, data);
}
Octets df(Octets frame, bool on) {
  frame[20] = on ? 0x40 : 0;
  frames::fix_checksum(&frame[14]);
  return frame;
}

TEST_F(IcmpErrorTest, TimeExceededGoesToWhereThePacketCameFrom) {
  const Octets frame = udp(kPeer, "10.1.0.1", "10.2.0.1", 13);
  EXPECT_EQ(report(IcmpProblem::time_exceeded, frame), Result::time_exceeded);
  EXPECT_EQ(sent, error4(11, 0, 0, frame, 41));
  EXPECT_EQ(report(IcmpProblem::time_exceeded, packet6(10)), Result::time_exceeded);
  EXPECT_EQ(sent, error6(3, 0, 0, packet6(10), 58));
}

TEST_F(IcmpErrorTest, HasTheDscpOfTheRouter) {
  constexpr std::uint8_t kCs7 = 56;
  const Octets frame = udp(kPeer, "10.1.0.1", "10.2.0.1", 13);
  errors = IcmpErrors(2, kNow, {}, kCs7);
  EXPECT_EQ(report(IcmpProblem::time_exceeded, frame), Result::time_exceeded);
  Octets four = error4(11, 0, 0, frame, 41), six = error6(3, 0, 0, packet6(10), 58);
  four[15] = kCs7 << 2;
  frames::fix_checksum(&four[14]);
  EXPECT_EQ(sent, four);
  EXPECT_EQ(report(IcmpProblem::time_exceeded, packet6(10)), Result::time_exceeded);
  six[14] = 0x60 | kCs7 >> 2;
  EXPECT_EQ(sent, six);
}

TEST_F(IcmpErrorTest, TooBigTellsTheMtuOfTheWayOut) {
  const Octets frame = df(udp(kPeer, "10.1.0.1", "10.2.0.1", 1400), true);
  EXPECT_EQ(report(IcmpProblem::too_big, frame, 1280), Result::too_big);
  EXPECT_EQ(sent, error4(3, 4, 1280, frame, 576 - 28)) << "as much as fits into 576 bytes";
  EXPECT_EQ(report(IcmpProblem::too_big, packet6(1400), 1300), Result::too_big);
  EXPECT_EQ(sent, error6(2, 0, 1300, packet6(1400), 1280 - 48));
  EXPECT_EQ(sent.size(), IcmpErrors::kLargest);
}

// `ip -6 route add ... mtu lock 1000`, as Linux reports it.
TEST_F(IcmpErrorTest, AnMtuBelowTheLeastOfIpv6IsToldOfSmallPacketsOnly) {
  for (const auto& [length, told] :
       {std::pair<std::size_t, std::uint16_t>{1001, 1000}, {1280, 1000}, {1281, 1280}}) {
    const Octets frame = packet6(length - 48);
    EXPECT_EQ(report(IcmpProblem::too_big, frame, 1000), Result::too_big);
    EXPECT_EQ(sent, error6(2, 0, told, frame, std::min<std::size_t>(length, 1280 - 48))) << length;
  }
}

TEST_F(IcmpErrorTest, UnreachableIsAboutTheHost) {
  const Octets frame = udp(kPeer, "10.1.0.1", "10.2.0.1");
  EXPECT_EQ(report(IcmpProblem::host_unreachable, frame), Result::host_unreachable);
  EXPECT_EQ(sent, error4(3, 1, 0, frame, 38));
  EXPECT_EQ(report(IcmpProblem::host_unreachable, packet6(10)), Result::host_unreachable);
  EXPECT_EQ(sent, error6(1, 3, 0, packet6(10), 58));
}

struct Said {
  IcmpProblem problem;
  Result result;
  std::uint8_t type4, code4, type6, code6;
};

// RFC 792, RFC 1812 5.2.7.1; RFC 4443 3.1.
TEST_F(IcmpErrorTest, SaysWhyNobodyGetsThere) {
  const Octets frame = udp(kPeer, "10.1.0.1", "10.2.0.1");
  for (const Said& s : {Said{IcmpProblem::net_unreachable, Result::net_unreachable, 3, 0, 1, 0},
                        {IcmpProblem::prohibited, Result::prohibited, 3, 13, 1, 1},
                        {IcmpProblem::source_refused, Result::source_refused, 3, 13, 1, 5},
                        {IcmpProblem::port_unreachable, Result::port_unreachable, 3, 3, 1, 4}}) {
    EXPECT_EQ(report(s.problem, frame), s.result);
    EXPECT_EQ(sent, error4(s.type4, s.code4, 0, frame, 38));
    EXPECT_EQ(report(s.problem, packet6(10)), s.result);
    EXPECT_EQ(sent, error6(s.type6, s.code6, 0, packet6(10), 58));
  }
}

// RFC 5837 4, in an extension (RFC 4884); tests/functional/test_icmp_errors.py has tshark read it.
TEST_F(IcmpErrorTest, NamesThePortForWhoMayKnow) {
  const InterfaceInformation lan{"access0.107", 9000};
  const Octets frame = udp(kPeer, "10.1.0.1", "10.2.0.1");
  EXPECT_EQ(report(IcmpProblem::time_exceeded, frame, 0, kNow, 0, &lan), Result::time_exceeded);
  const Octets extension = {0x20, 0,   0,   0,   0,   28,  2,   7,   0,   1,   0,   0,   10, 1, 0,    254,
                            12,   'a', 'c', 'c', 'e', 's', 's', '0', '.', '1', '0', '7', 0,  0, 0x23, 0x28};
  ASSERT_EQ(sent.size(), 14 + 20 + 8 + 128 + extension.size());
  EXPECT_EQ(sent[14 + 20 + 5], 128 / 4) << "words before the extension";
  Octets told(sent.end() - static_cast<std::ptrdiff_t>(extension.size()), sent.end());
  EXPECT_EQ(frames::checksum(told.data(), told.size()), 0);
  told[2] = told[3] = 0;
  EXPECT_EQ(told, extension);
  EXPECT_EQ(frames::checksum(&sent[14 + 20], sent.size() - 34), 0);
  EXPECT_EQ(Octets(sent.begin() + 42, sent.begin() + 42 + 38),
            Octets(frame.begin() + 14, frame.begin() + 52));

  EXPECT_EQ(report(IcmpProblem::host_unreachable, packet6(1400), 0, kNow, 0, &lan), Result::host_unreachable);
  EXPECT_LE(sent.size(), IcmpErrors::kLargest);
  EXPECT_EQ(sent[14 + 40 + 4] * 8U + 8 + 44, sent.size() - 54) << "words before it, header and extension";
  const std::string longest(100, 'x');
  const InterfaceInformation too_long{longest, 1500};
  EXPECT_EQ(report(IcmpProblem::time_exceeded, packet6(1400), 0, kNow, 0, &too_long), Result::time_exceeded);
  EXPECT_LE(sent.size(), IcmpErrors::kLargest);
  EXPECT_EQ(report(IcmpProblem::too_big, packet6(1400), 1300, kNow, 0, &lan), Result::too_big);
  EXPECT_EQ(sent, error6(2, 0, 1300, packet6(1400), 1280 - 48)) << "has no room for a length";
}

// RFC 1812 4.3.2.4.
TEST_F(IcmpErrorTest, SpeaksByItsIdWhereItHasNoAddress) {
  addresses = PortAddresses({}, {}, kOurs);
  errors = IcmpErrors(2, kNow, IpAddress::v4(192, 0, 2, 4));
  EXPECT_EQ(report(IcmpProblem::time_exceeded, udp(kPeer, "10.1.0.1", "10.2.0.1")), Result::time_exceeded);
  EXPECT_EQ(Octets(sent.begin() + 26, sent.begin() + 30), (Octets{192, 0, 2, 4}));
  EXPECT_EQ(report(IcmpProblem::time_exceeded, packet6(10)), Result::no_address);
}

TEST_F(IcmpErrorTest, PaddingIsNotQuoted) {
  const Octets frame = udp(kPeer, "10.1.0.1", "10.2.0.1", 10);
  EXPECT_EQ(report(IcmpProblem::time_exceeded, frames::pad(frame, 100)), Result::time_exceeded);
  EXPECT_EQ(sent, error4(11, 0, 0, frame, 38));
}

TEST_F(IcmpErrorTest, WhatMayBeFragmentedIsNotTooBig) {
  EXPECT_EQ(report(IcmpProblem::too_big, df(udp(kPeer, "10.1.0.1", "10.2.0.1", 1400), false)),
            Result::fragmentable);
  EXPECT_TRUE(sent.empty());
}

// RFC 1812 4.3.2.7, RFC 4443 2.4 e.
TEST_F(IcmpErrorTest, ErrorsFragmentsAndGroupsAreNotAnswered) {
  for (const int type : {3, 4, 5, 11, 12}) {
    Octets error = ping(kPeer, "10.1.0.1", "10.2.0.1");
    error[34] = static_cast<std::uint8_t>(type);
    EXPECT_EQ(report(IcmpProblem::time_exceeded, error), Result::not_answered) << type;
  }
  for (const int type : {1, 2, 3, 4, 127, 137}) {
    Octets error = ping6(kPeer, "2001:db8:1::1", "2001:db8:2::1");
    error[54] = static_cast<std::uint8_t>(type);
    EXPECT_EQ(report(IcmpProblem::time_exceeded, error), Result::not_answered) << type;
  }
  Octets later = fragment(kPeer, "10.1.0.1", "10.2.0.1");
  EXPECT_EQ(report(IcmpProblem::time_exceeded, later), Result::time_exceeded) << "the first fragment is";
  later[21] = 2;
  EXPECT_EQ(report(IcmpProblem::time_exceeded, later), Result::not_answered);
  Octets group = udp(kPeer, "10.1.0.1", "10.2.0.1");
  group[0] = 1;
  EXPECT_EQ(report(IcmpProblem::time_exceeded, group), Result::not_answered);
  EXPECT_TRUE(sent.empty());
}

TEST_F(IcmpErrorTest, PingsAreAnswered) {
  EXPECT_EQ(report(IcmpProblem::time_exceeded, ping(kPeer, "10.1.0.1", "10.2.0.1")), Result::time_exceeded);
  EXPECT_EQ(report(IcmpProblem::time_exceeded, ping6(kPeer, "2001:db8:1::1", "2001:db8:2::1")),
            Result::time_exceeded);
}

TEST_F(IcmpErrorTest, SpeaksFromAnAddressOfTheRouterOrNotAtAll) {
  const Octets frame = udp(kPeer, "10.1.0.1", "10.2.0.1");
  addresses = PortAddresses({}, {prefix("192.0.2.1/32")}, kOurs);
  EXPECT_EQ(report(IcmpProblem::time_exceeded, frame), Result::time_exceeded);
  EXPECT_EQ(Octets(sent.begin() + 26, sent.begin() + 30), (Octets{192, 0, 2, 1}));
  addresses = PortAddresses({prefix("2001:db8:1::fe/64")}, {}, kOurs);
  EXPECT_EQ(report(IcmpProblem::time_exceeded, frame), Result::no_address);
  EXPECT_TRUE(sent.empty());
}

// One alone may have as many again; another customer still has one of its own.
TEST_F(IcmpErrorTest, FewQuoteMuch) {
  constexpr std::size_t kHeaders = 14 + 40 + 8, kLong = kHeaders + 40 + 8 + 1100, kShort = kHeaders + 48;
  const Octets frame = packet6(1100);
  std::uint32_t large = 0;
  for (std::uint32_t i = 0; i < IcmpErrors::kAtOnce; ++i) {
    ASSERT_EQ(report(IcmpProblem::time_exceeded, frame), Result::time_exceeded);
    large += sent.size() == kLong;
    EXPECT_TRUE(sent.size() == kLong || sent.size() == kShort) << sent.size();
  }
  EXPECT_GE(large, IcmpErrors::kLongAtOnce);
  EXPECT_LE(large, 2 * IcmpErrors::kLongAtOnce);
  report(IcmpProblem::time_exceeded, frame, 0, kNow, 7);
  EXPECT_EQ(sent.size(), kLong);
  report(IcmpProblem::time_exceeded, frame, 0, kNow + 1s);
  EXPECT_EQ(sent.size(), kLong);
}

// The header with as many options as there may be, and eight bytes.
TEST_F(IcmpErrorTest, ShortErrorsOfIpv4QuoteAWholeHeader) {
  const Octets frame = udp(kPeer, "10.1.0.1", "10.2.0.1", 500);
  std::size_t shortest = 1500;
  for (std::uint32_t i = 0; i < IcmpErrors::kAtOnce; ++i) {
    ASSERT_EQ(report(IcmpProblem::time_exceeded, frame), Result::time_exceeded);
    shortest = std::min(shortest, sent.size());
  }
  EXPECT_EQ(shortest, 14u + 20 + 8 + 60 + 8);
}

TEST_F(IcmpErrorTest, ErrorsAreLimitedAndCounted) {
  const Octets frame = udp(kPeer, "10.1.0.1", "10.2.0.1");
  for (std::uint32_t i = 0; i < IcmpErrors::kAtOnce; ++i)
    EXPECT_EQ(report(IcmpProblem::time_exceeded, frame), Result::time_exceeded);
  std::uint32_t of_its_own = 0;
  while (report(IcmpProblem::time_exceeded, frame) == Result::time_exceeded) ++of_its_own;
  EXPECT_LE(of_its_own, IcmpErrors::kAtOnce / 2);
  EXPECT_TRUE(sent.empty());
  EXPECT_EQ(report(IcmpProblem::time_exceeded, frame, 0, kNow, 7), Result::time_exceeded)
      << "another customer";
  EXPECT_EQ(report(IcmpProblem::time_exceeded, frame, 0, kNow + 2ms), Result::time_exceeded);
  EXPECT_EQ(errors.results()[static_cast<std::size_t>(Result::time_exceeded)],
            IcmpErrors::kAtOnce + of_its_own + 2);
  EXPECT_EQ(errors.results()[static_cast<std::size_t>(Result::limited)], 1U);
}

}  // namespace
}  // namespace surety
