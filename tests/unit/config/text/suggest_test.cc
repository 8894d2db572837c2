// SPDX-License-Identifier: BSD-3-Clause
#include "config/text/suggest.h"

#include <gtest/gtest.h>

#include <array>

namespace surety::config {
namespace {

TEST(EditDistance, CountsInsertDeleteReplaceAndSwap) {
  EXPECT_EQ(edit_distance("", ""), 0u);
  EXPECT_EQ(edit_distance("lan0", ""), 4u);
  EXPECT_EQ(edit_distance("lan0", "lan1"), 1u);
  EXPECT_EQ(edit_distance("addresses", "adresses"), 1u);
  EXPECT_EQ(edit_distance("af_xpd", "af_xdp"), 1u);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
  EXPECT_EQ(edit_distance("Mbit/s", "mbit/s"), 0u);
}

constexpr std::array<std::string_view, 3> kWords{"addresses", "device", "mtu"};

TEST(Nearest, WithinAThirdOfTheWord) {
  EXPECT_EQ(nearest("adresses", kWords), "addresses");
  EXPECT_EQ(nearest("devcie", kWords), "device");
  EXPECT_EQ(nearest("dev", kWords), "");
  EXPECT_EQ(nearest("mtv", kWords), "mtu");
  EXPECT_EQ(nearest(std::string(1000, 'a'), kWords), "");
}

TEST(Nearest, ShortWordsOnlyByCase) {
  constexpr std::array<std::string_view, 2> kShort{"a", "kB"};
  EXPECT_EQ(nearest("b", kShort), "");
  EXPECT_EQ(nearest("KB", kShort), "kB");
  EXPECT_EQ(nearest("TB", kShort), "");
}

TEST(Hint, SuggestsOrLists) {
  EXPECT_EQ(hint("adresses", kWords), "; did you mean `addresses`?");
  EXPECT_EQ(hint("colour", kWords), "; there are: addresses, device, mtu");
  EXPECT_EQ(hint("x", {}), "; there are none");
}

}  // namespace
}  // namespace surety::config
