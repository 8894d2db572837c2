// SPDX-License-Identifier: BSD-3-Clause
#include "router/pipeline/routes/next_hop_groups.h"

#include <gtest/gtest.h>

#include <set>

#include "tests/unit/router/pipeline/routes/table_sink.h"

namespace surety {
namespace {

class NextHopGroupsTest : public testing::Test {
 protected:
  // Gateways are 10.0.<port>.<n>, MAC ..:<n>.
  static NextHopMember via(std::uint8_t port, std::uint8_t n) {
    return {port, IpAddress::v4(10, 0, port, n)};
  }
  NextHopEntry entry(const NextHopMember& m) const {
    if (down.contains(static_cast<std::uint8_t>(m.interface))) return {};
    if (!m.gateway) return {{}, static_cast<std::uint8_t>(m.interface), NextHopEntry::State::glean};
    if (!known.contains(m))
      return {{}, static_cast<std::uint8_t>(m.interface), NextHopEntry::State::unresolved};
    return {mac(m.gateway->data()[3]), static_cast<std::uint8_t>(m.interface), NextHopEntry::State::ready};
  }

  std::set<NextHopMember> known;
  std::set<std::uint8_t> down;
  TableSink sink;
  NextHopGroups groups{sink, kNextHopsFixed + 61, [this](const NextHopMember& m) { return entry(m); }};
};

TEST_F(NextHopGroupsTest, TheSameSetSharesABlockUntilItsLastRelease) {
  const NextHopMembers one{via(0, 1)}, both{via(0, 1), via(1, 2)};
  const auto a = groups.acquire(one), b = groups.acquire(both), c = groups.acquire(one);
  EXPECT_EQ(a->first, c->first);
  EXPECT_NE(a->first, b->first);
  EXPECT_EQ(b->count, 2U);
  EXPECT_EQ(groups.ids_used(), 3U);
  EXPECT_EQ(sink.words(*a), "unresolved 0");
  EXPECT_EQ(sink.words(*b), "unresolved 0 | unresolved 1");
  groups.release(one);
  EXPECT_EQ(sink.words(*a), "unresolved 0");
  groups.release(one);
  groups.release(both);
  EXPECT_EQ(groups.ids_used(), 0U);
}

TEST_F(NextHopGroupsTest, AReleasedBlockStaysAsItIsUntilItsIdsComeAgain) {
  const auto old = groups.acquire({via(0, 1)});
  groups.release({via(0, 1)});
  EXPECT_EQ(sink.words(*old), "unresolved 0") << "a worker may be about to read it";
  down = {0};
  std::optional<RouteTarget> again;
  for (std::uint8_t n = 2; !again || again->first != old->first; ++n) {
    again = groups.acquire({via(0, n)});
    ASSERT_TRUE(again);
  }
  EXPECT_EQ(sink.words(*again), "none");
}

TEST_F(NextHopGroupsTest, ANeighbourChangesEveryBlockItIsIn) {
  const auto one = groups.acquire({via(0, 1)}), both = groups.acquire({via(0, 1), via(0, 2)});
  const auto other = groups.acquire({via(0, 3)});
  known = {via(0, 1), via(0, 2), via(0, 3)};
  groups.refresh(via(0, 1));
  EXPECT_EQ(sink.words(*one), "ready 0 02:00:00:00:00:01");
  EXPECT_EQ(sink.words(*both), "ready 0 02:00:00:00:00:01 | ready 0 02:00:00:00:00:02");
  EXPECT_EQ(sink.words(*other), "unresolved 0") << "not refreshed";
  known.clear();
  groups.refresh(via(0, 1));
  EXPECT_EQ(sink.words(*one), "unresolved 0");
  groups.refresh(via(0, 9));  // nobody's
}

TEST_F(NextHopGroupsTest, PlacesOfTheUnusableAreSharedOutAmongTheBest) {
  const auto t = groups.acquire({via(0, 1), via(0, 2), via(1, 3), via(2, 4)});
  EXPECT_EQ(sink.words(*t), "unresolved 0 | unresolved 0 | unresolved 1 | unresolved 2");
  known = {via(0, 2), via(1, 3)};
  groups.refresh_all();
  EXPECT_EQ(sink.words(*t),
            "ready 0 02:00:00:00:00:02 | ready 0 02:00:00:00:00:02 | ready 1 02:00:00:00:00:03 | "
            "ready 1 02:00:00:00:00:03");
  down = {0};
  groups.refresh_all();
  EXPECT_EQ(sink.words(*t),
            "ready 1 02:00:00:00:00:03 | ready 1 02:00:00:00:00:03 | ready 1 02:00:00:00:00:03 | "
            "ready 1 02:00:00:00:00:03");
  down = {0, 1};
  groups.refresh_all();
  EXPECT_EQ(sink.words(*t), "unresolved 2 | unresolved 2 | unresolved 2 | unresolved 2");
  down = {0, 1, 2};
  groups.refresh_all();
  EXPECT_EQ(sink.words(*t), "none | none | none | none");
}

TEST_F(NextHopGroupsTest, SaysWhoStandsBehindAnId) {
  const auto t = groups.acquire({via(0, 1), via(1, 2)});
  EXPECT_EQ(groups.member(t->first), via(0, 1));
  EXPECT_EQ(groups.member(t->first + 1), via(1, 2));
  EXPECT_EQ(groups.member(t->first + 2), std::nullopt);
  EXPECT_EQ(groups.member(kNextHopLocal), std::nullopt);
  down = {0};
  EXPECT_EQ(groups.member(t->first), via(1, 2));
}

TEST_F(NextHopGroupsTest, ListsWhatIsToBeResolved) {
  groups.acquire({{0, {}}});  // on link: not a gateway
  groups.acquire({via(0, 1), via(1, 2)});
  groups.acquire({via(1, 2)});
  groups.acquire({via(2, 3)});
  known = {via(0, 1)};
  down = {2};
  EXPECT_EQ(groups.unresolved(), (std::vector{via(1, 2)}));
}

TEST_F(NextHopGroupsTest, ASetBecomesAnotherInPlace) {
  const auto t = groups.acquire({via(0, 1), via(1, 2)}), other = groups.acquire({via(0, 5), via(0, 6)});
  EXPECT_TRUE(groups.change({via(0, 1), via(1, 2)}, {via(1, 2), via(2, 3)}));
  EXPECT_EQ(sink.words(*t), "unresolved 1 | unresolved 2");
  known = {via(0, 1), via(2, 3)};
  groups.refresh(via(2, 3));
  EXPECT_EQ(sink.words(*t), "ready 2 02:00:00:00:00:03 | ready 2 02:00:00:00:00:03");
  groups.refresh(via(0, 1));  // no member any more
  EXPECT_EQ(groups.acquire({via(1, 2), via(2, 3)}), t) << "what it is known by now";
  EXPECT_FALSE(groups.change({via(1, 2), via(2, 3)}, {via(1, 2), via(2, 4)})) << "two have a part in it";
  EXPECT_FALSE(groups.change({via(0, 5), via(0, 6)}, {via(0, 5)})) << "another size";
  EXPECT_FALSE(groups.change({via(0, 5), via(0, 6)}, {via(1, 2), via(2, 3)})) << "there is one";
  EXPECT_EQ(sink.words(*other), "unresolved 0 | unresolved 0");
  groups.release({via(1, 2), via(2, 3)});
  groups.release({via(1, 2), via(2, 3)});
  groups.release({via(0, 5), via(0, 6)});
  EXPECT_EQ(groups.ids_used(), 0U);
}

TEST_F(NextHopGroupsTest, AMemberMayHaveSeveralPlaces) {
  const NextHopMembers weighted{via(0, 1), via(0, 1), via(1, 2)};
  const auto t = groups.acquire(weighted);
  known = {via(0, 1), via(1, 2)};
  groups.refresh(via(0, 1));
  EXPECT_EQ(sink.words(*t),
            "ready 0 02:00:00:00:00:01 | ready 0 02:00:00:00:00:01 | ready 1 02:00:00:00:00:02");
  groups.release(weighted);
  EXPECT_EQ(groups.ids_used(), 0U);
  EXPECT_TRUE(groups.unresolved().empty());
}

TEST_F(NextHopGroupsTest, RefusesWithoutIds) {
  NextHopMembers all;
  for (std::uint8_t i = 0; i < 60; ++i) all.push_back(via(0, i));
  EXPECT_TRUE(groups.acquire(all));
  EXPECT_EQ(groups.acquire({via(1, 1), via(1, 2)}), std::nullopt);
  EXPECT_TRUE(groups.acquire({via(1, 1)}));
}

}  // namespace
}  // namespace surety
