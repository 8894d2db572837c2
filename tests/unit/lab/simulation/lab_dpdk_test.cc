// SPDX-License-Identifier: BSD-3-Clause
#include "tests/lab/simulation/lab_dpdk.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rte_errno.h>
#include <rte_lcore.h>
#include <rte_mbuf.h>
#include <sched.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "tests/lab/simulation/host_routes.h"
#include "tests/lab/simulation/packet_note.h"

namespace surety::lab {
namespace {

namespace fs = std::filesystem;

cpu_set_t usable_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  EXPECT_EQ(sched_getaffinity(0, sizeof set, &set), 0);
  return set;
}

// In a process of its own, where DPDK has not started.
class LabDpdkDeathTest : public testing::Test {
 protected:
  LabDpdkDeathTest() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

int status_of(bool good) {
  return good ? 0 : 1;
}

bool cores_stay_usable() {
  const cpu_set_t before = usable_cores();
  start_dpdk();
  const cpu_set_t after = usable_cores();
  cpu_set_t inherited;
  std::thread([&inherited] { inherited = usable_cores(); }).join();
  return CPU_EQUAL(&before, &after) && CPU_EQUAL(&before, &inherited);
}

TEST_F(LabDpdkDeathTest, StartPinsNobodyToACore) {
  EXPECT_EXIT(std::exit(status_of(cores_stay_usable())), testing::ExitedWithCode(0), "^$");
}

bool leaves_nothing_behind() {
  std::string place = (fs::temp_directory_path() / "lab-test-XXXXXX").string();
  if (mkdtemp(place.data()) == nullptr) return false;
  setenv("TMPDIR", place.c_str(), 1);
  setenv("RUNTIME_DIRECTORY", "/somebody/elses", 1);
  start_dpdk();
  return fs::remove(place) &&  // an empty directory only
         getenv("RUNTIME_DIRECTORY") == std::string("/somebody/elses");
}

TEST_F(LabDpdkDeathTest, StartLeavesNoFileAndNoVariableBehind) {
  EXPECT_EXIT(std::exit(status_of(leaves_nothing_behind())), testing::ExitedWithCode(0), "^$");
}

TEST_F(LabDpdkDeathTest, SaysWhereItCannotWrite) {
  const auto start = [] {
    setenv("TMPDIR", "/proc", 1);
    try {
      start_dpdk();
    } catch (const DpdkError& e) {
      fmt::print(stderr, "{}\n", e.what());
      std::exit(3);
    }
  };
  EXPECT_EXIT(start(), testing::ExitedWithCode(3),
              "^cannot create a directory in /proc; set TMPDIR to another place\n$");
}

// The pool is larger than what the FIB leaves of its share.
bool holds_routes_and_pool() {
  start_dpdk(1, 9000);
  host_routes();
  PacketPool pool(kPoolPackets, 9000);
  std::vector<rte_mbuf*> some(kPoolPackets / 100);
  for (int i = 0; i < 90; ++i)
    if (!pool.take(some)) return false;
  return true;
}

TEST_F(LabDpdkDeathTest, ReservesWhatRoutesAndPoolsTake) {
  EXPECT_EXIT(std::exit(status_of(holds_routes_and_pool())), testing::ExitedWithCode(0), "^$");
}

class LabPacketPool : public testing::Test {
 protected:
  static void SetUpTestSuite() { start_dpdk(); }
};

TEST_F(LabPacketPool, ASecondStartDoesNothing) {
  start_dpdk(kMaxThreads, 9000);
}

TEST_F(LabPacketPool, HasSoManyBuffers) {
  PacketPool pool(10'000);  // in several portions
  std::vector<rte_mbuf*> all(10'000);
  for (auto& m : all) ASSERT_TRUE(pool.take({&m, 1}));
  EXPECT_EQ(pool.in_use(), 10'000u);
  EXPECT_EQ(std::set<rte_mbuf*>(all.begin(), all.end()).size(), 10'000u);
  rte_mbuf* more = nullptr;
  EXPECT_FALSE(pool.take({&more, 1}));
  rte_pktmbuf_free_bulk(all.data(), 10'000);
  EXPECT_EQ(pool.in_use(), 0u);
}

TEST_F(LabPacketPool, TellsOfPacketsFreedOnTheirWay) {
  struct Observer : DropObserver {
    std::vector<std::uint32_t> flows;
    void on_drop(const PacketNote& note, const rte_mbuf*) override { flows.push_back(note.flow); }
  } observer;
  PacketPool pool(10'000);
  pool.observe(&observer);
  std::vector<rte_mbuf*> all(10'000);
  for (auto& m : all) {
    ASSERT_TRUE(pool.take({&m, 1}));
    note_of(m) = {};
  }
  note_of(all[3]) = {.flow = 7, .data = true, .on_the_way = true};
  note_of(all[9'999]) = {.flow = 8, .data = true, .on_the_way = true};  // of a portion made since
  note_of(all[4]) = {.flow = 9, .data = true};                          // arrived
  for (rte_mbuf* m : all) rte_pktmbuf_free(m);
  EXPECT_EQ(observer.flows, (std::vector<std::uint32_t>{7, 8}));
}

TEST_F(LabPacketPool, ABufferHoldsAFrameOfTheLongestPacketAndItsNote) {
  for (const auto longest : std::array<std::uint16_t, 3>{576, 1500, 9216}) {
    PacketPool pool(16, longest);
    EXPECT_EQ(pool.longest_packet(), longest);
    rte_mbuf* m = nullptr;
    ASSERT_TRUE(pool.take({&m, 1}));
    EXPECT_GE(rte_pktmbuf_tailroom(m), longest + 14);
    EXPECT_EQ(rte_pktmbuf_headroom(m), RTE_PKTMBUF_HEADROOM);
    EXPECT_GE(rte_pktmbuf_priv_size(m->pool), sizeof(PacketNote));
    rte_pktmbuf_free(m);
  }
}

TEST_F(LabPacketPool, WhatWasFreedLastIsUsedNext) {
  PacketPool pool(10'000);
  std::set<rte_mbuf*> used;
  for (int i = 0; i < 100'000; ++i) {
    rte_mbuf* m = nullptr;
    ASSERT_TRUE(pool.take({&m, 1}));
    used.insert(m);
    rte_pktmbuf_free(m);
  }
  EXPECT_EQ(used.size(), 1u);
}

TEST_F(LabPacketPool, SeveralStandSideBySide) {
  PacketPool one(16), two(16);
  std::array<rte_mbuf*, 2> m{};
  ASSERT_TRUE(one.take({&m[0], 1}) && two.take({&m[1], 1}));
  EXPECT_NE(m[0]->pool, m[1]->pool);
  for (rte_mbuf* p : m) rte_pktmbuf_free(p);
}

TEST_F(LabPacketPool, MakesItsThreadKnownWhileItLives) {
  std::thread([] {
    EXPECT_EQ(rte_lcore_id(), LCORE_ID_ANY);
    {
      const PacketPool pool(16);
      EXPECT_NE(rte_lcore_id(), LCORE_ID_ANY);
      const PacketPool second(16);
    }
    EXPECT_EQ(rte_lcore_id(), LCORE_ID_ANY);
  }).join();
}

TEST_F(LabPacketPool, ThreadsThatEndMakeRoomForOthers) {
  for (unsigned i = 0; i < RTE_MAX_LCORE + 10; ++i) std::thread([] { const PacketPool pool(16); }).join();
}

TEST_F(LabPacketPool, DefaultThreadsAreTheUsableCores) {
  const cpu_set_t all = usable_cores();
  EXPECT_EQ(default_threads(), std::min(static_cast<unsigned>(CPU_COUNT(&all)), kMaxThreads));
  cpu_set_t one;
  CPU_ZERO(&one);
  for (int c = 0; c < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++c)
    if (CPU_ISSET(c, &all)) CPU_SET(c, &one);
  std::thread([&one] {
    ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
    EXPECT_EQ(default_threads(), 1u);
  }).join();
}

}  // namespace
}  // namespace surety::lab
