// SPDX-License-Identifier: BSD-3-Clause
#include "router/operate/observe/show.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <sstream>

#include "router/operate/observe/show_command.h"
#include "tests/unit/router/operate/observe/fake_router.h"
#include "tests/unit/router/operate/observe/sample_reading.h"

namespace surety {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::string sample(std::string_view what, bool all = false) {
  return render_table(what, table(test::sample_reading(), what), all);
}

TEST(RenderTable, Router) {
  EXPECT_EQ(sample("router"),
            "ROUTER  VERSION  CONFIG     UPTIME  FLOWS     OF  ROUTES  REJECTED  NEIGHBORS  BUFFERS FREE     "
            "OF  RELOADS  REFUSED        CPU  MEMORY  SIGNALS SENT\n"
            "edge1   0.1.0    a1b2c3  1 h 2 min     13  65536       5         2          3         16000  "
            "16384        2        1  1 min 1 s  250 MB             7\n");
}

TEST(RenderTable, Ports) {
  EXPECT_EQ(
      sample("ports"),
      "PORT  DEVICE            STATE  CHANGES    RX   TX  FORWARDED  PUNTED  DROPPED  DEGRADED  MISSED  "
      "HELD  QUEUED  RX BYTES  TX BYTES     SPEED      SHAPE  OWNER  SPREAD  HANDOVER\n"
      "lan0  af_xdp lan0       up           3  1000    0        984       2        4         5       7  "
      "   4       0    590 kB       0 B  1 Gbit/s          -      1  queues         0\n"
      "wan0  pci 0000:03:00.0  down         0     0  978          0       0        2         0       0  "
      "   0      10       0 B    577 kB         -  34 Mbit/s      2  one            2\n");
}

TEST(RenderTable, CommitmentsAgainstCapacity) {
  EXPECT_EQ(
      sample("commitments"),
      "PORT  GROUP   INTERFACE  QUEUE    DIRECTION  COMMITTED   CAPACITY  UTILIZATION  PER MEMBER OF\n"
      "wan0                     assured  up         30 Mbit/s  24 Mbit/s      125.0 %              -\n"
      "lan0  street  homes               down        8 Mbit/s          -            -              4\n");
}

TEST(RenderTable, QueuesHaveARowForEachPrecedence) {
  EXPECT_EQ(sample("queues"),
            "PORT  QUEUE    PRECEDENCE  DEPTH  LIMIT  AVERAGE  ARRIVALS  EARLY  FORCED  OVERFLOW  MARKED  "
            "CONGESTED  SOJOURN P50     P99\n"
            "wan0  assured  in              5    200      4.2       600      0       0         0       0  "
            "yes              10 us  2.5 ms\n"
            "wan0  assured  out             4    100     10.5       390      2       1         0       5  "
            "yes                  -       -\n"
            "wan0  control  in              0     64        -         0      0       0         0       0  "
            "-                    -       -\n"
            "wan0  control  out             0     64        -         0      0       0         0       0  "
            "-                    -       -\n");
}

TEST(RenderTable, AQueueWithRedPacketsHasAThirdRow) {
  Reading r = test::sample_reading();
  QueueReading& q = r.queues[0];
  q.has_red = true;
  q.counters[2] = {.arrivals = 50, .early_drops = 7, .forced_drops = 9};
  EXPECT_THAT(
      render_table("queues", table(r, "queues"), false),
      HasSubstr(
          "wan0  assured  red             0    100     10.5        50      7       9         0       0  "
          "yes                  -       -\n"
          "wan0  control  in "));
}

TEST(RenderTable, Services) {
  EXPECT_EQ(sample("services"),
            "SERVICE      CONDITIONER  FLOWS  CONTRACTS  COMMITTED  DELIVERED  OF GUARANTEED  CONFORMANCE   "
            "IN  OUT  DROPPED  HELD\n"
            "silver       csa             12         10  10 Mbit/s  13 Mbit/s         98.7 %      99.80 %  "
            "600  300        3     4\n"
            "best-effort  none             1          0    0 bit/s    0 bit/s              -            -    "
            "0   90        0     0\n");
}

TEST(RenderTable, Flows) {
  EXPECT_EQ(sample("flows"),
            "SOURCE         DESTINATION      PROTOCOL  VLAN  SERVICE      IN    OUT  HELD    IDLE\n"
            "10.1.0.1:5001  198.51.100.7:80  tcp        100  silver   1.5 MB  400 B     4  2.5 ms\n");
}

TEST(RenderTable, DropsThatHappened) {
  EXPECT_EQ(
      sample("drops"),
      "PORT  STAGE      REASON         GROUP   PACKETS  MEANING\n"
      "lan0  parse      ipv4_checksum  error         1  wrong IPv4 header checksum\n"
      "lan0  condition  buffer         policy        3  input buffer of the flow is full (CSA, Fig. 5)\n"
      "wan0  queue      early          policy        2  RIO: between min and max\n");
}

TEST(RenderTable, AllDropsOnDemand) {
  const std::string text = sample("drops", true);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1 + 2 * static_cast<int>(kDropReasons));
  EXPECT_THAT(text, HasSubstr("\nwan0  queue      overflow                  policy        0  queue full\n"));
}

