// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/memif/memory.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstdio>

namespace surety::memif {
namespace {

std::string refusal(Memory& memory, const Fd& file, std::uint64_t size) {
  try {
    memory.add(file, size);
  } catch (const Refusal& e) {
    return e.what();
  }
  return "";
}

Fd memfd(unsigned flags, std::uint64_t size) {
  Fd fd(::memfd_create("test", flags));
  EXPECT_EQ(::ftruncate(fd.get(), static_cast<off_t>(size)), 0);
  return fd;
}

TEST(MemifMemory, GivesAddressesOfWhatItHasAlone) {
  Memory memory;
  EXPECT_EQ(memory.at(0, 0, 1), nullptr);
  memory.add(make_region(5000), 5000);
  std::uint8_t* const base = memory.at(0, 0, 5000);
  ASSERT_NE(base, nullptr);
  EXPECT_EQ(memory.at(0, 4999, 1), base + 4999);
  EXPECT_EQ(memory.at(0, 5000, 0), base + 5000);
  EXPECT_EQ(memory.at(0, 4999, 2), nullptr);
  EXPECT_EQ(memory.at(0, 5001, 0), nullptr);
  EXPECT_EQ(memory.at(0, 0xFFFFFFFF, 0xFFFFFFFF), nullptr);
  EXPECT_EQ(memory.at(0, 1, 0xFFFFFFFF), nullptr);
  EXPECT_EQ(memory.at(1, 0, 0), nullptr);
  EXPECT_EQ(memory.at(0xFFFF, 0, 0), nullptr);
}

TEST(MemifMemory, SealsWhatItsMakerHasLeftOpen) {
  Memory memory;
  const Fd file = memfd(MFD_ALLOW_SEALING, 4096);
  EXPECT_EQ(refusal(memory, file, 4096), "");
  EXPECT_NE(::ftruncate(file.get(), 0), 0);
  *memory.at(0, 4095, 1) = 1;
}

TEST(MemifMemory, RefusesWhatMayBeTakenAway) {
  Memory memory;
  EXPECT_NE(refusal(memory, memfd(0, 4096), 4096).find("can shrink"), std::string::npos);
  const std::unique_ptr<FILE, int (*)(FILE*)> disk(std::tmpfile(), &std::fclose);
  EXPECT_EQ(::ftruncate(::fileno(disk.get()), 4096), 0);
  EXPECT_NE(refusal(memory, Fd(::dup(::fileno(disk.get()))), 4096).find("can shrink"), std::string::npos);
  EXPECT_NE(refusal(memory, Fd(::open("/dev/zero", O_RDWR)), 4096).find("can shrink"), std::string::npos);
  EXPECT_EQ(memory.regions(), 0u);
}

TEST(MemifMemory, RefusesSizesThatTheFileHasNot) {
  Memory memory;
  EXPECT_EQ(refusal(memory, make_region(4096), 4097), "region larger than its file");
  EXPECT_EQ(refusal(memory, make_region(4096), 0), "region empty or too large");
  EXPECT_EQ(refusal(memory, make_region(4096), ~std::uint64_t{0}), "region empty or too large");
  EXPECT_EQ(refusal(memory, Fd(), 4096), "region without a descriptor");
}

TEST(MemifMemory, IsBounded) {
  Memory memory;
  const Fd huge = make_region(Memory::kMostBytes);
  EXPECT_EQ(refusal(memory, huge, Memory::kMostBytes - 4096), "");
  EXPECT_EQ(refusal(memory, huge, 4097), "region empty or too large");
  for (std::size_t i = 1; i < Memory::kMostRegions; ++i) EXPECT_EQ(refusal(memory, huge, 16), "");
  EXPECT_EQ(refusal(memory, huge, 16), "too many regions");
}

TEST(MemifMemory, OfOursNobodyTakesAway) {
  const Fd file = make_region(4096);
  EXPECT_NE(::ftruncate(file.get(), 0), 0);
  EXPECT_NE(::ftruncate(file.get(), 8192), 0);
}

}  // namespace
}  // namespace surety::memif
