// SPDX-License-Identifier: BSD-3-Clause
#include "endpoints/tcp/stream_check.h"

#include <gtest/gtest.h>

#include <vector>

namespace surety::endpoints {
namespace {

std::vector<std::uint8_t> stream(std::uint64_t offset, std::size_t length) {
  std::vector<std::uint8_t> bytes(length);
  StreamPattern::write(bytes, offset);
  return bytes;
}

// As after a segment whose payload is not the stream's.
StreamCheck after_another_payload() {
  StreamCheck check;
  IpPacket packet;
  packet.l4_verified = true;
  const std::vector<std::uint8_t> other(100, 1);
  EXPECT_TRUE(check.intact(packet, other, 0));
  return check;
}

TEST(StreamCheck, CountsBytesThatDiffer) {
  StreamCheck check = after_another_payload();
  auto bytes = stream(1000, 100);
  check.compare(bytes, 1000);
  EXPECT_EQ(check.mismatches(), 0u);
  bytes[3] ^= 1;
  bytes[99] ^= 1;
  check.compare(bytes, 1000);
  EXPECT_EQ(check.mismatches(), 2u);
}

TEST(StreamCheck, AnotherStreamHasNoMismatches) {
  StreamCheck check = after_another_payload();
  auto bytes = stream(0, 100);
  bytes[StreamCheck::kRecognised - 1] ^= 1;
  check.compare(bytes, 0);
  check.compare(std::vector<std::uint8_t>(100, 7), 100);
  EXPECT_EQ(check.mismatches(), 0u);
}

TEST(StreamCheck, PayloadThatMatchedIsNotReadAgain) {
  StreamCheck check;
  IpPacket packet;
  packet.l4_verified = true;
  EXPECT_TRUE(check.intact(packet, stream(500, 100), 500));
  check.compare(std::vector<std::uint8_t>(100, 7), 500);
  EXPECT_EQ(check.mismatches(), 0u);
}

}  // namespace
}  // namespace surety::endpoints