TEST(RenderTable, ExceptionsThatHappened) {
  EXPECT_EQ(sample("exceptions"),
            "PORT  WAY        RESULT         FRAMES  MEANING\n"
            "lan0  up         to_twin             2  given to the kernel by the port's TAP mirror\n"
            "lan0  kernel     arp passed          8  ARP\n"
            "lan0  responder  arp_reply           3  answered\n"
            "all   icmp       time_exceeded       4  said so\n");
  EXPECT_THAT(sample("exceptions", true), HasSubstr("\nwan0  down       ring_full"));
}

TEST(RenderTable, Filters) {
  EXPECT_EQ(sample("filters"),
            "FILTER     ENTRY    ACTION  PACKETS\n"
            "from-acme  1        permit       70\n"
            "from-acme  default  deny          8\n");
}

TEST(RenderTable, Aggregates) {
  EXPECT_EQ(
      sample("aggregates"),
      "AGGREGATE   PORT  QUEUE          TPR   LAMBDA IN  LAMBDA OUT    TOKENS   IN  OUT  REMARKED  DROPPED\n"
      "uplink-tcp  wan0  assured  17 Mbit/s  490 kbit/s  710 kbit/s  34.56 kB  600  390        11        "
      "2\n");
}

TEST(RenderTable, Domains) {
  EXPECT_EQ(sample("domains"),
            "DOMAIN        ALPHA\n"
            "wan0/assured   0.38\n");
}

TEST(RenderTable, WorkersByTheShareOfBusyCycles) {
  EXPECT_EQ(sample("workers"),
            "CORE    BUSY  FLOWS  OWNS  READS         BUSY CYCLES  IDLE CYCLES  TURNS\n"
            "   1  25.0 %      9  lan0  lan0:0                250          750     40\n"
            "   2       -      4  wan0  lan0:1, wan0            0            0      0\n");
}

TEST(RenderTable, SignallingHasParagraphs) {
  EXPECT_THAT(sample("signalling"), StartsWith("Mode: act\n\nQueues of this router that signal:\n"));
}

TEST(RenderTable, Stages) {
  EXPECT_THAT(sample("stages"), StartsWith("STAGE      CYCLES  PACKETS  CYCLES/PACKET\n"
                                           "rx              0        0              -\n"
                                           "parse       13000     1000           13.0\n"));
}

TEST(RenderTable, WithoutRows) {
  EXPECT_EQ(render_table("domains", Json::array()), "DOMAIN  ALPHA\n(none)\n");
}

TEST(RenderTable, LeavesBlanksForWhatAnOlderRouterDoesNotSend) {
  EXPECT_EQ(render_table("domains", {{{"name", "wan0/assured"}}}),
            "DOMAIN        ALPHA\nwan0/assured      -\n");
}

class Show : public testing::Test {
 protected:
  int run(const ShowRequest& request) {
    return show(request, TelemetryClient({directory_.path()}), out_, err_);
  }

  test::RuntimeDirectory directory_;
  std::ostringstream out_, err_;
};

std::string domains(const std::string&) {
  return R"({"/surety/domains":{"total":1,"offset":0,"rows":[{"name":"wan0/assured","alpha_ratio":0.38}]}})";
}

TEST_F(Show, PrintsATable) {
  const test::FakeRouter router(directory_, "edge1", domains);
  EXPECT_EQ(run({.what = "domains"}), 0);
  EXPECT_EQ(out_.str(), "DOMAIN        ALPHA\nwan0/assured   0.38\n");
  EXPECT_EQ(err_.str(), "");
}

TEST_F(Show, PrintsJson) {
  const test::FakeRouter router(directory_, "edge1", domains);
  EXPECT_EQ(run({.what = "domains", .router = "edge1", .json = true}), 0);
  EXPECT_EQ(out_.str(), "[\n  {\n    \"name\": \"wan0/assured\",\n    \"alpha_ratio\": 0.38\n  }\n]\n");
}

TEST_F(Show, SoldIsAnAliasOfCommitments) {
  const test::FakeRouter router(directory_, "edge1", [](const std::string&) -> std::string {
    return R"({"/surety/commitments":{"total":0,"offset":0,"rows":[]}})";
  });
  EXPECT_EQ(run({.what = "sold", .json = true}), 0) << err_.str();
  EXPECT_EQ(out_.str(), "[]\n");
}

TEST_F(Show, FailsWithoutARouter) {
  EXPECT_EQ(run({.what = "ports"}), 1);
  EXPECT_EQ(out_.str(), "");
  EXPECT_EQ(err_.str(), "surety show: no router is running: start one with `surety run`\n");
}

TEST_F(Show, ListsTheTablesWhenThereIsNoSuchOne) {
  EXPECT_EQ(run({.what = "prefixes"}), 2);
  EXPECT_EQ(out_.str(), "");
  EXPECT_EQ(err_.str(),
            "surety show: no table is called prefixes: choose one of router, ports, interfaces, queues, "
            "services, contracts, filters, flows, drops, exceptions, aggregates, domains, signalling, "
            "workers, stages, commitments, subscribers, events, routes, neighbors\n");
}

}  // namespace
}  // namespace surety
