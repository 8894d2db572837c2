// SPDX-License-Identifier: BSD-3-Clause
#include "router/pipeline/routes/hop_sets.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace surety {
namespace {

NextHopMember via(std::uint8_t n) {
  return {0, IpAddress::v4(10, 0, 0, n)};
}
// How many places the gateways 1 to n have.
std::vector<std::size_t> shares(const NextHopMembers& places, std::uint8_t n) {
  std::vector<std::size_t> out;
  for (std::uint8_t i = 1; i <= n; ++i)
    out.push_back(static_cast<std::size_t>(std::count(places.begin(), places.end(), via(i))));
  return out;
}

using Shares = std::vector<std::size_t>;

TEST(WeightedMembers, EqualWeightsHaveAPlaceEach) {
  EXPECT_EQ(places_of({{via(2)}, {via(1)}, {via(3)}}), (NextHopMembers{via(1), via(2), via(3)}));
  EXPECT_EQ(places_of({{via(2), 256}, {via(1), 256}}), (NextHopMembers{via(1), via(2)}));
  EXPECT_EQ(places_of({{via(1), 200}}), (NextHopMembers{via(1)}));
  EXPECT_EQ(places_of({}), NextHopMembers{});
}

TEST(WeightedMembers, PlacesAreInTheProportionOfTheWeights) {
  EXPECT_EQ(places_of({{via(2), 1}, {via(1), 3}}), (NextHopMembers{via(1), via(1), via(1), via(2)}));
  EXPECT_EQ(shares(places_of({{via(1), 10}, {via(2), 20}, {via(3), 30}}), 3), (Shares{1, 2, 3}));
}

TEST(WeightedMembers, BeyondTheMostPlacesAsNearAsTheyGo) {
  EXPECT_EQ(shares(places_of({{via(1), 255}, {via(2), 1}}), 2), (Shares{63, 1}));
  EXPECT_EQ(shares(places_of({{via(1), 100}, {via(2), 101}}), 2), (Shares{31, 32}));
  std::vector<WeightedMember> many{{via(1), 200}};
  for (std::uint8_t i = 2; i <= 64; ++i) many.push_back({via(i), 1});
  EXPECT_EQ(shares(places_of(many), 64), Shares(64, 1)) << "everybody has one, before the heavy has more";
  many.push_back({via(65), 1});
  EXPECT_EQ(shares(places_of(many), 65).back(), 0U) << "there are places for 64";
  EXPECT_EQ(places_of(many).size(), 64U);
}

TEST(WeightedMembers, GivenTwiceCountsOnce) {
  EXPECT_EQ(places_of({{via(1), 2}, {via(1), 2}, {via(2), 2}}), (NextHopMembers{via(1), via(2)}));
}

}  // namespace
}  // namespace surety
