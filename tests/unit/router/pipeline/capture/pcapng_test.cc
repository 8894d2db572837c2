// SPDX-License-Identifier: BSD-3-Clause
// Byte by byte; tests/unit/lab/simulation/pcapng_test.cc has the other blocks, and tshark reads all of it in
// tests/functional/observe/test_capture.py.
#include "router/pipeline/capture/pcapng.h"

#include <gtest/gtest.h>

#include <array>

namespace surety {
namespace {

TEST(PcapngBlocks, APacketHasItsInterfaceItsLengthAndItsComment) {
  const std::array<std::uint8_t, 3> bytes{1, 2, 3};
  const std::string block = pcapng::packet(
      {.interface = 2, .nanoseconds = 0x1'0000'0002, .length = 9, .captured = bytes, .comment = "early"});
  const std::string expected(
      "\6\0\0\0\74\0\0\0\2\0\0\0\1\0\0\0\2\0\0\0\3\0\0\0\11\0\0\0\1\2\3\0"
      "\2\0\4\0\0\0\0\0\1\0\5\0early\0\0\0\0\0\0\0\74\0\0\0",
      60);
  EXPECT_EQ(block, expected);
}

TEST(PcapngBlocks, AnInterfaceHasItsSnapLength) {
  EXPECT_EQ(pcapng::interface("l", 256).substr(12, 4), std::string("\0\1\0\0", 4));
}

}  // namespace
}  // namespace surety
