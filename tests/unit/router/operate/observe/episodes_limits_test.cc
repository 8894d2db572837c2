// SPDX-License-Identifier: BSD-3-Clause
#include "router/operate/observe/episodes.h"

#include <gmock/gmock.h>

namespace surety {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

struct LimitBed : testing::Test {
  LimitBed() {
    reading.ports.resize(2);
    reading.ports[0].name = "lan0";
    reading.ports[1].name = "wan0";
    reading.mempool_available = reading.mempool_size = 16384;
  }
  std::vector<std::string> look(Duration later = 1s) {
    written.clear();
    limits.look(reading, now += later);
    return written;
  }
  PortReading& port(std::size_t p) { return reading.ports[p]; }

  Time now{};
  Reading reading;
  std::vector<std::string> written{};
  EventLog log{[] { return EventTime{}; },
               [this](const StampedEvent& e) {
                 written.push_back(std::string(name(e.event.kind)) + ' ' + e.event.text);
               }};
  LimitEvents limits{log};
};

TEST_F(LimitBed, NothingHappens) {
  EXPECT_THAT(look(), IsEmpty());
}

TEST_F(LimitBed, AFullTableIsToldOnceAnEpisode) {
  std::uint64_t& full = port(0).counters.degraded[static_cast<std::size_t>(DegradeReason::flow_table_full)];
  full = 7;
  EXPECT_THAT(look(), ElementsAre(HasSubstr("table_full port lan0: flow_table_full: 7: service needs")));
  full += 100;
  EXPECT_THAT(look(), IsEmpty());
  EXPECT_THAT(look(29s), IsEmpty());
  EXPECT_THAT(look(1s), IsEmpty()) << "it is over";
  full += 3;
  EXPECT_THAT(look(), ElementsAre(HasSubstr("flow_table_full: 3")));
  EXPECT_EQ(log.rows()[0]["fields"], Json({{"reason", "flow_table_full"}, {"count", 7U}, {"port", "lan0"}}));
}

TEST_F(LimitBed, EachPortAndLimitIsItsOwn) {
  port(0).counters.drops[static_cast<std::size_t>(DropReason::punt_limited)] = 1;
  port(1).counters.drops[static_cast<std::size_t>(DropReason::punt_limited)] = 1;
  port(1).counters.degraded[static_cast<std::size_t>(DegradeReason::creation_limited)] = 1;
  port(1).counters.degraded[static_cast<std::size_t>(DegradeReason::flow_share_full)] = 1;
  port(1).counters.drops[static_cast<std::size_t>(DropReason::early)] = 100;  // is none
  EXPECT_THAT(look(), ElementsAre(HasSubstr("attack_limited port lan0: punt_limited"),
                                  HasSubstr("attack_limited port wan0: flow_share_full"),
                                  HasSubstr("attack_limited port wan0: creation_limited"),
                                  HasSubstr("attack_limited port wan0: punt_limited")));
}

TEST_F(LimitBed, OfTheControlThread) {
  port(0).responder = {{"table_full", "too many", 1}, {"limited", "too fast", 2}, {"learned", "fine", 9}};
  port(1).kernel = {{"arp", "limited", "ARP", 5}, {"arp", "passed", "ARP", 500}};
  reading.icmp_errors = {{"limited", "more errors", 3}, {"too_big", "said so", 9}};
  EXPECT_THAT(look(), ElementsAre("table_full port lan0: responder_table_full: 1: too many",
                                  "attack_limited port lan0: responder_limited: 2: too fast",
                                  "attack_limited port wan0: kernel_arp: 5: ARP",
                                  "attack_limited icmp_errors: 3: more errors"));
}

TEST_F(LimitBed, RoutesAndBuffers) {
  reading.routes_rejected = 4;
  reading.mempool_available = 819;  // of 16384, a twentieth is 819.2
  EXPECT_THAT(look(),
              ElementsAre(HasSubstr("table_full routes: 4:"), HasSubstr("table_full packet_buffers: 819:")));
  EXPECT_THAT(look(1h), IsEmpty()) << "it goes on";
  reading.mempool_available = 820;
  reading.routes_rejected = 0;
  EXPECT_THAT(look(30s), IsEmpty());
  reading.routes_rejected = 1;
  EXPECT_THAT(look(), ElementsAre(HasSubstr("routes: 1:")));
}

TEST_F(LimitBed, ACounterThatBeginsAnewIsNoFlood) {
  port(0).counters.drops[static_cast<std::size_t>(DropReason::punt_limited)] = 100;
  EXPECT_EQ(look().size(), 1U);
  port(0).counters.drops[static_cast<std::size_t>(DropReason::punt_limited)] = 5;
  EXPECT_THAT(look(60s), IsEmpty());
  EXPECT_THAT(look(60s), IsEmpty());
}

}  // namespace
}  // namespace surety
