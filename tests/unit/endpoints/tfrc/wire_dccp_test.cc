// SPDX-License-Identifier: BSD-3-Clause
#include "endpoints/tfrc/wire_dccp.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "tests/unit/endpoints/tfrc/dccp_peer.h"

namespace surety::endpoints::dccp {
namespace {

using Octets = std::vector<std::uint8_t>;

// A packet of bytes that need not be right, its checksum made good over what CsCov says.
IpPacket view(const Octets& dccp) {
  const Tuple t = dccp_tuple();
  IpPacket p;
  p.source = t.local;
  p.destination = t.remote;
  p.protocol = kProtocol;
  p.payload = dccp;
  p.length = static_cast<std::uint16_t>(20 + dccp.size());
  return p;
}
void fix_checksum(Octets& d, std::size_t covered) {
  d[6] = d[7] = 0;
  Sum s = pseudo_header(view(d));
  s.add(std::span(d).first(covered));
  store(d.data() + 6, s.checksum_field());
}
Refusal read_fixed(Octets d, Packet& out) {
  fix_checksum(d, d.size());
  const Refusal r = read(view(d), out);
  out.options = out.payload = {};  // `d` ends here
  return r;
}
// 24 bytes: an Ack without options.
Octets ack_header() {
  return {0x9c, 0x40, 0x13, 0x89, 6, 0, 0, 0, 3 << 1 | 1, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0, 0, 0x01, 2, 3, 4};
}
Octets with_options(Octets options) {
  Octets d = ack_header();
  while (options.size() % 4 != 0) options.push_back(0);
  d[4] = static_cast<std::uint8_t>(6 + options.size() / 4);
  d.insert(d.end(), options.begin(), options.end());
  return d;
}
Refusal read_options(Octets options) {
  Packet p;
  return read_fixed(with_options(std::move(options)), p);
}

TEST(WireDccp, ReadsAHeaderByteForByte) {
  Octets d = ack_header();
  d[5] = 0xb0;
  Packet p;
  ASSERT_EQ(read_fixed(d, p), Refusal::none);
  EXPECT_EQ(p.source_port, 40000);
  EXPECT_EQ(p.destination_port, 5001);
  EXPECT_EQ(p.type, Type::ack);
  EXPECT_EQ(p.ccval, 11);
  EXPECT_EQ(p.sequence, 9u);
  EXPECT_EQ(p.ack, 0x01020304u);
}

TEST(WireDccp, WritesARequestByteForByte) {
  Packet p;
  p.type = Type::request;
  p.sequence = 0x0000'a1b2'c3d4'e5f6;
  p.service_code = 0x53555245;
  Frame f = dccp_frame(dccp_tuple(), p, {1, 32, 4, 1, 3});
  const Octets& b = f.bytes();
  const Octets ip(b.begin() + 14, b.begin() + 34), header(b.begin() + 34, b.end());
  EXPECT_EQ(ip,
            (Octets{0x45, 0, 0, 48, 0, 0, 0x40, 0, 64, 33, ip[10], ip[11], 10, 1, 0, 65, 198, 51, 100, 1}));
  EXPECT_EQ(header,
            (Octets{0x9c, 0x40, 0x13, 0x89, 7,   0,   header[6], header[7], 1, 0, 0xa1, 0xb2, 0xc3, 0xd4,
                    0xe5, 0xf6, 'S',  'U',  'R', 'E', 1,         32,        4, 1, 3,    0,    0,    0}));
  EXPECT_EQ(read(f.packet(), p), Refusal::none);  // with the checksum
}

TEST(WireDccp, EveryTypeComesBackAsItWas) {
  for (const bool v6 : {false, true})
    for (unsigned t = 0; t <= static_cast<unsigned>(Type::sync_ack); ++t)
      for (const bool udp : {false, true}) {
        Packet p;
        p.type = static_cast<Type>(t);
        p.sequence = 0xffff'ffff'fffe;
        p.ack = 0x1234'5678'9abc;
        p.ccval = 5;
        p.service_code = 77;
        p.reset_code = ResetCode::mandatory_error;
        p.reset_data = 44;
        const Frame f = dccp_frame(dccp_tuple(v6), p, {41, 6, 1, 2, 3, 4},
                                   udp ? PacketWriter::UdpPorts{7, 8} : PacketWriter::UdpPorts{});
        const Packet q = decoded(f);
        EXPECT_EQ(q.type, p.type);
        EXPECT_EQ(q.sequence, p.sequence);
        EXPECT_EQ(q.ack, has_ack(p.type) ? p.ack : 0);
        EXPECT_EQ(q.ccval, 5);
        EXPECT_EQ(timestamp(q.options), 0x01020304u);
        EXPECT_TRUE(q.payload.empty());
        const bool service = p.type == Type::request || p.type == Type::response;
        EXPECT_EQ(q.service_code, service ? 77u : 0u);
        EXPECT_EQ(q.reset_code, p.type == Type::reset ? p.reset_code : ResetCode::unspecified);
        EXPECT_EQ(q.reset_data, p.type == Type::reset ? 44 : 0);
      }
}

TEST(WireDccp, DataFillsTheWholePacketWithZeros) {
  for (const bool ack : {false, true}) {
    Frame f;
    Slot s = f.slot();
    const PacketWriter w(dccp_tuple(), {});
    if (ack)
      w.write_data_ack(s, 10, 20, 3, 0xdeadbeef, 1500, 10);
    else
      w.write_data(s, 10, 3, 0xdeadbeef, 1500, 10);
    EXPECT_EQ(s.length, 1500u);
    f.take(s);
    const IpPacket ip = f.packet();
    EXPECT_EQ(ip.length, 1500);
    EXPECT_EQ(ip.dscp(), 10);
    const Packet p = decoded(f);
    EXPECT_EQ(p.type, ack ? Type::data_ack : Type::data);
    EXPECT_EQ(p.sequence, 10u);
    EXPECT_EQ(p.ack, ack ? 20u : 0u);
    EXPECT_EQ(p.ccval, 3);
    EXPECT_EQ(timestamp(p.options), 0xdeadbeefu);
    EXPECT_EQ(p.payload.size(), 1500u - 20 - (ack ? 32 : 24));
    EXPECT_EQ(std::ranges::count(p.payload, 0), static_cast<std::ptrdiff_t>(p.payload.size()));
  }
}

TEST(WireDccp, EveryTruncationIsRefused) {
  Packet p;
  p.type = Type::reset;
  Octets whole;
  Frame f = dccp_frame(dccp_tuple(), p, {41, 6, 1, 2, 3, 4});
  const auto payload = f.packet().payload;
  whole.assign(payload.begin(), payload.end());
  for (std::size_t n = 0; n < whole.size(); ++n) {
    const auto part = std::make_unique<std::uint8_t[]>(n);  // AddressSanitizer sees one byte more
    std::copy_n(whole.begin(), n, part.get());
    IpPacket ip = view(whole);
    ip.payload = {part.get(), n};
    EXPECT_EQ(read(ip, p), n < header_length(Type::reset) ? Refusal::truncated : Refusal::dccp_header) << n;
  }
}

TEST(WireDccp, HeadersThatCannotBe) {
  Packet p;
  const auto with = [&](std::size_t at, std::uint8_t value) {
    Octets d = ack_header();
    d[at] = value;
    return read_fixed(d, p);
  };
  EXPECT_EQ(with(4, 5), Refusal::dccp_header);  // data offset below the type's header
  EXPECT_EQ(with(4, 7), Refusal::dccp_header);  // beyond the packet
  EXPECT_EQ(with(4, 255), Refusal::dccp_header);
  EXPECT_EQ(with(8, 3 << 1), Refusal::dccp_header);       // X = 0
  EXPECT_EQ(with(8, 10 << 1 | 1), Refusal::dccp_header);  // reserved types
  EXPECT_EQ(with(8, 15 << 1 | 1), Refusal::dccp_header);
  EXPECT_EQ(with(5, 2), Refusal::dccp_header);           // coverage beyond the packet
  EXPECT_EQ(with(8, 0xe0 | 3 << 1 | 1), Refusal::none);  // reserved bits are ignored (RFC 4340 5.1)
}

TEST(WireDccp, ChecksumCoversWhatItSays) {
  Octets d = ack_header();
  d[8] = 2 << 1 | 1;  // Data: 16 bytes of header
  d[4] = 4;
  d.resize(16 + 8);
  Packet p;
  for (const unsigned coverage : {0u, 1u, 2u, 3u}) {
    d[5] = static_cast<std::uint8_t>(coverage);
    const std::size_t covered = coverage == 0 ? d.size() : 16 + 4 * (coverage - 1);
    fix_checksum(d, covered);
    for (std::size_t i = 8; i < d.size(); ++i) {
      Octets flipped = d;
      flipped[i] ^= 0x10;
      if (i == 8) continue;  // makes another type of it
      EXPECT_EQ(read(view(flipped), p), i < covered ? Refusal::checksum : Refusal::none) << i;
    }
    EXPECT_EQ(read(view(d), p), Refusal::none);
  }
}

TEST(WireDccp, ChecksumIsTheHostsWhereItHasVerified) {
  Octets d = ack_header();
  fix_checksum(d, d.size());
  d[6] ^= 0xff;
  Packet p;
  IpPacket ip = view(d);
  EXPECT_EQ(read(ip, p), Refusal::checksum);
  ip.l4_verified = true;
  EXPECT_EQ(read(ip, p), Refusal::none);
  ip.l4_verified = false;
  ip.udp_source = 6511;
  EXPECT_EQ(read(ip, p), Refusal::none);
}

TEST(WireDccp, OptionsThatOverrun) {
  EXPECT_EQ(read_options({200, 0, 0, 0}), Refusal::dccp_option);
  EXPECT_EQ(read_options({200, 1, 0, 0}), Refusal::dccp_option);
  EXPECT_EQ(read_options({200, 5, 0, 0}), Refusal::dccp_option);
  EXPECT_EQ(read_options({0, 0, 0, 200}), Refusal::dccp_option);  // no room for a length
  EXPECT_EQ(read_options({200, 4, 0, 0}), Refusal::none);         // unknown, but well formed
  EXPECT_EQ(read_options({2, 3, 31, 0}), Refusal::none);          // below 32: single bytes
}

TEST(WireDccp, OptionsOfImpossibleLength) {
  const auto of = [](std::uint8_t type, std::uint8_t length) {
    Octets o(length);
    o[0] = type;
    o[1] = length;
    return read_options(o);
  };
  const std::map<int, std::set<int>> possible{{kTimestamp, {6}},
                                              {kTimestampEcho, {6, 8, 10}},
                                              {kElapsedTime, {4, 6}},
                                              {kDataChecksum, {6}},
                                              {kLossEventRate, {6}},
                                              {kReceiveRate, {6}},
                                              {kLossIntervals, {3, 12, 21}},
                                              {kNdpCount, {3, 4, 5, 6, 7, 8}}};
  for (const auto& [type, lengths] : possible)
    for (int length = 2; length <= 21; ++length)
      EXPECT_EQ(of(static_cast<std::uint8_t>(type), static_cast<std::uint8_t>(length)),
                lengths.contains(length) ? Refusal::none : Refusal::dccp_option)
          << type << " " << length;
  for (const std::uint8_t type : {kChangeL, kConfirmL, kChangeR, kConfirmR}) {
    EXPECT_EQ(of(type, 2), Refusal::dccp_option);
    EXPECT_EQ(of(type, 3), Refusal::none);
  }
}

TEST(WireDccp, MandatoryGoesWithTheNextOption) {
  const Octets options{1, 41, 6, 1, 2, 3, 4, 1, 0, 2};
  OptionReader r(options);
  Option o;
  ASSERT_TRUE(r.next(o));
  EXPECT_EQ(o.type, 41);
  EXPECT_TRUE(o.mandatory);
  EXPECT_EQ(o.data.size(), 4u);
  ASSERT_TRUE(r.next(o));
  EXPECT_EQ(o.type, 2);
  EXPECT_FALSE(o.mandatory);  // Mandatory Padding is padding
  EXPECT_FALSE(r.next(o));
  EXPECT_EQ(r.end(), OptionReader::End::clean);
}

TEST(WireDccp, MandatoryLastOrTwiceIsAnError) {
  for (const Octets& options : {Octets{0, 1}, Octets{1, 1, 2}}) {
    OptionReader r(options);
    Option o;
    EXPECT_FALSE(r.next(o));
    EXPECT_EQ(r.end(), OptionReader::End::mandatory);
  }
}

TEST(WireDccp, TimestampIsFoundAnywhere) {
  EXPECT_EQ(timestamp(Octets{41, 6, 0, 0, 1, 0, 0, 0}), 256u);
  EXPECT_EQ(timestamp(Octets{0, 2, 41, 6, 0, 0, 1, 0}), 256u);
  EXPECT_EQ(timestamp(Octets{0, 0, 0, 0}), std::nullopt);
  EXPECT_EQ(timestamp({}), std::nullopt);
}

TEST(WireDccp, WritesOptions) {
  Octets out(64, 0xcc);
  OptionWriter w(out.data());
  w.timestamp_echo(0x01020304, 0x05060708);
  w.put32(kLossEventRate, 100);
  w.loss_intervals(2);
  w.interval(0x010203, 0x7fffff, 0x040506);
  w.interval(1, 2, 3);
  out.resize(w.finish());
  EXPECT_EQ(out, (Octets{42, 10, 1,    2,    3,    4, 5, 6, 7, 8, 192, 6, 0, 0, 0, 100, 193, 21, 2, 1,
                         2,  3,  0x7f, 0xff, 0xff, 4, 5, 6, 0, 0, 1,   0, 0, 2, 0, 0,   3,   0,  0, 0}));
}

TEST(WireDccp, UdpPortFollowsThePeer) {
  PacketWriter w(dccp_tuple(), {6511, 6511});
  w.set_udp_remote(12345);
  Frame f;
  Slot s = f.slot();
  w.write(s, {}, {}, 0);
  f.take(s);
  EXPECT_EQ(f.packet().udp_destination, 12345);
  EXPECT_EQ(f.packet().udp_source, 6511);
}

}  // namespace
}  // namespace surety::endpoints::dccp
