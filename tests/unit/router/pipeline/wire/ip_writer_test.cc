// SPDX-License-Identifier: BSD-3-Clause
#include "router/pipeline/wire/ip_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "tests/unit/router/pipeline/wire/frame_builder.h"

namespace surety::endpoints {
namespace {

using testing::ElementsAreArray;

Tuple v4() {
  return {IpAddress::v4(10, 1, 0, 1), IpAddress::v4(10, 2, 0, 1), 5001, 40000};
}
Tuple v6(std::uint16_t remote_port = 40000) {
  return {IpAddress::v6(frames::kSource6.data()), IpAddress::v6(frames::kDestination6.data()), 5001,
          remote_port};
}
std::vector<std::uint8_t> written(const IpWriter& w, std::size_t payload, std::uint8_t dscp) {
  std::vector<std::uint8_t> bytes(w.header_length());
  w.write(bytes.data(), payload, dscp);
  return bytes;
}

TEST(IpWriter, Ipv4HeaderByteByByte) {
  std::vector<std::uint8_t> want{0x45, 10 << 2, 0x05, 0xdc, 0, 0, 0x40, 0, 64, 17,
                                 0,    0,       10,   1,    0, 1, 10,   2, 0,  1};
  frames::fix_checksum(want.data());
  EXPECT_THAT(written(IpWriter(v4(), 17), 1480, 10), ElementsAreArray(want));
}

TEST(IpWriter, Ipv4ChecksumHoldsForEveryLengthAndDscp) {
  const IpWriter w(v4(), 6);
  for (std::size_t payload = 0; payload <= 65515; payload += 257) {
    const auto dscp = static_cast<std::uint8_t>(payload % 64);
    const auto header = written(w, payload, dscp);
    EXPECT_EQ(frames::checksum(header.data(), header.size()), 0) << payload;
    EXPECT_EQ(load_be16(&header[2]), payload + 20);
    EXPECT_EQ(header[1], dscp << 2);
  }
}

TEST(IpWriter, Ipv6HeaderByteByByte) {
  const auto header = written(IpWriter(v6(), 33), 1460, 0b101110);
  EXPECT_EQ(load_be32(header.data()) >> 20, 0x600u | 0b10111000);
  EXPECT_NE(load_be32(header.data()) & 0xfffff, 0u);
  EXPECT_EQ(load_be16(&header[4]), 1460);
  EXPECT_EQ(header[6], 33);
  EXPECT_EQ(header[7], 64);
  EXPECT_EQ(std::vector(header.begin() + 8, header.begin() + 24),
            std::vector(frames::kSource6.begin(), frames::kSource6.end()));
  EXPECT_EQ(std::vector(header.begin() + 24, header.end()),
            std::vector(frames::kDestination6.begin(), frames::kDestination6.end()));
}

TEST(IpWriter, EveryDscpFitsBesideTheFlowLabel) {
  const IpWriter w(v6(), 17);
  const std::uint32_t label = load_be32(written(w, 8, 0).data()) & 0xfffff;
  for (std::uint32_t dscp = 0; dscp < 64; ++dscp)
    EXPECT_EQ(load_be32(written(w, 8, static_cast<std::uint8_t>(dscp)).data()),
              0x60000000 | dscp << 22 | label);
}

// RFC 6437 3: packets of one flow have one label, flows of one pair of hosts different ones.
TEST(IpWriter, FlowLabelsTellFlowsApart) {
  std::set<std::uint32_t> labels;
  for (std::uint16_t port = 1; port <= 100; ++port)
    labels.insert(load_be32(written(IpWriter(v6(port), 17), 8, 0).data()) & 0xfffff);
  EXPECT_EQ(labels.size(), 100u);
  EXPECT_EQ(written(IpWriter(v6(), 17), 8, 0), written(IpWriter(v6(), 17), 8, 0));
}

TEST(IpWriter, PseudoHeaderIsThatOfThePacket) {
  for (const Tuple& t : {v4(), v6()})
    for (const std::size_t n : {0u, 8u, 1480u, 65515u})
      EXPECT_EQ(IpWriter(t, 17).pseudo(n).folded(),
                pseudo_header(t.local, t.remote, 17, static_cast<std::uint32_t>(n)).folded());
}

}  // namespace
}  // namespace surety::endpoints
