// SPDX-License-Identifier: BSD-3-Clause
// Token buckets against closed forms: a constant stream through the whole ingress,
// Poisson arrivals at the bucket itself.
#include <gtest/gtest.h>

#include <cmath>

#include "conditioners/enhanced_token_bucket.h"
#include "conditioners/rng.h"
#include "conditioners/token_bucket.h"
#include "tests/unit/router/pipeline/data_plane.h"

namespace surety {
namespace {

using namespace literals;
using test::kStart;

struct Contract {
  Rate rate, offered;
  std::uint64_t bucket;
  std::size_t packet;
};

std::string yaml(const Contract& c) {
  return "version: 1\nports:\n  lan0: {addresses: [10.1.0.254/16]}\n"
         "  wan0: {addresses: [10.2.0.254/16], trust: core}\n"
         "services:\n  s: {conditioner: token-bucket, rate: " +
         std::to_string(c.rate.bits_per_second()) + " bit/s, bucket: " + std::to_string(c.bucket) +
         " B, mark: {in: AF11, out: AF13}}\nclassify:\n  - {match: {port: lan0}, service: s, per: rule}\n";
}

// floor((b + r T)/L), in units of 10^-9 bit.
std::uint64_t tokens(const Contract& c, Duration elapsed) {
  const auto credit =
      static_cast<__int128>(c.bucket) * kCreditPerByte +
      static_cast<__int128>(elapsed.count()) * static_cast<__int128>(c.rate.bits_per_second());
  return static_cast<std::uint64_t>(credit / (static_cast<__int128>(c.packet) * kCreditPerByte));
}

// While a constant stream is not slower than the contract no token is lost, and each arrival can
// use one at most: after n + 1 arrivals min(n + 1, floor((b + r T)/L)) were IN, whatever the rates,
// and the next one's mark follows.
TEST(AnalyticTokenBucket, MarksExactlyTheTokensOfAConstantStream) {
  constexpr Contract kContracts[] = {{800_kbps, 1000_kbps, 10'000, 1500},
                                     {1_Mbps, 3_Mbps, 30'000, 576},
                                     {Rate::bits_per_second(333'333), 334_kbps, 1500, 100},
                                     {5_Mbps, 5_Mbps, 30'000, 1000}};
  for (const Contract& c : kContracts) {
    test::DataPlane d(yaml(c));
    d.route("10.2.0.0/16", {test::ready(1)});
    const auto frame = test::udp_frame({}, c.packet);
    const Duration gap = transmission_time(Bytes(c.packet), c.offered);
    std::uint64_t in = 0;
    for (std::uint64_t n = 0; n < 5000; ++n) {
      d.turn(kStart + static_cast<std::int64_t>(n) * gap);
      d.receive({frame});
      const auto out = d.transmit(1);
      ASSERT_EQ(out.size(), 1u);
      in += test::dscp_of(out[0]) == 10;
      ASSERT_EQ(in, std::min(n + 1, tokens(c, static_cast<std::int64_t>(n) * gap)))
          << c.rate.bits_per_second() << " bit/s, packet " << n;
    }
    EXPECT_EQ(d.service("s").packets[index(Precedence::in)], in);
  }
}

// Share of IN packets of Poisson arrivals at `load` times the contract's rate, one packet per millisecond.
double in_share(double load, std::uint32_t depth, std::uint64_t seed) {
  constexpr int kPackets = 1'000'000;
  const TokenBucketParams p(8_Mbps, Depth::bytes(1000 * depth));
  TokenBucket bucket;
  bucket.reset(p, kStart);
  Rng rng(seed);
  Time now = kStart;
  int in = 0;
  for (int i = 0; i < kPackets; ++i) {
    now += Duration(std::llround(-std::log(1 - rng.uniform()) * 1e6 / load));
    bucket.fill(p, now);
    in += bucket.take(p, p.cost(1000));
  }
  return in / static_cast<double>(kPackets);
}

// IN rate = min(r, lambda), as a share of lambda.
TEST(AnalyticTokenBucket, ADeepBucketMarksTheSmallerOfContractAndLoad) {
  for (const double load : {0.2, 0.5, 0.8, 1.25, 2.0, 5.0})
    EXPECT_NEAR(in_share(load, 50, 1) / std::min(1.0, 1 / load), 1, 0.01) << load;
}

// A bucket of one packet refuses what comes within L/r of the last IN packet: a server without a queue, whose
// loss Erlang's formula gives. Share 1/(1 + load).
TEST(AnalyticTokenBucket, ABucketOfOnePacketFollowsErlang) {
  for (const double load : {0.1, 0.5, 1.0, 2.0, 10.0})
    EXPECT_NEAR(in_share(load, 1, 2) * (1 + load), 1, 0.01) << load;
}

// Held packets of an enhanced token bucket whose alpha is 0: the bucket's b/L at once, the others in the
// first nanosecond of n L/r, however long the queue.
TEST(AnalyticTokenBucket, AHeldFlowLeavesOnePacketEachTimeThatItsRateTakes) {
  constexpr std::uint32_t kPackets = 1000, kBucket = 10;
  const EnhancedTokenBucketParams p{TokenBucketParams(999'999_bps, Depth::bytes(kBucket * 576)),
                                    TokenBucketParams(999'999_bps, Depth::bytes(576)), kPackets};
  HoldingPool pool(kPackets);
  const AlphaClock alpha(kStart);
  EnhancedTokenBucketState state;
  EnhancedTokenBucket::reset(state, p, kStart, alpha.now());
  Packet packet;
  packet.length = 576;
  for (std::uint32_t i = 0; i < kBucket; ++i)
    ASSERT_EQ(EnhancedTokenBucket::offer(state, p, packet, kStart, alpha, pool), EtbVerdict::in);
  ASSERT_EQ(EnhancedTokenBucket::offer(state, p, packet, kStart, alpha, pool), EtbVerdict::out);
  for (std::uint32_t i = 0; i < kPackets; ++i)
    ASSERT_EQ(EnhancedTokenBucket::offer(state, p, packet, kStart, alpha, pool), EtbVerdict::hold);
  Time now = kStart;
  for (std::uint32_t n = 1; n <= kPackets; ++n) {
    now = EnhancedTokenBucket::next_release(state, p, now, alpha, pool);
    ASSERT_EQ(now, kStart + transmission_time(n * 576_B, 999'999_bps)) << n;
    std::array<Packet, 8> out;
    ASSERT_EQ(EnhancedTokenBucket::release(state, p, now, alpha, pool, out), 1u) << n;
    ASSERT_EQ(out[0].precedence, Precedence::in);
  }
}

}  // namespace
}  // namespace surety
