// SPDX-License-Identifier: BSD-3-Clause
#include "router/pipeline/classify/filter.h"

#include <gmock/gmock.h>

#include <vector>

#include "tests/unit/router/pipeline/wire/frame_builder.h"

#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

namespace surety {
namespace {

using namespace frames;
using config::FilterEntry;
using testing::ElementsAre;
using Counts = std::vector<std::uint64_t>;

constexpr std::uint8_t kIcmp = 1, kTcp = 6, kUdp = 17;

config::Config with(std::vector<config::Filter> filters) {
  config::Config c;
  c.filters = std::move(filters);
  return c;
}
config::Filter web() {
  return {"web", {{true, {.protocol = kTcp}, "tcp"}, {false, {.protocol = kUdp}}}};
}
config::Filter all() {
  return {"all", {{true, {}}}};
}

struct Packets {
  std::vector<Octets> frames;
  std::vector<ParsedPacket> headers;
  std::vector<FilteredPacket> packets;

  explicit Packets(const std::vector<std::uint8_t>& protocols) : headers(protocols.size()) {
    for (const std::uint8_t p : protocols)
      frames.push_back(ethernet(kIpv4) + ip4(p, p == kTcp ? tcp(1, 2, 0) : udp(1, 2, 0)));
    for (std::size_t i = 0; i < frames.size(); ++i) {
      EXPECT_TRUE(parse(frames[i], {.mac = kOurMac}, headers[i]).forwards());
      packets.push_back({&headers[i], frames[i].data()});
    }
  }
};

TEST(Filters, JudgeAndCountEachPacket) {
  const Filters filters(with({all(), web()}));
  ASSERT_EQ(filters.counters(), 5u);
  EXPECT_EQ(filters.first_counter(0), 0u);
  EXPECT_EQ(filters.first_counter(1), 2u);
  Counts counts(5);
  const Packets burst({kTcp, kUdp, kIcmp, kTcp});
  EXPECT_EQ(filters.judge(1, burst.packets, counts), 0b0110u);
  EXPECT_THAT(counts, ElementsAre(0, 0, 2, 1, 1));
  EXPECT_EQ(filters.judge(0, burst.packets, counts), 0u);
  EXPECT_THAT(counts, ElementsAre(4, 0, 2, 1, 1));
}

TEST(Filters, JudgeAFullVector) {
  const Filters filters(with({web()}));
  Counts counts(3);
  const Packets burst(std::vector<std::uint8_t>(64, kUdp));
  EXPECT_EQ(filters.judge(0, burst.packets, counts), ~std::uint64_t{0});
  EXPECT_THAT(counts, ElementsAre(0, 64, 0));
}

TEST(Filters, AReloadBuildsOnlyWhatHasChanged) {
  const Filters before(with({all(), web()}));
  config::Filter changed = web();
  changed.entries[0].permit = false;
  const Filters after(with({changed, all()}), &before);
  EXPECT_EQ(&after[1], &before[0]);
  EXPECT_NE(&after[0], &before[1]);
  const Filters renamed(with({{"other", all().entries}}), &after);
  EXPECT_NE(&renamed[0], &after[1]);
}

Counts carried(const Filters& after, const Counts& counts) {
  Counts now(after.counters());
  after.carry_over(counts, now);
  return now;
}

TEST(Filters, AnEntryOfTheSameFilterAndNameKeepsItsCount) {
  const Filters before(with({all(), web()}));
  const Counts counts{1, 2, 3, 4, 5};
  EXPECT_THAT(carried(Filters(with({web(), all()}), &before), counts), ElementsAre(3, 4, 5, 1, 2));
  config::Filter longer = web();
  longer.entries.insert(longer.entries.begin(), FilterEntry{true, {.protocol = kIcmp}, "ping"});
  EXPECT_THAT(carried(Filters(with({longer}), &before), counts), ElementsAre(0, 3, 0, 5))
      << "what was entry 2 is called 3";
  config::Filter other = web();
  other.entries[0].permit = false;
  EXPECT_THAT(carried(Filters(with({other}), &before), counts), ElementsAre(0, 4, 5))
      << "what denies has not permitted";
  EXPECT_THAT(carried(Filters(with({{"new", web().entries}}), &before), counts), ElementsAre(0, 0, 0));
  EXPECT_THAT(carried(Filters(with({}), &before), counts), ElementsAre());
}

}  // namespace
}  // namespace surety
