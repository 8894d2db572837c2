// SPDX-License-Identifier: BSD-3-Clause
#include "router/pipeline/signals/congestion_signal.h"

#include <gtest/gtest.h>

#include <vector>

namespace surety {
namespace {

CongestionSignal numbered(std::uint8_t n) {
  CongestionSignal s;
  s.class_index = n;
  return s;
}
// The numbers of up to `room` signals taken out.
std::vector<int> take(SignalOutbox& box, std::size_t room) {
  std::vector<CongestionSignal> out(room);
  out.resize(box.take(out));
  std::vector<int> numbers;
  for (const auto& s : out) numbers.push_back(s.class_index);
  return numbers;
}

TEST(SignalOutbox, FirstInFirstOut) {
  SignalOutbox box;
  EXPECT_TRUE(box.empty());
  EXPECT_TRUE(take(box, 4).empty());
  for (std::uint8_t n = 0; n < 5; ++n) box.push(numbered(n));
  EXPECT_EQ(take(box, 3), (std::vector{0, 1, 2}));
  box.push(numbered(5));
  EXPECT_FALSE(box.empty());
  EXPECT_EQ(take(box, 9), (std::vector{3, 4, 5}));
  EXPECT_TRUE(box.empty());
  EXPECT_EQ(box.noted(), 6u);
  EXPECT_EQ(box.overflowed(), 0u);
}

TEST(SignalOutbox, WhatComesWhileItIsFullIsCountedAndGone) {
  SignalOutbox box;
  for (std::uint8_t n = 0; n < SignalOutbox::kCapacity + 3; ++n) box.push(numbered(n));
  EXPECT_EQ(box.noted(), SignalOutbox::kCapacity);
  EXPECT_EQ(box.overflowed(), 3u);
  EXPECT_EQ(take(box, 1), (std::vector{0}));
  box.push(numbered(200));
  const std::vector<int> rest = take(box, 100);
  ASSERT_EQ(rest.size(), SignalOutbox::kCapacity);
  EXPECT_EQ(rest.front(), 1);
  EXPECT_EQ(rest.back(), 200);
}

TEST(CongestionSignal, ResultsHaveNames) {
  EXPECT_EQ(kSignalResultInfo[static_cast<std::size_t>(SignalResult::applied)].name, "applied");
  EXPECT_EQ(kSignalResultInfo[static_cast<std::size_t>(SignalResult::no_domain)].name, "no_domain");
  for (const auto& info : kSignalResultInfo) EXPECT_FALSE(info.help.empty()) << info.name;
}

}  // namespace
}  // namespace surety
