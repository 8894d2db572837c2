// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/bench/bench_paths.h"

#include <gtest/gtest.h>

#include <set>

#include "router/daemon/bench/bench_router.h"
#include "router/pipeline/snapshot.h"

namespace surety {
namespace {

TEST(BenchBadInput, IsNoneOfOrdinaryPaths) {
  for (const char* path : {"anchor", "everything", "core", "access-up", "below-one"}) {
    EXPECT_EQ(bad_input(path), nullptr);
    EXPECT_EQ(ports_of(path), 2u);
  }
}

TEST(BenchBadInput, HasConfigurationsThatCanBeUsed) {
  for (const BadInput& bad : bad_inputs()) {
    const std::string path(bad.path);
    const Snapshot snapshot(bench_config(path, 1000));
    EXPECT_EQ(snapshot.config.ports.size(), ports_of(path)) << path;
    EXPECT_GT(bad.per_packet.count(), 0) << path;
  }
}

TEST(BenchBadInput, HasAClassForEachDscp) {
  const config::Config c = bench_config("classes", 1000);
  std::set<std::size_t> classes;
  for (const auto& entry : c.queues[0].by_dscp) classes.insert(entry.class_index);
  EXPECT_EQ(classes.size(), 64u);
  EXPECT_EQ(c.services[0].mark_in, std::nullopt) << "they keep their DSCP";
}

TEST(BenchBadInput, LeavesByAllPortsButTheFirst) {
  const config::Config c = bench_config("ports", 1000);
  EXPECT_EQ(c.ports.size(), kMaxPorts);
  EXPECT_EQ(c.aggregates.size(), kMaxPorts - 1);
  for (std::size_t p = 1; p < c.ports.size(); ++p) EXPECT_TRUE(c.ports[p].queues.has_value()) << p;
}

TEST(BenchBadInput, DropsOnlyWhereItSaysSo) {
  for (const BadInput& bad : bad_inputs()) {
    EXPECT_EQ(may_drop(&bad, DropReason::early), bad.path == "dropping");
    EXPECT_FALSE(may_drop(&bad, DropReason::overflow));
  }
  EXPECT_FALSE(may_drop(nullptr, DropReason::early));
}

}  // namespace
}  // namespace surety
