// SPDX-License-Identifier: BSD-3-Clause
#include "router/pipeline/wire/outbox.h"

#include <gtest/gtest.h>

#include "tests/unit/endpoints/fake_engine.h"

namespace surety::endpoints {
namespace {

void put(Outbox& box, std::uint8_t mark, std::uint32_t length = 1) {
  const Slot s = box.next();
  ASSERT_NE(s.data, nullptr);
  s.data[0] = mark;
  box.commit(length);
}

TEST(Outbox, FirstInFirstOutRoundTheRing) {
  Outbox box(100);
  Slots out(40);
  std::uint8_t written = 0, expected = 0;
  for (int turn = 0; turn < 10; ++turn) {
    for (int i = 0; i < 30; ++i) put(box, written++);
    for (const std::size_t room : {7u, 0u, 40u}) {
      const std::size_t n = box.write(std::span(out.slots).first(room));
      for (std::size_t i = 0; i < n; ++i) EXPECT_EQ(out.bytes[i][0], expected++);
    }
    EXPECT_TRUE(box.empty());
    EXPECT_EQ(written, expected);
  }
}

TEST(Outbox, FullHasNoRoom) {
  Outbox box(100);
  for (std::uint32_t i = 0; i < Outbox::kFrames; ++i) put(box, 1);
  EXPECT_EQ(box.next().data, nullptr);
  Slots out(1);
  EXPECT_EQ(box.write(out.slots), 1u);
  EXPECT_NE(box.next().data, nullptr);
}

TEST(Outbox, AFrameThatIsTooLargeForItsSlotIsLost) {
  Outbox box(100);
  put(box, 1, 90);
  put(box, 2, 60);
  Slots out(2);
  out.slots[0].capacity = 80;
  EXPECT_EQ(box.write(out.slots), 1u);
  EXPECT_EQ(out.bytes[0][0], 2);
  EXPECT_EQ(out.slots[0].length, 60u);
  EXPECT_TRUE(box.empty());
}

}  // namespace
}  // namespace surety::endpoints
