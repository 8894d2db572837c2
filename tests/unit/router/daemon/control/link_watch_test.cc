// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/control/link_watch.h"

#include <gmock/gmock.h>

#include "tests/unit/router/daemon/control/control_bed.h"

namespace surety {
namespace {

using namespace test;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr int kDevice = 7;

LinkEvent event_of(bool up, std::uint32_t mtu = 1500) {
  return {.ifindex = kDevice, .name = "eth", .up = up, .mtu = mtu};
}

struct LinkWatchTest : testing::Test {
  ControlBed bed;
  Time now = kStart;

  void look() {
    now += LinkWatch::kEvery;
    EXPECT_TRUE(bed.watch.look(now));
  }
  // Frames that a link sends when it comes up.
  std::size_t announced() {
    bed.sent.clear();
    bed.collector.collect(now);
    return bed.sent.size();
  }
};

TEST_F(LinkWatchTest, LooksNotMoreOftenThanItShould) {
  EXPECT_TRUE(bed.watch.look(kStart));
  EXPECT_FALSE(bed.watch.look(kStart + LinkWatch::kEvery - Duration(1)));
  EXPECT_TRUE(bed.watch.look(kStart + LinkWatch::kEvery));
}

TEST_F(LinkWatchTest, TellsOfChangesAndOfAPortThatIsDownAtTheStart) {
  const ControlPort &lan = bed.open(kLan), &wan = bed.open(kWan);
  bed.up = {true, false};
  look();
  EXPECT_THAT(bed.told, ElementsAre("port wan: link down"));
  EXPECT_EQ(lan.state.changes + wan.state.changes, 0U);
  bed.up = {false, true};
  look();
  look();
  EXPECT_THAT(bed.told, ElementsAre("port wan: link down", "port lan: link down", "port wan: link up"));
  EXPECT_EQ(lan.state.changes, 1U);
  EXPECT_EQ(wan.state.changes, 1U);
}

TEST_F(LinkWatchTest, RoutesLeaveAPortThatIsDown) {
  bed.open(kLan);
  look();
  EXPECT_EQ(bed.sink.forward(address("10.1.0.9")), "glean 0");
  bed.up[kLan] = false;
  look();
  EXPECT_EQ(bed.sink.forward(address("10.1.0.9")), "none");
}

TEST_F(LinkWatchTest, AClosedPortHasNoState) {
  look();
  EXPECT_EQ(bed.links.ports()[kLan].state.up, std::nullopt);
  EXPECT_THAT(bed.told, IsEmpty());
}

TEST_F(LinkWatchTest, AnInterfaceFollowsItsPortAndIsNotLogged) {
  const ControlPort& acme = bed.open_interface(0);
  bed.up[kLan] = false;
  look();
  EXPECT_EQ(acme.state.up, false);
  EXPECT_EQ(announced(), 0U);
  bed.up[kLan] = true;
  look();
  EXPECT_EQ(acme.state.up, true);
  EXPECT_EQ(announced(), 1U);
  EXPECT_THAT(bed.told, IsEmpty());
}

// Neighbours of the old process stay known, as its link was up.
TEST_F(LinkWatchTest, ALinkOfTheOldProcessDoesNotBeginAgain) {
  bed.open(kLan).state.inherited = true;
  look();
  EXPECT_EQ(announced(), 0U);
  bed.up[kLan] = false;
  look();
  bed.up[kLan] = true;
  look();
  EXPECT_EQ(announced(), 1U);
}

TEST_F(LinkWatchTest, TheKernelReportsItsOwnDevices) {
  const ControlPort& lan = bed.open(kLan, kDevice);
  bed.up[kLan] = false;
  look();
  EXPECT_EQ(lan.state.up, std::nullopt) << "not read";
  bed.watch.on(event_of(true), now);
  EXPECT_EQ(bed.sink.forward(address("10.1.0.9")), "glean 0");
  bed.watch.on(event_of(false), now);
  EXPECT_EQ(bed.sink.forward(address("10.1.0.9")), "none");
  bed.watch.on(event_of(true), now);
  EXPECT_THAT(bed.told, ElementsAre("port lan: link down", "port lan: link up"));
  EXPECT_EQ(lan.state.changes, 2U);
}

// A hundred times a second, which would use up the log's room for all links.
TEST_F(LinkWatchTest, ALinkThatFlapsIsFollowedAndLoggedInParts) {
  const ControlPort &lan = bed.open(kLan, kDevice), &wan = bed.open(kWan);
  look();
  const auto flap = [&](bool up) {
    bed.watch.on(event_of(up), now);
    EXPECT_EQ(bed.sink.forward(address("10.1.0.9")), up ? "glean 0" : "none");
    now += Duration(std::chrono::milliseconds(5));
    if (bed.watch.look(now)) bed.up[kWan] = !bed.up[kWan];
  };
  for (int i = 0; i < 1000; ++i) {
    flap(false);
    flap(true);
  }
  EXPECT_GE(lan.state.changes, 1999U);
  EXPECT_GE(wan.state.changes, 400U);
  constexpr std::size_t kMost = LinkWatch::kEventsAtOnce + 10 + 1;
  const auto of = [&](const char* port) {
    return static_cast<std::size_t>(
        std::ranges::count_if(bed.told, [&](const auto& text) { return text.starts_with(port); }));
  };
  EXPECT_GE(of("port lan"), 10U);
  EXPECT_LE(of("port lan"), kMost);
  EXPECT_LE(of("port wan"), kMost);
  flap(false);
  bed.up[kWan] = false;
  for (int i = 0; i < 100; ++i) look();
  EXPECT_EQ(
      std::ranges::count(bed.told, "port lan: link down") - std::ranges::count(bed.told, "port lan: link up"),
      1)
      << "the state that lasts";
  EXPECT_EQ(lan.state.told, false);
  EXPECT_EQ(wan.state.told, false);
}

// It is set again when the link comes up.
TEST_F(LinkWatchTest, TheMtuOfAnOperatorIsKept) {
  const ControlPort& lan = bed.open(kLan, kDevice);
  bed.watch.on(event_of(false, 1500), now);
  EXPECT_EQ(lan.state.mtu, 1500U) << "the first event counts";
  bed.watch.on(event_of(true, 9000), now);
  EXPECT_EQ(lan.state.mtu, 1500U) << "the driver has started again";
  bed.watch.on(event_of(true, 9000), now);
  EXPECT_EQ(lan.state.mtu, 1500U) << "reported twice";
  bed.watch.on(event_of(true, 2000), now);
  EXPECT_EQ(lan.state.mtu, 2000U) << "an operator's";
  bed.watch.on(event_of(false, 1500), now);
  EXPECT_EQ(lan.state.mtu, 2000U);
}

}  // namespace
}  // namespace surety
