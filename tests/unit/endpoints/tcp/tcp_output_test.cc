// SPDX-License-Identifier: BSD-3-Clause
#include "endpoints/tcp/tcp_output.h"

#include <gtest/gtest.h>

#include <vector>

#include "endpoints/tcp/wire_tcp.h"

namespace surety::endpoints {
namespace {

using namespace literals;

constexpr Time kStart{std::chrono::seconds(1)};
constexpr std::uint32_t kInitial = 0xffff'fffe;
const std::vector<std::uint8_t> kTenBytes{0, 1, 2, 3, 4, 5, 6, 7, 8, 9};

// An output whose SYN is acknowledged.
TcpOutput connected(std::uint32_t window = 100) {
  TcpOutput out(kInitial);
  out.take(5, kStart);
  out.acknowledge(kInitial + 1, window, kStart);
  return out;
}
using Bytes8 = std::vector<std::uint8_t>;
Bytes8 bytes(const TcpOutput::Piece& p) {
  return {p.bytes.begin(), p.bytes.end()};
}

TEST(TcpOutput, TheSynGoesAlone) {
  TcpOutput out(kInitial);
  out.set_bytes(kTenBytes);
  out.finish();
  EXPECT_EQ(out.highest(), kInitial);
  ASSERT_TRUE(out.due());
  const auto p = out.take(100, kStart);
  EXPECT_EQ(p.sequence, kInitial);
  EXPECT_EQ(p.flags, tcp::kSyn);
  EXPECT_TRUE(p.bytes.empty());
  EXPECT_FALSE(out.due());
  EXPECT_EQ(out.highest(), kInitial + 1);
  EXPECT_EQ(out.timer(), kStart + 1s);
}

TEST(TcpOutput, BytesGoInSegmentsAndTheFinWithTheLast) {
  TcpOutput out = connected();
  EXPECT_EQ(out.timer(), kNever);
  out.set_bytes(kTenBytes);
  out.finish();
  const auto a = out.take(7, kStart);
  EXPECT_EQ(a.sequence, kInitial + 1);
  EXPECT_EQ(a.flags, tcp::kPsh);
  EXPECT_EQ(bytes(a), (Bytes8{0, 1, 2, 3, 4, 5, 6}));
  const auto b = out.take(7, kStart);
  EXPECT_EQ(b.sequence, kInitial + 8);
  EXPECT_EQ(b.flags, tcp::kPsh | tcp::kFin);
  EXPECT_EQ(bytes(b), (Bytes8{7, 8, 9}));
  EXPECT_FALSE(out.due());
  EXPECT_FALSE(out.fin_acknowledged());
  out.acknowledge(kInitial + 12, 100, kStart);
  EXPECT_TRUE(out.fin_acknowledged());
  EXPECT_EQ(out.timer(), kNever);
}

TEST(TcpOutput, AFinAloneNeedsNoWindow) {
  TcpOutput out = connected(0);
  EXPECT_FALSE(out.due());
  out.finish();
  ASSERT_TRUE(out.due());
  EXPECT_EQ(out.take(7, kStart).flags, tcp::kFin);
}

TEST(TcpOutput, BytesStayWithinThePeersWindow) {
  TcpOutput out = connected(4);
  out.set_bytes(kTenBytes);
  EXPECT_EQ(bytes(out.take(100, kStart)), (Bytes8{0, 1, 2, 3}));
  EXPECT_FALSE(out.due());
  out.acknowledge(kInitial + 3, 4, kStart);
  EXPECT_EQ(bytes(out.take(100, kStart)), (Bytes8{4, 5}));
  out.acknowledge(kInitial + 7, 0, kStart);
  EXPECT_FALSE(out.due());
  out.acknowledge(kInitial + 7, 100, kStart);
  EXPECT_EQ(bytes(out.take(100, kStart)), (Bytes8{6, 7, 8, 9}));
}

TEST(TcpOutput, MoreBytesMayFollow) {
  TcpOutput out = connected();
  const std::span all(kTenBytes);
  out.set_bytes(all.first(2));
  EXPECT_EQ(bytes(out.take(100, kStart)), (Bytes8{0, 1}));
  EXPECT_FALSE(out.due());
  out.set_bytes(all);
  const auto p = out.take(100, kStart);
  EXPECT_EQ(p.sequence, kInitial + 3);
  EXPECT_EQ(bytes(p), (Bytes8{2, 3, 4, 5, 6, 7, 8, 9}));
}

TEST(TcpOutput, RepeatsFromTheFirstUnacknowledgedByte) {
  TcpOutput out = connected();
  out.set_bytes(kTenBytes);
  out.take(4, kStart);
  out.take(4, kStart);
  out.acknowledge(kInitial + 5, 100, kStart + 100ms);
  EXPECT_EQ(out.timer(), kStart + 1100ms) << "RFC 6298 5.3: starts again with what is outstanding";
  EXPECT_TRUE(out.expire(out.timer()));
  const auto p = out.take(100, kStart + 1100ms);
  EXPECT_EQ(p.sequence, kInitial + 5);
  EXPECT_EQ(bytes(p), (Bytes8{4, 5, 6, 7, 8, 9}));
  EXPECT_EQ(out.timer(), kStart + 1100ms + 2s) << "doubled";
}

TEST(TcpOutput, AnAckBeyondWhatIsRepeatedSkipsIt) {
  TcpOutput out = connected();
  out.set_bytes(kTenBytes);
  out.take(10, kStart);
  out.expire(out.timer());
  out.acknowledge(kInitial + 9, 100, kStart + 2s);
  EXPECT_EQ(bytes(out.take(10, kStart + 2s)), (Bytes8{8, 9}));
}

TEST(TcpOutput, GivesUpAfterFiveRepetitions) {
  TcpOutput out(kInitial);
  out.take(1, kStart);
  Time now = kStart;
  for (int k = 0; k < 5; ++k) {
    EXPECT_EQ(out.timer() - now, 1s * (1 << k));
    now = out.timer();
    ASSERT_TRUE(out.expire(now));
    EXPECT_EQ(out.take(1, now).flags, tcp::kSyn);
  }
  EXPECT_EQ(out.timer(), kStart + 63s);
  EXPECT_FALSE(out.expire(out.timer()));
}

TEST(TcpOutput, AnAnswerEndsTheBackoff) {
  TcpOutput out = connected();
  out.set_bytes(kTenBytes);
  out.take(4, kStart);
  out.expire(kStart + 1s);
  out.take(4, kStart + 1s);
  out.acknowledge(kInitial + 5, 100, kStart + 2s);
  out.take(4, kStart + 2s);
  EXPECT_EQ(out.timer(), kStart + 3s);
}

}  // namespace
}  // namespace surety::endpoints
