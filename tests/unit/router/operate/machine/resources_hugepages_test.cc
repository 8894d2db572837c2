// SPDX-License-Identifier: BSD-3-Clause
#include "router/operate/machine/resources.h"

#include <gmock/gmock.h>

#include "tests/unit/router/operate/machine/fake_machine.h"

namespace surety::machine {
namespace {

using testing::ElementsAre;
using testing::Pair;

TEST(Hugepages, NodesAreInTheOrderOfTheirNumbers) {
  FakeMachine m;
  for (const int node : {10, 2}) m.hugepages(node, 0);
  m.put("/sys/devices/system/node/possible", "0-10\n");
  EXPECT_THAT(numa_nodes(m.host()), ElementsAre(0, 2, 10));
  m.remove("/sys/devices/system/node");
  EXPECT_THAT(numa_nodes(m.host()), ElementsAre(0));
}

// Two nodes without pages, with memory for `first` and `second`.
struct TwoNodes : FakeMachine {
  TwoNodes(int first, int second) {
    give(0, first);
    give(1, second);
  }
  void give(int node, int pages) {
    hugepages(node, 0);
    memory(node, 2 * pages * 2048LL);  // half of it
  }
  std::map<int, unsigned> share(unsigned pages) const { return share_hugepages(host(), pages, {0, 1}); }
};

TEST(Hugepages, TheFirstNodesHaveMore) {
  EXPECT_THAT(TwoNodes(100, 100).share(5), ElementsAre(Pair(0, 3u), Pair(1, 2u)));
}

TEST(Hugepages, ANodeGivesForAnotherWithoutMemory) {
  EXPECT_THAT(TwoNodes(2, 100).share(5), ElementsAre(Pair(0, 2u), Pair(1, 3u)));
  EXPECT_THAT(TwoNodes(0, 100).share(5), ElementsAre(Pair(1, 5u)));
  EXPECT_THAT(TwoNodes(2, 1).share(5), ElementsAre(Pair(0, 2u), Pair(1, 1u))) << "the rest is left out";
}

TEST(Hugepages, PagesThatAreThereCountAndStay) {
  TwoNodes m(0, 0);
  m.hugepages(0, 4);
  EXPECT_THAT(m.share(2), ElementsAre(Pair(0, 4u))) << "another program has the others";
  EXPECT_THAT(m.share(100), ElementsAre(Pair(0, 4u)));
}

TEST(Hugepages, WhatFilesHaveInMemoryIsFree) {
  TwoNodes m(0, 0);
  m.put("/sys/devices/system/node/node1/meminfo", "Node 1 MemFree: 4096 kB\nNode 1 FilePages: 8192 kB\n");
  EXPECT_THAT(m.share(100), ElementsAre(Pair(1, 3u)));
}

}  // namespace
}  // namespace surety::machine
