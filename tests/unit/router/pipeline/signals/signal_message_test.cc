// SPDX-License-Identifier: BSD-3-Clause
#include "router/pipeline/signals/signal_message.h"

#include <gtest/gtest.h>

#include "tests/unit/router/pipeline/signals/signal_packets.h"

namespace surety {
namespace {

using namespace signals;

Octets unhex(const std::string& text) {
  Octets out;
  std::string digits;
  for (const char c : text) {
    if (c == ' ') continue;
    digits += c;
    if (digits.size() < 2) continue;
    out.push_back(static_cast<std::uint8_t>(std::stoul(digits, nullptr, 16)));
    digits.clear();
  }
  return out;
}

void expect_equal(const SignalMessage& a, const SignalMessage& b) {
  EXPECT_EQ(a.from, b.from);
  EXPECT_EQ(a.to, b.to);
  EXPECT_EQ(a.router, b.router);
  EXPECT_EQ(a.port, b.port);
  EXPECT_EQ(a.queue, b.queue);
  EXPECT_EQ(a.sequence, b.sequence);
  EXPECT_EQ(a.sent, b.sent);
  EXPECT_EQ(a.source, b.source);
  EXPECT_EQ(a.destination, b.destination);
  EXPECT_EQ(a.dscp, b.dscp);
}

SignalResult read(const Octets& ip) {
  SignalMessage m;
  return read_signal(Tight(ip), m);
}
// Whether somebody who has the key believes it.
bool believed(const Octets& ip, const SignalKey& k) {
  SignalMessage m;
  return read_signal(Tight(ip), m) == SignalResult::applied && is_authentic(Tight(ip), m, k);
}

// The packet after `change`, its checksums good.
template <class F>
SignalResult read_changed(bool ipv6, F change) {
  Octets ip = packet(message(ipv6), key(7));
  change(ip.data(), &ip[header_of(ip)]);
  repair(ip);
  return read(ip);
}

class SignalMessageOf : public testing::TestWithParam<bool> {
 protected:
  const Octets good = packet(message(GetParam()), key(7));
};
INSTANTIATE_TEST_SUITE_P(Family, SignalMessageOf, testing::Bool(),
                         [](const auto& family) { return family.param ? "IPv6" : "IPv4"; });

// What a reminder quotes is made up; a sample quotes the packet.
TEST_P(SignalMessageOf, AReminderQuotesABareHeader) {
  SignalMessage m = message(GetParam()), read;
  ASSERT_EQ(read_signal(packet(m, key(7)), read), SignalResult::applied);
  EXPECT_EQ(read.kind, SignalKind::reminder);
  const Octets about =
      GetParam() ? frames::ip6(6, frames::tcp(1, 2, 0)) : frames::ip4(6, frames::tcp(1, 2, 0));
  m.quote = signal_about(about).quote;
  ASSERT_EQ(read_signal(packet(m, key(7)), read), SignalResult::applied);
  EXPECT_EQ(read.kind, SignalKind::sample);
  m.kind = SignalKind::reminder;
  ASSERT_EQ(read_signal(packet(m, key(7)), read), SignalResult::applied);
  EXPECT_EQ(read.kind, SignalKind::reminder);
}

TEST_P(SignalMessageOf, AnEventIsOfFormat2AndItsKindInTheHopsOfTheBareHeader) {
  for (const SignalKind kind : {SignalKind::onset, SignalKind::eighth, SignalKind::clear}) {
    SignalMessage m = message(GetParam()), read;
    m.kind = kind;
    const Octets ip = packet(m, key(7));
    EXPECT_EQ(icmp_of(ip)[144], 2);
    EXPECT_EQ(icmp_of(ip)[8 + (GetParam() ? 7 : 8)], static_cast<int>(kind));
    ASSERT_EQ(read_signal(Tight(ip), read), SignalResult::applied);
    EXPECT_EQ(read.kind, kind);
    expect_equal(read, m);
  }
}

TEST_P(SignalMessageOf, AnEventOfNoKnownKindIsMalformed) {
  SignalMessage m = message(GetParam());
  m.kind = SignalKind::onset;
  for (const int hops : {0, 1, 5, 255}) {
    Octets ip = packet(m, key(7));
    ip[header_of(ip) + 8 + (GetParam() ? 7 : 8)] = static_cast<std::uint8_t>(hops);
    repair(ip);
    EXPECT_EQ(read(ip), SignalResult::malformed) << hops;
  }
  Octets ip = packet(m, key(7));
  ip[header_of(ip) + 8 + (GetParam() ? 6 : 9)] = 17;  // not a bare header
  repair(ip);
  EXPECT_EQ(read(ip), SignalResult::malformed);
}

TEST(SignalMessage, GoldenIPv4) {
  const Octets golden = unhex(
                            "45c000cc 00004000 40012566 0a090001 0a010001"  // CS6, DF, 64 hops; from, to
                            "fd00 02df 0020 0000"  // type 253, checksum; 32 words are quoted:
                            "45300014 00004000 003b667b 0a010001 0a020001") +  // AF12, 10.1.0.1 to 10.2.0.1
                        frames::zeros(108) +
                        unhex(
                            "2000 4c10 002c f953"  // extension, checksum; object of 44 bytes
                            "01 07 03 05"          // format, key, port, queue
                            "0a090001 0123456789abcdef 0000018bcfe5687b"  // router, sequence, time
                            "16abceb0e8342e6e2f4a0d86578623f2");          // MAC
  EXPECT_EQ(packet(message(), key(7)), golden);
}

TEST(SignalMessage, GoldenIPv6) {
  const Octets golden = unhex(
                            "6c000000 00b83a40"                 // CS6, 64 hops
                            "20010db8000900000000000000000001"  // from
                            "20010db8000100000000000000000001"  // to
                            "6400 3617 1000 0000"  // type 100, checksum; 16 times 8 bytes are quoted:
                            "63000000 00003b00"    // AF12
                            "20010db8000100000000000000000001"
                            "20010db8000200000000000000000001") +
                        frames::zeros(88) +
                        unhex(
                            "2000 0726 002c f953"  // extension, checksum; object of 44 bytes
                            "01 07 03 05"          // format, key, port, queue
                            "0a090001 0123456789abcdef 0000018bcfe5687b"  // router, sequence, time
                            "2ffc3e7cbd51ed8547f5365327bb39de");          // MAC
  EXPECT_EQ(packet(message(true), key(7)), golden);
}

TEST_P(SignalMessageOf, IsReadAsItWasWritten) {
  SignalMessage m;
  ASSERT_EQ(read_signal(Tight(good), m), SignalResult::applied);
  expect_equal(m, message(GetParam()));
  EXPECT_EQ(m.key_id, 7);
  EXPECT_TRUE(is_authentic(Tight(good), m, key(7)));
  EXPECT_TRUE(is_signal(icmp_of(good), GetParam()));
}

TEST_P(SignalMessageOf, CarriesExtremes) {
  SignalMessage m = message(GetParam()), out;
  m.router = 0xffff'ffff;
  m.port = m.queue = 255;
  m.sequence = ~std::uint64_t{0};
  m.sent = UnixTime(std::chrono::milliseconds((std::uint64_t{1} << 48) - 1));
  m.dscp = 63;
  ASSERT_EQ(read_signal(packet(m, key(255)), out), SignalResult::applied);
  expect_equal(out, m);
  EXPECT_EQ(out.key_id, 255);
}

TEST_P(SignalMessageOf, EveryTruncationIsRefused) {
  for (std::size_t n = 0; n < good.size(); ++n) {
    const Octets part(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(n));
    EXPECT_EQ(read(part), SignalResult::malformed) << n;
    if (n >= header_of(good)) {
      const Tight icmp(icmp_of(part));
      EXPECT_EQ(is_signal(icmp, GetParam()), n >= header_of(good) + 144) << n;
    }
  }
}

// As if a router had cut it and corrected the IP header and all checksums.
TEST_P(SignalMessageOf, EveryHonestTruncationIsRefused) {
  for (std::size_t n = header_of(good) + 140; n < good.size(); n += 2) {
    Octets part(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(n));
    part[GetParam() ? 5 : 3] = frames::low(GetParam() ? n - 40 : n);
    repair(part);
    EXPECT_EQ(read(part), SignalResult::malformed) << n;
  }
}

TEST_P(SignalMessageOf, OneByteMoreIsRefused) {
  Octets more = good + Octets{0};
  EXPECT_EQ(read(more), SignalResult::malformed);
  more.push_back(0);
  more[GetParam() ? 5 : 3] = static_cast<std::uint8_t>(more[GetParam() ? 5 : 3] + 2);
  repair(more);
  EXPECT_EQ(read(more), SignalResult::malformed);
}

// Whether the MAC covers byte `i` of the packet: both addresses and the ICMP message, but not its checksums.
bool covered(std::size_t i, bool ipv6) {
  const std::size_t header = ipv6 ? 40 : 20, addresses = ipv6 ? 8 : 12;
  if (i < header) return i >= addresses;
  return i - header != 2 && i - header != 3 && i - header != 138 && i - header != 139;
}

TEST_P(SignalMessageOf, NoBitOfWhatTheMacCoversCanBeFlipped) {
  for (std::size_t bit = 0; bit < 8 * good.size(); ++bit) {
    if (!covered(bit / 8, GetParam())) continue;
    Octets flipped = good;
    flipped[bit / 8] ^= static_cast<std::uint8_t>(1u << bit % 8);
    EXPECT_FALSE(believed(flipped, key(7))) << bit;
    repair(flipped);
    EXPECT_FALSE(believed(flipped, key(7))) << bit;
  }
}

TEST_P(SignalMessageOf, NoBitOfAChecksumCanBeFlipped) {
  for (const std::size_t at : {2u, 3u, 138u, 139u}) {
    for (unsigned bit = 0; bit < 8; ++bit) {
      Octets flipped = good;
      flipped[header_of(good) + at] ^= static_cast<std::uint8_t>(1u << bit);
      EXPECT_EQ(read(flipped), SignalResult::checksum);
    }
  }
}

TEST_P(SignalMessageOf, RoutersOnTheWayMayChangeWhatIsTheirs) {
  Octets ip = good;
  ip[1] = static_cast<std::uint8_t>(GetParam() ? ip[1] ^ 0xff : 0x03);  // DSCP and ECN; flow label
  ip[GetParam() ? 7 : 8] = 1;                                           // hops
  EXPECT_TRUE(believed(ip, key(7)));
}

TEST_P(SignalMessageOf, AnotherKeyDoesNotConfirmIt) {
  EXPECT_FALSE(believed(good, key(7, 1)));
  EXPECT_FALSE(believed(good, {}));
}

TEST_P(SignalMessageOf, UnknownVersions) {
  const auto extension = [](std::uint8_t*, std::uint8_t* icmp) { icmp[136] = 0x30; };
  const auto format = [](std::uint8_t*, std::uint8_t* icmp) { icmp[144] = 3; };
  EXPECT_EQ(read_changed(GetParam(), extension), SignalResult::version);
  EXPECT_EQ(read_changed(GetParam(), format), SignalResult::version);
  const auto longer = [](std::uint8_t*, std::uint8_t* icmp) { icmp[144] = 3, icmp[141] = 200; };
  EXPECT_EQ(read_changed(GetParam(), longer), SignalResult::version);
}

using Change = void (*)(std::uint8_t* ip, std::uint8_t* icmp);

TEST_P(SignalMessageOf, ContradictoryParts) {
  const Change changes[] = {
      [](std::uint8_t*, std::uint8_t* icmp) { icmp[0] = 8; },      // type
      [](std::uint8_t*, std::uint8_t* icmp) { icmp[1] = 1; },      // code
      [](std::uint8_t*, std::uint8_t* icmp) { icmp[8] ^= 0x20; },  // IP version of the quoted header
      [](std::uint8_t*, std::uint8_t* icmp) { icmp[141] = 43; },   // length of the object,
      [](std::uint8_t*, std::uint8_t* icmp) { icmp[142] = 1; },    // its class
      [](std::uint8_t*, std::uint8_t* icmp) { icmp[143] = 1; },    // and type
      [](std::uint8_t*, std::uint8_t* icmp) { icmp[161] = 1; },    // a time after the year 10889
  };
  for (std::size_t i = 0; i < std::size(changes); ++i)
    EXPECT_EQ(read_changed(GetParam(), changes[i]), SignalResult::malformed) << i;
}

TEST(SignalMessage, ContradictoryPartsOfIPv4) {
  const Change changes[] = {
      [](std::uint8_t* ip, std::uint8_t*) { ip[0] = 0x46; },      // header length
      [](std::uint8_t* ip, std::uint8_t*) { ++ip[3]; },           // total length
      [](std::uint8_t* ip, std::uint8_t*) { ip[9] = 17; },        // protocol
      [](std::uint8_t*, std::uint8_t* icmp) { icmp[5] = 31; },    // length of the quote
      [](std::uint8_t*, std::uint8_t* icmp) { icmp[8] = 0x44; },  // header length in the quote
  };
  for (std::size_t i = 0; i < std::size(changes); ++i)
    EXPECT_EQ(read_changed(false, changes[i]), SignalResult::malformed) << i;
}

TEST(SignalMessage, ContradictoryPartsOfIPv6) {
  const Change changes[] = {
      [](std::uint8_t* ip, std::uint8_t*) { ++ip[5]; },         // payload length
      [](std::uint8_t* ip, std::uint8_t*) { ip[6] = 0; },       // next header
      [](std::uint8_t*, std::uint8_t* icmp) { icmp[4] = 15; },  // length of the quote
      [](std::uint8_t*, std::uint8_t* icmp) {                   // a quoted source that is an IPv4 address
        const IpAddress mapped = IpAddress::v4(10, 1, 0, 1);
        std::memcpy(icmp + 16, &mapped, 16);
      },
  };
  for (std::size_t i = 0; i < std::size(changes); ++i)
    EXPECT_EQ(read_changed(true, changes[i]), SignalResult::malformed) << i;
}

TEST_P(SignalMessageOf, QuotesTheCongestedPacket) {
  const Octets payload = frames::tcp(40000, 5001, 100);
  const Octets congested = GetParam() ? frames::ip6(6, payload, {.traffic_class = 14 << 2})
                                      : frames::ip4(6, payload, {.tos = 14 << 2});
  SignalMessage m = message(GetParam()), out;
  const CongestionSignal signal = signal_about(Tight(congested));
  m.quote = signal.quote;
  const Octets ip = packet(m, key(7));
  ASSERT_EQ(read_signal(ip, out), SignalResult::applied);
  EXPECT_EQ(out.source, signal.source);
  EXPECT_EQ(out.destination, signal.destination);
  EXPECT_EQ(out.dscp, 14);
  const std::size_t quoted = header_of(congested) + 20;
  const auto quote = icmp_of(ip).subspan(8, 128);
  EXPECT_TRUE(
      std::equal(quote.begin(), quote.begin() + static_cast<std::ptrdiff_t>(quoted), congested.begin()));
  EXPECT_TRUE(std::all_of(quote.begin() + static_cast<std::ptrdiff_t>(quoted), quote.end(),
                          [](std::uint8_t byte) { return byte == 0; }));
}

TEST(SignalMessage, QuotesAllOptionsAndShortPackets) {
  const Octets options = frames::ip4(17, frames::udp(1, 2, 100), {.options = Octets(40, 1)});
  const auto with_options = signal_about(options).quote;
  EXPECT_TRUE(std::equal(with_options.begin(), with_options.end(), options.begin()));
  const Octets tiny = frames::ip4(253, {0xaa});
  const auto quote = signal_about(Tight(tiny)).quote;
  EXPECT_TRUE(std::equal(tiny.begin(), tiny.end(), quote.begin()));
  EXPECT_EQ(quote[21], 0);
}

TEST_P(SignalMessageOf, OthersUseTheTypeAsWell) {
  const bool ipv6 = GetParam();
  const auto is_ours = [&](std::size_t at, std::uint8_t value) {
    Octets icmp(icmp_of(good).begin(), icmp_of(good).end());
    icmp[at] = value;
    return is_signal(Tight(icmp), ipv6);
  };
  EXPECT_FALSE(is_ours(0, 8));
  EXPECT_FALSE(is_ours(ipv6 ? 4 : 5, 0));  // no extension where the quote ends
  EXPECT_FALSE(is_ours(142, 248));
  EXPECT_FALSE(is_ours(143, 84));
  EXPECT_FALSE(is_signal(icmp_of(good), !ipv6));
  EXPECT_FALSE(is_signal({}, ipv6));
  EXPECT_TRUE(is_ours(144, 99));  // damaged, or of another version, but ours
  EXPECT_TRUE(is_ours(2, 99));
  EXPECT_TRUE(is_ours(136, 99));
}

TEST(SignalMessage, OneLookTellsMostIcmpFromSignals) {
  const std::uint8_t v4[] = {253}, v6[] = {100}, echo[] = {8};
  EXPECT_TRUE(may_be_signal(1, v4));
  EXPECT_TRUE(may_be_signal(58, v6));
  EXPECT_FALSE(may_be_signal(1, v6));
  EXPECT_FALSE(may_be_signal(58, v4));
  EXPECT_FALSE(may_be_signal(17, v4));
  EXPECT_FALSE(may_be_signal(1, echo));
  EXPECT_FALSE(may_be_signal(1, {}));
}

}  // namespace
}  // namespace surety
