// SPDX-License-Identifier: BSD-3-Clause
#include "router/pipeline/filter_stage.h"

#include "tests/unit/router/pipeline/data_plane.h"

namespace surety {
namespace {

using test::DataPlane;
using test::Udp;
using test::udp_frame;
using namespace frames;

constexpr std::uint32_t kHome = 0x0a010001, kBeside = 0x0a030001, kOurs = 0x0a0100fe, kNowhere = 0xc6336401,
                        kBurnt = 0xc0000201, kOut = 0x0a020005;

// Customers on lan0 (10.1/16) and lan1 (10.3/16), the world on wan0.
struct Edge : DataPlane {
  Edge(const std::string& lan0, const std::string& rest = "")
      : DataPlane("version: 1\nports: {lan0: {" + lan0 +
                  "}, wan0: {trust: core}, lan1: {source_check: strict}}\n" + rest) {
    using State = NextHopEntry::State;
    route("10.1.0.0/16", {test::not_ready(State::glean, 0)});
    route("10.2.0.0/16", {test::ready(1)});
    route("10.3.0.0/16", {test::ready(2, 3)});
    route_to("10.1.0.254/32", {kNextHopLocal, 1});
    route_to("192.0.2.0/24", {kNextHopBlackhole, 1});
    route("203.0.113.0/24", {test::ready(1), test::ready(0)});
    route("2001:db8:1::/64", {test::ready(0)});
    route("2001:db8:2::/64", {test::ready(1)});
  }
  std::string from(std::uint32_t source, PortIndex port = 0) {
    return fate(udp_frame({.source = source, .destination = 0x0a020001, .port = port}), port);
  }
};

TEST(SourceCheck, StrictTakesWhatHasARouteBackByThePort) {
  Edge edge("source_check: strict");
  EXPECT_EQ(edge.from(kHome), "to 1");
  EXPECT_EQ(edge.from(kBeside), "drop source_check");
  EXPECT_EQ(edge.from(kOurs), "drop source_check");
  EXPECT_EQ(edge.from(kNowhere), "drop source_check");
  EXPECT_EQ(edge.from(kBurnt), "drop source_check");
  EXPECT_EQ(edge.from(kOut), "drop source_check");
  EXPECT_EQ(edge.from(0xcb007101), "to 1") << "one of equal routes is enough";
  edge.expect_law();
}

TEST(SourceCheck, LooseTakesWhatHasARoute) {
  Edge edge("source_check: loose");
  EXPECT_EQ(edge.from(kHome), "to 1");
  EXPECT_EQ(edge.from(kBeside), "to 1");
  EXPECT_EQ(edge.from(kOurs), "drop source_check");
  EXPECT_EQ(edge.from(kNowhere), "drop source_check");
  EXPECT_EQ(edge.from(kBurnt), "drop source_check");
}

TEST(SourceCheck, IsStrictForCustomersAndOffForTheCore) {
  Edge edge("source_check: strict");
  EXPECT_EQ(edge.current->config.ports[1].source_check, config::Port::SourceCheck::off);
  EXPECT_EQ(edge.current->config.ports[2].source_check, config::Port::SourceCheck::strict);
  EXPECT_EQ(edge.from(kNowhere, 1), "to 1");
  Edge off("source_check: off");
  EXPECT_EQ(off.from(kNowhere), "to 1");
  EXPECT_EQ(
      config::parse("version: 1\nports: {a: {}, b: {trust: core}}\n", "f").config->ports[0].source_check,
      config::Port::SourceCheck::strict);
}

TEST(SourceCheck, AsksForIPv6) {
  Edge edge("source_check: strict");
  const auto from = [&](std::uint8_t subnet) {
    const Octets source{0x20, 1, 0xd, 0xb8, 0, subnet, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9};
    Octets ip = ip6(17, udp(1, 2, 8));
    std::copy(source.begin(), source.end(), ip.begin() + 8);
    Octets to = source;
    to[5] = 2;
    std::copy(to.begin(), to.end(), ip.begin() + 24);
    return edge.fate(ethernet(kIpv6, test::port_mac(0)) + ip);
  };
  EXPECT_EQ(from(1), "to 1");
  EXPECT_EQ(from(7), "drop source_check");
}

const std::string kClassified =
    "services: {gold: {conditioner: token-bucket, rate: 1 Mbit/s, bucket: 10 kB, mark: {in: AF11, out: "
    "AF12}}}\n"
    "classify: [{match: {port: lan0}, service: gold, per: flow}]\n";

// Whoever is refused makes no flow; those behind it in the burst are not mixed up.
TEST(SourceCheck, IsAskedBeforeAFlowIsMade) {
  Edge edge("source_check: strict", kClassified);
  std::vector<test::Octets> frames;
  for (std::uint16_t i = 0; i < 64; ++i)
    frames.push_back(
        udp_frame({.source = i % 3 == 1 ? kBeside + i : kHome + i, .destination = 0x0a020001, .from = i}));
  edge.receive(frames);
  EXPECT_EQ(edge.drops(0, DropReason::source_check), 21u);
  EXPECT_EQ(edge.ingress->flows().size(), 43u);
  for (const auto& frame : edge.transmit(1))
    EXPECT_EQ((frame[29] - 1) % 3 == 1, false) << "the last byte of 10.1.0.1 + i";
  edge.receive(frames);
  EXPECT_EQ(edge.drops(0, DropReason::source_check), 42u);
  EXPECT_EQ(edge.ingress->flows().size(), 43u);
  edge.expect_law();
}

TEST(SourceCheck, AFlowIsAskedAgainAfterAReload) {
  Edge edge("source_check: off", kClassified);
  EXPECT_EQ(edge.from(kBeside), "to 1");
  edge.reload(
      "version: 1\nports: {lan0: {source_check: strict}, wan0: {trust: core}, lan1: {source_check: "
      "strict}}\n" +
      kClassified);
  edge.run_until(edge.now + std::chrono::seconds(1));
  EXPECT_EQ(edge.from(kBeside), "drop source_check");
  EXPECT_EQ(edge.from(kHome), "to 1");
}

}  // namespace
}  // namespace surety
