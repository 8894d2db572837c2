// SPDX-License-Identifier: BSD-3-Clause
#include "conditioners/huge_memory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <new>

namespace surety {
namespace {

constexpr std::size_t kHugePage = std::size_t{2} << 20;

TEST(HugeMemory, IsZeroAndAligned) {
  for (const std::size_t bytes :
       {std::size_t{1}, std::size_t{4096}, kHugePage - 1, kHugePage, 3 * kHugePage + 5}) {
    const HugeMemory memory(bytes);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory.data()) % (bytes >= kHugePage ? kHugePage : 64), 0u)
        << bytes;
    EXPECT_GE(memory.bytes(), bytes);
    EXPECT_LT(memory.bytes(), bytes + 4096) << "not a huge page more than is needed";
    EXPECT_TRUE(std::all_of(memory.data(), memory.data() + memory.bytes(),
                            [](std::byte b) { return b == std::byte{0}; }));
    std::fill_n(memory.data(), memory.bytes(), std::byte{1});
  }
}

TEST(HugeMemory, MovesWithItsContents) {
  HugeMemory a(5000);
  a.data()[4999] = std::byte{7};
  const HugeMemory b(std::move(a));
  EXPECT_EQ(b.data()[4999], std::byte{7});
}

TEST(HugeMemory, IsTheSameHoweverItsPagesCome) {
  for (const auto pages : {HugeMemory::Pages::unreserved, HugeMemory::Pages::resident}) {
    const HugeMemory memory(kHugePage + 1, pages);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory.data()) % kHugePage, 0u);
    EXPECT_TRUE(std::all_of(memory.data(), memory.data() + memory.bytes(),
                            [](std::byte b) { return b == std::byte{0}; }));
  }
}

TEST(HugeArray, IsOfItsObjects) {
  HugeArray<std::uint64_t> a(1000);
  EXPECT_EQ(a[999], 0u);
  a[999] = 7;
  EXPECT_EQ(a[999], 7u);
  EXPECT_EQ(a[998], 0u);
  EXPECT_GE(a.bytes(), 8000u);
  EXPECT_NE(&HugeArray<std::uint64_t>(0)[0], nullptr) << "there is memory for none, too";
}

TEST(HugeMemory, SaysWhenThereIsNone) {
  EXPECT_THROW(HugeMemory(std::size_t{1} << 60), std::bad_alloc);
}

}  // namespace
}  // namespace surety
